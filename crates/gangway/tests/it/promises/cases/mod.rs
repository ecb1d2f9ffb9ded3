//! The cases of P9: what a client sends, and the expected responses.

mod words;

use super::wire::{BINARY, CLOSE, CONTINUE, END, PING, PONG, TEXT, bare, close, frame, head};

/// The largest message that configurable endpoints read.
pub const LIMIT: usize = 256 << 10;

/// Asked after each case that must leave the connection alive.
pub const ALIVE: &[u8] = b"alive?";

/// The expected response.
#[derive(Debug, Clone)]
pub enum Expect {
    /// The answer to a message with this id.
    Answer(String),
    /// An invalid message gets an error.
    Refusal,
    /// A pong with this in it.
    Pong(Vec<u8>),
    /// A close with this code, then the end.
    Close(Option<u16>),
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub send: Vec<u8>,
    /// The bytes that are sent at once.
    pub parts: usize,
    pub expect: Vec<Expect>,
}

fn case(name: impl Into<String>, send: &[Vec<u8>], expect: &[Expect]) -> Case {
    Case {
        name: name.into(),
        send: send.concat(),
        parts: usize::MAX,
        expect: expect.to_vec(),
    }
}

impl Case {
    /// The same, in parts of this size.
    fn in_parts(mut self, parts: usize) -> Self {
        self.name += &format!(", {parts} bytes at once");
        self.parts = parts;
        self
    }
}

/// A message that is answered with its id.
fn ask(id: &str) -> Vec<u8> {
    format!(r#"{{"type":"ping","id":"{id}"}}"#).into_bytes()
}

/// The same, made as long as this by blanks.
fn long(length: usize) -> Vec<u8> {
    let mut message = ask("long");
    message.resize(length, b' ');
    message
}

fn text(payload: &[u8]) -> Vec<u8> {
    frame(END | TEXT, payload)
}

fn answer(id: &str) -> Expect {
    Expect::Answer(id.to_owned())
}

fn pong(payload: &[u8]) -> Expect {
    Expect::Pong(payload.to_vec())
}

const BROKEN: Expect = Expect::Close(Some(1002));
const NO_UTF8: Expect = Expect::Close(Some(1007));
const TOO_LARGE: Expect = Expect::Close(Some(1009));

/// All of them, for a door that reads messages up to this limit.
pub fn all(limit: usize) -> Vec<Case> {
    [
        lengths(limit),
        pings(),
        reserved(),
        fragments(),
        words::good_text(),
        words::bad_text(),
        words::closes(),
        words::close_codes(),
        limits(limit),
    ]
    .concat()
}

/// Messages as long as each way to write a length allows, and around it.
fn lengths(limit: usize) -> Vec<Case> {
    let unless_large = |length: usize, expect: Expect| match length <= limit {
        true => [expect],
        false => [TOO_LARGE],
    };
    let answered = |length: usize| unless_large(length, answer("long"));
    let mut cases = vec![case("an empty text", &[text(b"")], &[Expect::Refusal])];
    for length in [64, 125, 126, 127, 128, 65535, 65536, limit / 2] {
        let name = format!("a text of {length} bytes");
        cases.push(case(name, &[text(&long(length))], &answered(length)));
    }
    cases.push(case("a text", &[text(&long(126))], &[answer("long")]).in_parts(1));
    cases.push(case("a long text", &[text(&long(65536))], &answered(65536)).in_parts(997));
    for length in [0, 125, 126, 128, 65535, 65536, limit] {
        let name = format!("{length} bytes");
        let bytes = frame(END | BINARY, &vec![0xfe; length]);
        let message = unless_large(length, Expect::Refusal);
        cases.push(case(name, &[bytes], &message));
    }
    cases
}

fn pings() -> Vec<Case> {
    let ping = |payload: &[u8]| frame(END | PING, payload);
    let many: Vec<_> = (0..10u8).map(|n| ping(&[n])).collect();
    let answers: Vec<_> = (0..10u8).map(|n| pong(&[n])).collect();
    let unasked = frame(END | PONG, b"unasked");
    vec![
        case("an empty ping", &[ping(b"")], &[pong(b"")]),
        case("a ping", &[ping(b"hello")], &[pong(b"hello")]),
        case(
            "a ping that is no text",
            &[ping(&[0, 0xff, 0xfe])],
            &[pong(&[0, 0xff, 0xfe])],
        ),
        case("the longest ping", &[ping(&[7; 125])], &[pong(&[7; 125])]),
        case("the longest ping", &[ping(&[7; 125])], &[pong(&[7; 125])]).in_parts(1),
        case("a ping too long", &[ping(&[7; 126])], &[BROKEN]),
        case("ten pings", &many, &answers),
        case("ten pings", &many, &answers).in_parts(1),
        case("an empty pong", &[frame(END | PONG, b"")], &[]),
        case("an unsolicited pong", std::slice::from_ref(&unasked), &[]),
        case("a pong, then a ping", &[unasked, ping(b"x")], &[pong(b"x")]),
        case(
            "a pong too long",
            &[frame(END | PONG, &[7; 126])],
            &[BROKEN],
        ),
    ]
}

/// Bits and opcodes that mean nothing yet.
fn reserved() -> Vec<Case> {
    let mut cases = Vec::new();
    for bits in [1, 2, 4, 7u8] {
        let name = format!("a text with reserved bits {bits:03b}");
        let odd = frame(END | bits << 4 | TEXT, &ask("odd"));
        // What was right before is answered.
        cases.push(case(name, &[text(&ask("a")), odd], &[answer("a"), BROKEN]));
    }
    for (name, opcode) in [("bytes", BINARY), ("a ping", PING), ("a close", CLOSE)] {
        let odd = frame(END | 0x40 | opcode, &1000u16.to_be_bytes());
        cases.push(case(
            format!("{name} with a reserved bit"),
            &[odd],
            &[BROKEN],
        ));
    }
    let odd = frame(END | 0x10 | CONTINUE, b" ");
    let parts = [frame(TEXT, &ask("a")), odd];
    cases.push(case("a second part with a reserved bit", &parts, &[BROKEN]));
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15u8] {
        let name = format!("the reserved opcode {opcode}");
        let odd = frame(END | opcode, b"");
        let sent = [text(&ask("a")), odd, frame(END | PING, b"late")];
        cases.push(case(name, &sent, &[answer("a"), BROKEN]));
    }
    cases
}

fn fragments() -> Vec<Case> {
    let message = ask("parts");
    let (one, two) = message.split_at(9);
    let (first, last) = (frame(TEXT, one), frame(END | CONTINUE, two));
    let empty = frame(CONTINUE, b"");
    let ping = frame(END | PING, b"between");
    let end = frame(END | CONTINUE, b"");
    let whole = [answer("parts")];
    let both = [pong(b"between"), answer("parts")];
    let mut tiny = vec![frame(TEXT, b"")];
    let mut pinged = vec![frame(TEXT, b"")];
    for byte in &message {
        tiny.push(frame(CONTINUE, &[*byte]));
        pinged.extend([frame(CONTINUE, &[*byte]), frame(END | PING, &[*byte])]);
    }
    tiny.push(end.clone());
    pinged.push(end.clone());
    let mut pongs: Vec<_> = message.iter().map(|byte| pong(&[*byte])).collect();
    pongs.extend(whole.clone());
    let pair = [first.clone(), last.clone()];
    let with =
        |between: &[Vec<u8>]| [vec![first.clone()], between.to_vec(), vec![last.clone()]].concat();
    let bytes = [frame(BINARY, &[1]), frame(CONTINUE, &[2]), end.clone()];
    let leave = [first.clone(), close(1000, b"")];
    vec![
        case("a text in two parts", &pair, &whole),
        case("a text in two parts", &pair, &whole).in_parts(1),
        case(
            "an empty part between",
            &with(std::slice::from_ref(&empty)),
            &whole,
        ),
        case("a part for each byte", &tiny, &whole),
        case(
            "a ping between two parts",
            &with(std::slice::from_ref(&ping)),
            &both,
        ),
        case(
            "a ping between two parts",
            &with(std::slice::from_ref(&ping)),
            &both,
        )
        .in_parts(1),
        case("a ping after each byte", &pinged, &pongs),
        case(
            "a pong between two parts",
            &with(&[frame(END | PONG, b"")]),
            &whole,
        ),
        case("bytes in three parts", &bytes, &[Expect::Refusal]),
        case(
            "nothing, in three parts",
            &[frame(TEXT, b""), empty.clone(), end.clone()],
            &[Expect::Refusal],
        ),
        case(
            "two texts in parts",
            &[pair.concat(), pair.concat()],
            &[whole.clone(), whole.clone()].concat(),
        ),
        case(
            "a ping in two parts",
            &[frame(PING, b"a"), frame(END | CONTINUE, b"b")],
            &[BROKEN],
        ),
        case(
            "a pong in two parts",
            &[frame(PONG, b"a"), frame(END | CONTINUE, b"b")],
            &[BROKEN],
        ),
        case(
            "a close in two parts",
            &[frame(CLOSE, b"\x03"), frame(END | CONTINUE, b"\xe8")],
            &[BROKEN],
        ),
        case(
            "a last part of nothing",
            std::slice::from_ref(&last),
            &[BROKEN],
        ),
        case(
            "a further part of nothing",
            &[empty, text(&message)],
            &[BROKEN],
        ),
        case(
            "a part after the last one",
            &[pair.concat(), end],
            &[answer("parts"), BROKEN],
        ),
        case(
            "a text within a text",
            &[first.clone(), text(&message)],
            &[BROKEN],
        ),
        case(
            "bytes within a text",
            &[first, frame(END | BINARY, b"x")],
            &[BROKEN],
        ),
        case(
            "a close between two parts",
            &leave,
            &[Expect::Close(Some(1000))],
        ),
    ]
}

fn limits(limit: usize) -> Vec<Case> {
    let over = vec![b' '; limit + 1];
    let half = frame(CONTINUE, &over[..limit / 2 + 1]);
    let parts = [frame(TEXT, b""), half.clone(), half];
    vec![
        case("a text over the limit", &[text(&over)], &[TOO_LARGE]),
        case("parts over the limit together", &parts, &[TOO_LARGE]),
        case(
            "a length beyond all limits",
            &[head(END | BINARY, 1 << 62, true), vec![0; 4]],
            &[TOO_LARGE],
        ),
        case(
            "a text without a mask",
            &[bare(END | TEXT, &ask("bare"))],
            &[BROKEN],
        ),
        case(
            "a close without a mask",
            &[bare(END | CLOSE, b"")],
            &[BROKEN],
        ),
    ]
}
