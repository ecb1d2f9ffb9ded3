//! Finds the request id of a message that is too large to be kept.

use serde_json::Value;

/// Our ids are shorter.
const MAX_ID: usize = 64;

/// Scans a JSON message incrementally and keeps only its top-level `id`.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The current top-level string or value, up to a length.
    token: Vec<u8>,
    /// Whether the current value is that of the top-level `id`.
    is_id: bool,
    id: Option<Value>,
}

impl IdScan {
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let outermost = self.depth == 1;
        if self.in_string {
            if outermost {
                self.remember(byte);
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if outermost {
                    self.remember(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                if outermost {
                    self.end();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if outermost => {
                self.is_id = self.token == b"\"id\"";
                self.token.clear();
            }
            b',' if outermost => self.end(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if outermost => self.remember(byte),
            _ => {}
        }
    }

    fn remember(&mut self, byte: u8) {
        if self.token.len() < MAX_ID {
            self.token.push(byte);
        }
    }

    fn end(&mut self) {
        if self.is_id {
            self.id = serde_json::from_slice(&self.token).ok();
            self.is_id = false;
        }
        self.token.clear();
    }

    pub(crate) fn id(&self) -> Option<&Value> {
        self.id.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_outermost_id_is_found_wherever_it_stands_and_however_it_arrives() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":9}}"#, json!(7)),
            (
                r#"{"result":{"id":9,"x":["id",{"id":8}]} , "id" : 7 }"#,
                json!(7),
            ),
            (
                r#"{"result":{"text":"\"id\":9,}]\\"},"id":"a\"b"}"#,
                json!("a\"b"),
            ),
            (r#"{"x":"id","y":"\\","id":12}"#, json!(12)),
        ];
        for (text, id) in cases {
            for size in [1, 3, 1000] {
                let mut scan = IdScan::default();
                for part in text.as_bytes().chunks(size) {
                    scan.read(part);
                }
                assert_eq!(scan.id(), Some(&id), "{text}");
            }
        }
    }

    #[test]
    fn what_has_no_id_has_none() {
        for text in [
            "",
            "xxxx",
            r#"{"result":{"id":1}}"#,
            r#"[{"id":1}]"#,
            "{\"id\":",
        ] {
            let mut scan = IdScan::default();
            scan.read(text.as_bytes());
            assert_eq!(scan.id(), None, "{text}");
        }
    }
}
