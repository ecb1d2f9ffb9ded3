//! P11: what decodes other people's bytes survives all of them. The beginnings are kept in `tests/corpus`.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use gangway_applets::{decode, wire::channel::AppletClientMessage};
use gangway_files::FilePath;
use gangway_relay::wire::{RelayMessage, check_call};
use rand::{Rng, RngExt, rngs::StdRng};
use serde_json::Value;

use super::{chance, scale};

/// A message of this many bytes is the largest that is looked at.
const MOST: usize = 4000;

/// What messages are made of, and what breaks readers of JSON.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\udfff",
    "null",
    "true",
    "-",
    "0",
    "1e999",
    "18446744073709551616",
    "-9223372036854775809",
    "0.1",
    "\"id\"",
    "\"type\"",
    "\"setState\"",
    "\"invoke\"",
    "\"options\"",
    "\"data\"",
    "\"path\"",
    "\"offset\"",
    "\u{feff}",
    "\u{2028}",
    "\u{10ffff}",
    "\u{0}",
    " ",
    "/*",
    "NaN",
];

fn corpus(of: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(of);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    // The order of a folder is chance of another kind.
    files.sort();
    assert!(files.len() > 10);
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

/// Something like what was there, and unlike it.
fn changed(chance: &mut StdRng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[chance.random_range(0..corpus.len())].clone();
    for _ in 0..chance.random_range(0..8) {
        let at = chance.random_range(0..=bytes.len());
        let to = chance.random_range(at..=bytes.len());
        match chance.random_range(0..8) {
            0 => bytes.truncate(at),
            1 => bytes.drain(at..to).for_each(drop),
            2 => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy).for_each(drop);
            }
            3 if at < bytes.len() => bytes[at] = chance.random(),
            4 if at < bytes.len() => bytes[at] ^= 1 << chance.random_range(0..8),
            5 => {
                let mut junk = vec![0; chance.random_range(0..20)];
                chance.fill_bytes(&mut junk);
                bytes.splice(at..to, junk).for_each(drop);
            }
            6 => {
                let other = &corpus[chance.random_range(0..corpus.len())];
                let from = chance.random_range(0..=other.len());
                bytes
                    .splice(at..to, other[from..].iter().copied())
                    .for_each(drop);
            }
            _ => {
                let token = TOKENS[chance.random_range(0..TOKENS.len())];
                let times = [1, 1, 1, 2, 200][chance.random_range(0..5)];
                bytes
                    .splice(at..at, token.repeat(times).into_bytes())
                    .for_each(drop);
            }
        }
    }
    bytes
}

/// Whether it was understood; fails when anything about the answer is not as it should be.
fn look(text: &str) -> bool {
    let read = decode::read(text, MOST);
    // Whatever is meant, blanks around it mean nothing.
    let padded = decode::read(&format!(" {text}\n"), MOST + 2);
    assert_eq!(
        format!("{:?}", read.is_ok()),
        format!("{:?}", padded.is_ok()),
        "{text}"
    );
    let given = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|message| message.get("id").cloned())
        .filter(|id| match id {
            Value::String(id) => id.chars().count() <= 100,
            other => other.is_number(),
        });
    match read {
        Ok((id, ask)) => {
            assert!(text.len() <= MOST);
            assert_eq!(id, given, "{text}");
            let name = format!("{ask:?}");
            let name = name.split([' ', '{']).next().unwrap().to_lowercase();
            let known = AppletClientMessage::NAMES.to_lowercase();
            assert!(known.split(", ").any(|one| one == name), "{name}");
            true
        }
        Err(wrong) => {
            let too_large = text.len() > MOST;
            let code = if too_large {
                "too_large"
            } else {
                "invalid_message"
            };
            assert_eq!(wrong.code, code);
            assert_eq!(wrong.id, given.filter(|_| !too_large), "{text}");
            // A long invalid message does not cause a long answer.
            assert!(!wrong.message.is_empty() && wrong.message.chars().count() <= 500);
            false
        }
    }
}

/// P11
#[test]
fn whatever_a_page_sends_is_understood_or_refused_in_few_words() {
    let corpus = corpus("applet");
    for beginning in &corpus {
        look(&String::from_utf8_lossy(beginning));
    }
    let mut chance = chance(11);
    let (started, mut looked, mut understood) = (Instant::now(), 0, 0);
    let time = scale(Duration::ZERO, Duration::from_secs(60));
    while looked < 20_000 || started.elapsed() < time {
        let bytes = changed(&mut chance, &corpus);
        // What is no UTF-8 does not come this far.
        let text = String::from_utf8_lossy(&bytes);
        understood += usize::from(look(&text));
        looked += 1;
    }
    println!("{looked} messages, {understood} understood");
    // Otherwise it would say little: most are close to right, and few of those are.
    assert!(understood > looked / 20 && understood < looked * 9 / 10);
}

/// Whether the relay understood it; fails when anything about the refusal is not as it should be.
fn look_at_envelope(text: &str) -> bool {
    match RelayMessage::read(text) {
        Ok(message) => {
            let read: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read["v"], "mvp-0.2");
            assert_eq!(read["type"], message.kind());
            assert!(message.body().get().starts_with('{'), "{text}");
            let _ = check_call(message.body());
            true
        }
        Err((refusal, id)) => {
            assert!(!refusal.message.is_empty() && refusal.message.chars().count() <= 500);
            assert!(id.is_none_or(|id| id.len() <= 128));
            false
        }
    }
}

/// P11
#[test]
fn whatever_is_sent_to_the_relay_is_understood_or_refused_in_few_words() {
    let corpus = corpus("relay");
    let mut chance = chance(12);
    let (started, mut looked, mut understood) = (Instant::now(), 0, 0);
    let time = scale(Duration::ZERO, Duration::from_secs(60));
    while looked < 20_000 || started.elapsed() < time {
        let bytes = changed(&mut chance, &corpus);
        understood += usize::from(look_at_envelope(&String::from_utf8_lossy(&bytes)));
        looked += 1;
    }
    println!("{looked} messages, {understood} understood");
    assert!(understood > looked / 20 && understood < looked * 9 / 10);
}

/// P11
#[test]
fn whatever_is_called_a_path_stays_below_or_is_refused() {
    let corpus = corpus("path");
    let mut chance = chance(12);
    let (started, mut looked, mut taken) = (Instant::now(), 0, 0);
    let time = scale(Duration::ZERO, Duration::from_secs(60));
    while looked < 20_000 || started.elapsed() < time {
        let bytes = changed(&mut chance, &corpus);
        let text = String::from_utf8_lossy(&bytes);
        looked += 1;
        let Ok(path) = text.parse::<FilePath>() else {
            continue;
        };
        taken += 1;
        let mut parts = Path::new(path.as_str()).components();
        let below = parts.all(|part| matches!(part, std::path::Component::Normal(_)));
        assert!(below, "{text:?}");
        assert_eq!(
            path.to_string().parse::<FilePath>().unwrap(),
            path,
            "{text:?}"
        );
    }
    println!("{looked} paths, {taken} taken");
    assert!(taken > looked / 20 && taken < looked * 9 / 10);
}
