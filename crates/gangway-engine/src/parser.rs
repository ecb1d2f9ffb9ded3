//! Parses a model's output bytes into chunks of an answer.

use gangway_models::{ChatChunk, ToolCall};
use serde_json::Value;
use uuid::Uuid;

use crate::conversation::{CALL, CALL_END};

/// Output that was not passed on yet.
#[derive(Debug, Default)]
pub(crate) struct OutputParser {
    /// An incomplete character.
    broken: Vec<u8>,
    /// Text that may be the beginning of a marker.
    held: String,
    stops: Vec<String>,
    /// Whether tool calls are allowed.
    calls: bool,
    /// An incomplete tool call.
    call: Option<String>,
    /// Whether there was text; leading white space does not count.
    spoke: bool,
    stopped: bool,
}

impl OutputParser {
    pub fn new(stops: &[String], calls: bool) -> Self {
        Self {
            stops: stops
                .iter()
                .filter(|stop| !stop.is_empty())
                .cloned()
                .collect(),
            calls,
            ..Self::default()
        }
    }

    /// Whether a stop string was found.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Adds output, and passes on what is certain.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ChatChunk> {
        self.broken.extend_from_slice(bytes);
        let text = whole(&mut self.broken);
        self.read(&text)
    }

    /// The answer is complete: passes on held-back text, except for a call that is cut off in its marker.
    pub fn finish(&mut self, truncated: bool) -> Vec<ChatChunk> {
        let broken = std::mem::take(&mut self.broken);
        let mut chunks = self.read(&String::from_utf8_lossy(&broken));
        let cut_call = truncated && self.calls && CALL.starts_with(&self.held);
        if self.call.is_none() && !self.stopped && !cut_call {
            let held = std::mem::take(&mut self.held);
            self.say(held, &mut chunks);
        }
        chunks
    }

    fn read(&mut self, text: &str) -> Vec<ChatChunk> {
        let mut chunks = Vec::new();
        if text.is_empty() || self.stopped {
            return chunks;
        }
        self.held.push_str(text);
        loop {
            if let Some(call) = &mut self.call {
                call.push_str(&std::mem::take(&mut self.held));
                let Some((made, rest)) = complete(call) else {
                    return chunks;
                };
                chunks.push(ChatChunk::ToolCall(made));
                (self.call, self.held, self.spoke) = (None, rest, false);
            }
            let marks = self.stops.iter().map(String::as_str);
            let marks = marks.chain(self.calls.then_some(CALL));
            let found = marks
                .clone()
                .filter_map(|mark| self.held.find(mark).map(|at| (at, mark)))
                .min_by_key(|(at, mark)| (*at, std::cmp::Reverse(mark.len())));
            let Some((at, mark)) = found else {
                let keep = marks
                    .map(|mark| overlap(&self.held, mark))
                    .max()
                    .unwrap_or(0);
                let rest = self.held.split_off(self.held.len() - keep);
                let text = std::mem::replace(&mut self.held, rest);
                self.say(text, &mut chunks);
                return chunks;
            };
            let (is_call, end) = (self.calls && mark == CALL, at + mark.len());
            let rest = self.held.split_off(end);
            let mut text = std::mem::replace(&mut self.held, rest);
            text.truncate(at);
            if !is_call {
                self.say(text, &mut chunks);
                self.stopped = true;
                self.held.clear();
                return chunks;
            }
            if !text.trim().is_empty() {
                self.say(text, &mut chunks);
            }
            self.call = Some(String::new());
        }
    }

    /// Passes on text. White space alone around calls is skipped.
    fn say(&mut self, text: String, chunks: &mut Vec<ChatChunk>) {
        let silent = self.calls && !self.spoke && text.trim().is_empty();
        if !text.is_empty() && !silent {
            self.spoke = true;
            chunks.push(ChatChunk::Text(text));
        }
    }
}

/// Decodes complete characters; invalid bytes are replaced.
fn whole(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    loop {
        match std::str::from_utf8(bytes) {
            Ok(all) => {
                text.push_str(all);
                bytes.clear();
                return text;
            }
            Err(error) => {
                let good = error.valid_up_to();
                text.push_str(&String::from_utf8_lossy(&bytes[..good]));
                let Some(bad) = error.error_len() else {
                    bytes.drain(..good);
                    return text;
                };
                text.push(char::REPLACEMENT_CHARACTER);
                bytes.drain(..good + bad);
            }
        }
    }
}

/// The number of bytes at the end of a text that may begin a marker.
fn overlap(text: &str, mark: &str) -> usize {
    let longest = text.len().min(mark.len() - 1);
    (1..=longest)
        .rev()
        .find(|length| {
            mark.is_char_boundary(*length) && text.as_bytes().ends_with(&mark.as_bytes()[..*length])
        })
        .unwrap_or(0)
}

/// The call at the beginning of this text and the rest, once it is complete.
fn complete(text: &str) -> Option<(ToolCall, String)> {
    // The end marker may also occur inside an argument.
    text.match_indices(CALL_END).find_map(|(at, end)| {
        let call: Value = serde_json::from_str(&text[..at]).ok()?;
        let call = ToolCall {
            id: format!("call_{}", Uuid::now_v7().simple()),
            name: call.get("name")?.as_str()?.to_owned(),
            arguments: call.get("arguments")?.clone(),
        };
        Some((call, text[at + end.len()..].to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The chunks parsed byte by byte: joined text, and calls without their ids.
    fn parsed(message: &str, stops: &[&str], calls: bool) -> (String, Vec<(String, Value)>) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut parser = OutputParser::new(&stops, calls);
        let mut chunks = Vec::new();
        for byte in message.as_bytes() {
            chunks.extend(parser.push(&[*byte]));
        }
        let mut whole = OutputParser::new(&stops, calls);
        let mut at_once = whole.push(message.as_bytes());
        chunks.extend(parser.finish(false));
        at_once.extend(whole.finish(false));
        let sum = |chunks: Vec<ChatChunk>| {
            let mut sum = (String::new(), Vec::new());
            for chunk in chunks {
                match chunk {
                    ChatChunk::Text(text) => sum.0.push_str(&text),
                    ChatChunk::ToolCall(call) => sum.1.push((call.name, call.arguments)),
                    _ => {}
                }
            }
            sum
        };
        let sums = (sum(chunks), sum(at_once));
        assert_eq!(sums.0, sums.1);
        sums.0
    }

    #[test]
    fn a_character_is_given_out_when_it_is_whole() {
        let mut parser = OutputParser::new(&[], false);
        let bytes = "é🙂".as_bytes();
        assert_eq!(parser.push(&bytes[..1]), []);
        assert_eq!(parser.push(&bytes[1..4]), [ChatChunk::Text("é".to_owned())]);
        assert_eq!(parser.push(&bytes[4..]), [ChatChunk::Text("🙂".to_owned())]);
        assert_eq!(
            parser.push(b"\xffok"),
            [ChatChunk::Text("\u{fffd}ok".to_owned())]
        );
        assert_eq!(parser.push(&bytes[2..3]), []);
        assert_eq!(
            parser.finish(false),
            [ChatChunk::Text("\u{fffd}".to_owned())]
        );
    }

    #[test]
    fn a_stop_text_ends_the_answer_and_is_not_part_of_it() {
        assert_eq!(parsed("one two STOP three", &["STOP"], false).0, "one two ");
        assert_eq!(parsed("ST and STO", &["STOP", ""], false).0, "ST and STO");
        assert_eq!(parsed("über üb", &["übel"], false).0, "über üb");
        let mut parser = OutputParser::new(&["\n\n".to_owned()], false);
        assert_eq!(parser.push(b"a\n"), [ChatChunk::Text("a".to_owned())]);
        assert_eq!(parser.push(b"\nb"), []);
        assert!(parser.is_stopped());
        assert_eq!(parser.finish(false), []);
    }

    #[test]
    fn calls_are_taken_out_of_the_text() {
        let message = "I look.\n<tool_call>{\"name\": \"a\", \"arguments\": {\"x\": \"</tool_call>\"}}</tool_call>\n<tool_call>{\"name\": \"b\", \"arguments\": {}}</tool_call>";
        let (text, calls) = parsed(message, &[], true);
        assert_eq!(text, "I look.\n");
        assert_eq!(
            calls,
            [
                ("a".to_owned(), json!({"x": "</tool_call>"})),
                ("b".to_owned(), json!({}))
            ]
        );
        assert_eq!(
            parsed(message, &[], false).0,
            message,
            "without tools it is text"
        );
        assert_eq!(parsed("a <tool", &[], true).0, "a <tool");
        let mut cut = OutputParser::new(&[], true);
        assert_eq!((cut.push(b"<tool"), cut.finish(true)), (vec![], vec![]));
        assert_eq!(parsed("<tool_call>{\"name\": \"a\"", &[], true).0, "");
    }
}
