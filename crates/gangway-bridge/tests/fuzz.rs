//! P11: the framing and the beginning of every message survive all bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

use std::io::Read;

use gangway_bridge::{
    NAMES,
    frame::{self, FROM_BROWSER, FrameError, FrameRead},
    message,
};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

/// One frame with these bytes.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_ne_bytes()[..], bytes].concat()
}

/// A few messages that are right, one after another.
fn messages(chance: &mut StdRng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for n in 0..chance.random_range(1..6) {
        let kind = NAMES[chance.random_range(0..NAMES.len())];
        let message = json!({
            "type": kind, "request_id": format!("r{n}"), "server_id": "a", "body": { "x": ["é", null] },
        });
        bytes.extend(framed(message.to_string().as_bytes()));
    }
    bytes
}

/// Something like what was there, and unlike it.
fn changed(chance: &mut StdRng) -> Vec<u8> {
    let mut bytes = messages(chance);
    for _ in 0..chance.random_range(0..4) {
        let at = chance.random_range(0..=bytes.len());
        let to = chance.random_range(at..=bytes.len());
        match chance.random_range(0..7) {
            0 => bytes.truncate(at),
            1 => bytes.drain(at..to).for_each(drop),
            2 => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy).for_each(drop);
            }
            3 if at < bytes.len() => bytes[at] = chance.random(),
            4 if at < bytes.len() => bytes[at] ^= 1 << chance.random_range(0..8),
            5 => {
                let lengths = [0, 1, 1 << 20, FROM_BROWSER as u32, 1 << 25, u32::MAX];
                let length = lengths[chance.random_range(0..lengths.len())];
                bytes.splice(at..at, length.to_ne_bytes()).for_each(drop);
            }
            _ => {
                let mut junk = vec![0; chance.random_range(0..20)];
                chance.fill_bytes(&mut junk);
                bytes.splice(at..to, junk).for_each(drop);
            }
        }
    }
    bytes
}

/// Gives a few bytes at a time, as pipes do.
struct Drops<'a>(&'a [u8], StdRng);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let some = self.1.random_range(1..9).min(into.len());
        self.0.read(&mut into[..some])
    }
}

/// What a reader makes of it that is as simple as can be.
fn expected(mut bytes: &[u8]) -> (Vec<Vec<u8>>, &'static str) {
    let mut frames = Vec::new();
    loop {
        if bytes.is_empty() {
            return (frames, "end");
        }
        let Some((head, rest)) = bytes.split_first_chunk::<4>() else {
            return (frames, "cut");
        };
        let length = u32::from_ne_bytes(*head) as usize;
        if length > FROM_BROWSER {
            return (frames, "large");
        }
        if rest.len() < length {
            return (frames, "cut");
        }
        frames.push(rest[..length].to_vec());
        bytes = &rest[length..];
    }
}

/// P11
#[test]
fn whatever_bytes_come_they_are_read_as_the_frames_they_are() {
    let mut chance = StdRng::seed_from_u64(10);
    let (mut ends, mut understood, mut refused) = ([0; 3], 0, 0);
    for round in 0..8_000 {
        let bytes = changed(&mut chance);
        let (frames, end) = expected(&bytes);
        let drops = Drops(&bytes, StdRng::seed_from_u64(round));
        let mut input = std::io::BufReader::with_capacity(64, drops);
        let (mut buffer, mut read) = (Vec::new(), Vec::new());
        let ended = loop {
            match frame::read(&mut input, &mut buffer) {
                Ok(FrameRead::Frame) => read.push(buffer.clone()),
                Ok(FrameRead::End) => break "end",
                Err(FrameError::Cut) => break "cut",
                Err(FrameError::TooLarge(_)) => break "large",
                Err(FrameError::Io(error)) => panic!("{error}"),
            }
            // No input makes it allocate more than was sent.
            assert!(buffer.capacity() <= (bytes.len() * 2).max(256 << 10));
        };
        assert_eq!((&read, ended), (&frames, end));
        ends[["end", "cut", "large"]
            .iter()
            .position(|e| *e == end)
            .unwrap()] += 1;
        for frame in &read {
            match message::read(frame) {
                Ok(message) => {
                    understood += 1;
                    let whole: Value = serde_json::from_slice(frame).unwrap();
                    assert_eq!(whole["type"], json!(message.kind));
                    let id = whole["request_id"].as_str();
                    assert!(
                        message
                            .id
                            .is_none_or(|known| Some(&*known.to_string()) == id)
                    );
                }
                Err(wrong) => {
                    refused += 1;
                    // A long invalid message does not cause a long answer.
                    let text = wrong.problem.message;
                    assert!(!text.is_empty() && text.chars().count() <= 500, "{text}");
                    assert_eq!(wrong.problem.code, "bad_message");
                }
            }
        }
    }
    // Otherwise it would say little.
    assert!(ends.iter().all(|count| *count > 200), "{ends:?}");
    assert!(understood > 3000 && refused > 800, "{understood} {refused}");
}

/// P11
#[test]
fn whatever_is_written_is_read_back_as_it_was() {
    let mut chance = StdRng::seed_from_u64(11);
    for round in 0..12 {
        let alphabet = ['a', '"', '\\', 'é', '€', '😀', '\n', '\u{2028}'];
        let most = [1, 100, 3_000, 8_000][round % 4];
        let piece: String = (0..chance.random_range(1..100))
            .map(|_| alphabet[chance.random_range(0..alphabet.len())])
            .collect();
        let text = piece.repeat(chance.random_range(0..=most));
        let message = json!({ "type": "x", "text": text }).to_string();
        let mut bytes = Vec::new();
        frame::write(&mut bytes, &message, 3);
        let (frames, end) = expected(&bytes);
        assert_eq!(end, "end");
        assert!(frames.iter().all(|frame| frame.len() <= frame::TO_BROWSER));
        let whole: String = match frames.len() {
            1 => String::from_utf8(frames[0].clone()).unwrap(),
            _ => {
                let part = |frame: &Vec<u8>| -> String {
                    let part: Value = serde_json::from_slice(frame).unwrap();
                    part["data"].as_str().unwrap().to_owned()
                };
                frames.iter().map(part).collect()
            }
        };
        assert_eq!(whole, message);
    }
}
