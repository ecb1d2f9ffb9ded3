//! The cases of P9 about what stands in texts and in closes.

use super::{
    super::wire::{CLOSE, CONTINUE, END, PING, TEXT, close, frame},
    BROKEN, Case, Expect, NO_UTF8, answer, ask, case, text,
};

pub fn good_text() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, id) in [
        ("Greek", "κόσμε"),
        ("emoji", "🚢⚓️"),
        ("the first and last of two bytes", "\u{80}\u{7ff}"),
        ("the first and last of three bytes", "\u{800}\u{ffff}"),
        ("the first and last of four bytes", "\u{10000}\u{10ffff}"),
        ("the neighbours of the surrogates", "\u{d7ff}\u{e000}"),
        ("characters that are none", "\u{fffe}\u{fdd0}\u{1fffe}"),
    ] {
        cases.push(case(
            format!("UTF-8: {name}"),
            &[text(&ask(id))],
            &[answer(id)],
        ));
    }
    let id = "κόσμε🚢";
    cases.push(case("UTF-8", &[text(&ask(id))], &[answer(id)]).in_parts(1));
    let message = ask(id);
    let mut parts: Vec<_> = message
        .iter()
        .map(|byte| frame(CONTINUE, &[*byte]))
        .collect();
    parts.insert(0, frame(TEXT, b""));
    parts.push(frame(END | CONTINUE, b""));
    cases.push(case(
        "UTF-8 cut within its characters",
        &parts,
        &[answer(id)],
    ));
    cases
}

pub fn bad_text() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, bytes) in [
        ("a byte that only goes on", &b"\x80"[..]),
        ("a beginning alone", b"\xc3"),
        ("two of three bytes", b"\xe2\x82"),
        ("three of four bytes", b"\xf0\x9f\x92"),
        ("a beginning, then a letter", b"\xc3A"),
        ("a slash in two bytes", b"\xc0\xaf"),
        ("a slash in three bytes", b"\xe0\x80\xaf"),
        ("a slash in four bytes", b"\xf0\x80\x80\xaf"),
        ("the first surrogate", b"\xed\xa0\x80"),
        ("the last surrogate", b"\xed\xbf\xbf"),
        ("beyond the last character", b"\xf4\x90\x80\x80"),
        ("five bytes", b"\xf8\x88\x80\x80\x80"),
        ("a byte that never is", b"\xff"),
    ] {
        let message = [b"{\"id\":\"", bytes].concat();
        cases.push(case(
            format!("no UTF-8: {name}"),
            &[text(&message)],
            &[NO_UTF8],
        ));
    }
    let first = frame(TEXT, b"\xce\xba\xe1");
    let bad = [first.clone(), frame(END | CONTINUE, b"\xbd")];
    cases.push(case("no UTF-8 at the end of the parts", &bad, &[NO_UTF8]));
    // The end of the message never comes: a reader that waits for it hangs.
    let bad = [first, frame(CONTINUE, b"\xbd\xb9\xed\xa0\x80")];
    cases.push(case(
        "invalid UTF-8 in a fragment is reported at once",
        &bad,
        &[NO_UTF8],
    ));
    cases
}

pub fn closes() -> Vec<Case> {
    let bye = |code| [Expect::Close(Some(code))];
    let good = close(1000, b"done");
    vec![
        case(
            "a close without a word",
            &[frame(END | CLOSE, b"")],
            &[Expect::Close(None)],
        ),
        case(
            "a close with a reason",
            std::slice::from_ref(&good),
            &bye(1000),
        ),
        case(
            "the longest reason",
            &[close(1000, &[b'x'; 123])],
            &bye(1000),
        ),
        case("a reason too long", &[close(1000, &[b'x'; 124])], &[BROKEN]),
        case("half a code", &[frame(END | CLOSE, b"\x03")], &[BROKEN]),
        case(
            "a reason that is no UTF-8",
            &[close(1000, b"\xed\xa0\x80")],
            &[NO_UTF8],
        ),
        case(
            "a text after the close",
            &[good.clone(), text(&ask("late"))],
            &bye(1000),
        ),
        case(
            "a ping after the close",
            &[good.clone(), frame(END | PING, b"late")],
            &bye(1000),
        ),
        case(
            "a close after the close",
            &[good, close(1001, b"")],
            &bye(1000),
        ),
    ]
}

pub fn close_codes() -> Vec<Case> {
    let good = [1001, 1003, 1007, 1011, 3000, 4000, 4999];
    let bad = [0, 999, 1004, 1005, 1006, 1016, 2999, 5000, 65535];
    let good = good.map(|code| (code, code));
    let bad = bad.map(|code| (code, 1002));
    let codes = good.into_iter().chain(bad);
    codes
        .map(|(code, message)| {
            let expect = [Expect::Close(Some(message))];
            case(format!("a close with {code}"), &[close(code, b"")], &expect)
        })
        .collect()
}
