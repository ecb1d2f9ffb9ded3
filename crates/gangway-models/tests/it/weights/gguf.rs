//! GGUF files: complete, truncated, damaged and malicious.

use std::io::Cursor;

use gangway_models::weights::{Gguf, Unusable};
use rand::RngExt;

use super::{made::gguf_with, small_gguf};

fn parse(bytes: &[u8]) -> Result<Gguf, Unusable> {
    Gguf::parse(Cursor::new(bytes), bytes.len() as u64)
}

#[test]
fn a_whole_file_describes_itself() {
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
            "truncated"
        };
        assert!(reason.contains(expected), "{length}: {reason}");
    }
}

#[test]
fn other_versions_are_named() {
    for (version, message) in [
        (1_u32, "is a GGUF file of version 1;"),
        (4, "version 4"),
        (3 << 24, "big-endian"),
    ] {
        let mut file = small_gguf(10);
        file[4..8].copy_from_slice(&version.to_le_bytes());
        let reason = parse(&file).unwrap_err().to_string();
        assert!(reason.contains(message), "{reason}");
    }
}

#[test]
fn no_number_in_the_file_is_believed() {
    let whole = small_gguf(10);
    // Puts harmful values at each offset of the header.
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

#[test]
fn figures_that_no_model_has_are_refused_by_name_but_not_those_of_another_architecture() {
    const INT: u32 = 4;
    const FLOAT: u32 = 6;
    const DOUBLE: u32 = 12;
    let message = |key: &str, kind, value: &[u8]| {
        let file = gguf_with(10, &[(key, kind, value)]);
        parse(&file).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
    };
    let int = |key: &str, value: u32| message(key, INT, &value.to_le_bytes());
    for (key, value) in [
        ("block_count", 0),
        ("block_count", u32::MAX),
        ("embedding_length", 0),
        ("attention.head_count", 1 << 20),
        ("expert_count", 1_000_000),
    ] {
        let text = format!("is damaged: its {key} is {value}, but must be");
        let message = int(&format!("llama.{key}"), value);
        assert!(message.starts_with(&text), "{message}");
        assert_eq!(int(&format!("other.{key}"), value), "fine");
    }
    assert_eq!(int("llama.block_count", 30), "fine");
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    for value in [f32::NAN, f32::INFINITY, -1.0] {
        let message = message(epsilon, FLOAT, &value.to_le_bytes());
        assert!(message.contains("layer_norm_rms_epsilon is"), "{message}");
    }
    assert!(message(epsilon, DOUBLE, &f64::NAN.to_le_bytes()).contains("is NaN"));
    assert_eq!(message(epsilon, FLOAT, &1e-5_f32.to_le_bytes()), "fine");
    // An empty array of texts.
    let nothing = [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(message("tokenizer.ggml.tokens", 9, &nothing).contains("vocabulary is empty"));
}
