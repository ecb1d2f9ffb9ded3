//! The real weights with one changed metadata value.

use super::weights;

/// A value in the header of a GGUF file.
pub(super) enum Value<'a> {
    Int(u32),
    Float(f32),
    /// An array of the original length, with each entry replaced by this one.
    Words(&'a str),
}

/// The weights with another value for a key.
pub(super) fn with(key: &str, value: &Value<'_>) -> Vec<u8> {
    let whole = std::fs::read(weights()).unwrap();
    let mut head = Head {
        whole: &whole,
        at: 8,
    };
    let (tensors, keys) = (head.u64(), head.u64());
    let mut changed = whole[..head.at].to_vec();
    let mut found = false;
    for _ in 0..keys {
        let start = head.at;
        let is_it = head.text() == key.as_bytes();
        let kind = head.u32();
        let (message, begun) = (head.at, head.at + 4);
        head.skip(kind);
        if !is_it {
            changed.extend(&whole[start..head.at]);
            continue;
        }
        found = true;
        changed.extend(&whole[start..message - 4]);
        match value {
            Value::Int(number) => {
                changed.extend(4_u32.to_le_bytes());
                changed.extend(number.to_le_bytes());
            }
            Value::Float(number) => {
                changed.extend(6_u32.to_le_bytes());
                changed.extend(number.to_le_bytes());
            }
            Value::Words(word) => {
                let count = Head {
                    whole: &whole,
                    at: begun,
                }
                .u64();
                changed.extend(9_u32.to_le_bytes());
                changed.extend(8_u32.to_le_bytes());
                changed.extend(count.to_le_bytes());
                for _ in 0..count {
                    changed.extend((word.len() as u64).to_le_bytes());
                    changed.extend(word.as_bytes());
                }
            }
        }
    }
    assert!(found, "the weights say nothing of {key}");
    let start = head.at;
    for _ in 0..tensors {
        head.text();
        let dimensions = head.u32() as usize;
        head.at += dimensions * 8 + 4 + 8;
    }
    changed.extend(&whole[start..head.at]);
    changed.resize(changed.len().next_multiple_of(32), 0);
    changed.extend(&whole[head.at.next_multiple_of(32)..]);
    changed
}

struct Head<'a> {
    whole: &'a [u8],
    at: usize,
}

impl<'a> Head<'a> {
    fn take(&mut self, bytes: usize) -> &'a [u8] {
        self.at += bytes;
        &self.whole[self.at - bytes..self.at]
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> &'a [u8] {
        let length = self.u64();
        self.take(usize::try_from(length).unwrap())
    }

    fn skip(&mut self, kind: u32) {
        match kind {
            0 | 1 | 7 => self.at += 1,
            2 | 3 => self.at += 2,
            4..=6 => self.at += 4,
            10..=12 => self.at += 8,
            8 => {
                self.text();
            }
            9 => {
                let kind = self.u32();
                for _ in 0..self.u64() {
                    self.skip(kind);
                }
            }
            _ => panic!("a value of the kind {kind}"),
        }
    }
}
