//! GGUF files that are whole, cut, damaged or made to harm.

use std::io::Cursor;

use gangway_models::weights::{Gguf, Unusable};
use rand::RngExt;

use super::small_gguf;

fn parse(bytes: &[u8]) -> Result<Gguf, Unusable> {
    Gguf::parse(Cursor::new(bytes), bytes.len() as u64)
}

#[test]
fn a_whole_file_tells_what_it_is() {
    let found = parse(&small_gguf(1000)).unwrap();
    let expected = Gguf {
        version: 3,
        architecture: "llama".into(),
        name: Some("Tiny".into()),
        context_length: Some(2048),
        has_chat_template: true,
        parameters: 1000,
    };
    assert_eq!(found, expected);
}

#[test]
fn every_truncation_is_noticed() {
    let whole = small_gguf(100);
    for length in 0..whole.len() {
        let reason = parse(&whole[..length]).unwrap_err().to_string();
        let expected = if length < 4 {
            "not a GGUF"
        } else {
            "cut short"
        };
        assert!(reason.contains(expected), "{length}: {reason}");
    }
}

#[test]
fn other_versions_are_named() {
    for (version, words) in [
        (1_u32, "is a GGUF of version 1, and"),
        (4, "version 4"),
        (3 << 24, "big-endian"),
    ] {
        let mut file = small_gguf(10);
        file[4..8].copy_from_slice(&version.to_le_bytes());
        let reason = parse(&file).unwrap_err().to_string();
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn no_number_in_the_file_is_believed() {
    let whole = small_gguf(10);
    // Every number there is lies within the head; each place is given values that would hurt.
    for at in 4..whole.len() - 40 - 8 {
        for value in [u64::MAX, i64::MAX as u64, 1 << 40, u64::from(u32::MAX)] {
            let mut file = whole.clone();
            file[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let _ = parse(&file);
        }
    }
    let mut random = rand::rng();
    for _ in 0..20_000 {
        let mut file = whole.clone();
        let start = random.random_range(8..file.len());
        random.fill(&mut file[start..]);
        let _ = parse(&file);
        let place = random.random_range(0..whole.len());
        let mut file = whole.clone();
        file[place] = random.random();
        let _ = parse(&file);
    }
}
