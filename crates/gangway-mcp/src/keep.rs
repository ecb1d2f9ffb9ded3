//! Keeps results that are too large to return at once, so that the rest can be read.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{content::has_media, journal::boundary};

/// An agent reads on soon or never.
const MOST: usize = 32;

/// Bytes of images and audio of one result, in base64; more is too much for a model, and for a log.
const MEDIA: usize = 4 << 20;

/// A part of a large result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPart {
    pub text: String,
    pub offset: usize,
    /// The offset of the next part, if there is one.
    pub next: Option<usize>,
    /// The size of the whole result.
    pub total: usize,
}

#[derive(Debug)]
pub(crate) struct ResultStore<C> {
    stored: Mutex<RetainedResults<C>>,
    piece: usize,
    bytes: usize,
}

#[derive(Debug)]
struct RetainedResults<C> {
    last: u64,
    bytes: usize,
    texts: VecDeque<(u64, C, Arc<str>)>,
}

impl<C: Eq> ResultStore<C> {
    pub(crate) fn new(piece: usize, bytes: usize) -> Self {
        let stored = RetainedResults {
            last: 0,
            bytes: 0,
            texts: VecDeque::new(),
        };
        Self {
            stored: Mutex::new(stored),
            piece: piece.max(64),
            bytes,
        }
    }

    /// The result, or its beginning with a handle to read on. Blocks of plain text are cut as text, anything else as
    /// JSON text.
    pub(crate) fn bound(&self, caller: C, value: Value) -> Value {
        self.cut(caller, &value).unwrap_or(value)
    }

    /// The beginning of a result that is too large.
    pub(crate) fn cut(&self, caller: C, value: &Value) -> Option<Value> {
        // A truncated image is of no use.
        if has_media(value) {
            return self.cut_around_media(caller, value);
        }
        let text = only_text(value).unwrap_or_else(|| value.to_string());
        if text.len() <= self.piece {
            return None;
        }
        let (first, next) = piece(&text, 0, self.piece);
        let mut cut = json!({
            "truncated": true,
            "text": first,
            "totalBytes": text.len(),
            "nextOffset": next,
        });
        match self.put(caller, text.into()) {
            Some(handle) => cut["handle"] = json!(handle),
            None => cut["note"] = json!("the rest is too large to keep"),
        }
        Some(cut)
    }

    /// Images and audio are kept whole or left out; the text beside them is cut as usual.
    fn cut_around_media(&self, caller: C, value: &Value) -> Option<Value> {
        let size = |block: &Value| block["data"].as_str().map_or(0, str::len);
        let is_media = |block: &&Value| block["type"] == "image" || block["type"] == "audio";
        let blocks = value.as_array()?;
        let (media, other): (Vec<&Value>, Vec<&Value>) = blocks.iter().partition(is_media);
        let bytes: usize = media.iter().map(|block| size(block)).sum();
        let rest = Value::from_iter(other.iter().map(|block| (*block).clone()));
        let cut = self.cut(caller, &rest);
        if bytes <= MEDIA && cut.is_none() {
            return None;
        }
        let (mut left, mut shown) = (MEDIA, Vec::new());
        match cut {
            Some(cut) => shown.push(json!({ "type": "text", "text": cut.to_string() })),
            None => shown.extend(other.into_iter().cloned()),
        }
        for block in media {
            let bytes = size(block);
            if bytes <= left {
                left -= bytes;
                shown.push(block.clone());
                continue;
            }
            let kind = block["mimeType"].as_str().unwrap_or("unknown type");
            let text = format!("[{kind} of {bytes} bytes left out: at most {MEDIA} are shown]");
            shown.push(json!({ "type": "text", "text": text }));
        }
        Some(Value::Array(shown))
    }

    fn put(&self, caller: C, text: Arc<str>) -> Option<String> {
        if text.len() > self.bytes {
            return None;
        }
        let mut stored = self.stored.lock();
        while stored.texts.len() >= MOST || stored.bytes + text.len() > self.bytes {
            let (_, _, old) = stored.texts.pop_front()?;
            stored.bytes -= old.len();
        }
        stored.last += 1;
        stored.bytes += text.len();
        let number = stored.last;
        stored.texts.push_back((number, caller, text));
        Some(format!("rest-{number}"))
    }

    /// A part of a kept result, for its caller.
    pub(crate) fn rest(&self, caller: &C, handle: &str, offset: usize) -> Option<ResultPart> {
        let number: u64 = handle.strip_prefix("rest-")?.parse().ok()?;
        let text = {
            let stored = self.stored.lock();
            let (_, _, text) = stored
                .texts
                .iter()
                .find(|(n, owner, _)| *n == number && owner == caller)?;
            text.clone()
        };
        let offset = boundary(&text, offset);
        let (part, next) = piece(&text, offset, self.piece);
        Some(ResultPart {
            text: part.to_owned(),
            offset,
            next,
            total: text.len(),
        })
    }
}

/// The text of a result that has only text.
fn only_text(value: &Value) -> Option<String> {
    let blocks = value.as_array().filter(|blocks| !blocks.is_empty())?;
    let texts: Option<Vec<&str>> = blocks
        .iter()
        .map(|block| match block["type"].as_str()? {
            "text" => block["text"].as_str(),
            _ => None,
        })
        .collect();
    Some(texts?.join("\n"))
}

fn piece(text: &str, offset: usize, most: usize) -> (&str, Option<usize>) {
    let end = boundary(text, offset.saturating_add(most));
    (&text[offset..end], (end < text.len()).then_some(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_result_is_cut_and_all_of_it_can_be_read() {
        let keep = ResultStore::new(100, 10_000);
        let whole = "é".repeat(333);
        let cut = keep.bound("me", json!([{"type": "text", "text": whole}]));
        assert_eq!(cut["totalBytes"], 666);
        let handle = cut["handle"].as_str().unwrap();
        let mut read = cut["text"].as_str().unwrap().to_owned();
        let mut next = cut["nextOffset"].as_u64().map(|n| n as usize);
        while let Some(offset) = next {
            let rest = keep.rest(&"me", handle, offset).unwrap();
            assert!(rest.text.len() <= 100 && rest.total == 666);
            read += &rest.text;
            next = rest.next;
        }
        assert_eq!(read, whole);
        assert!(keep.rest(&"you", handle, 0).is_none());
        assert!(keep.rest(&"me", "rest-9", 0).is_none());
        assert_eq!(keep.rest(&"me", handle, 9999).unwrap().text, "");
    }

    #[test]
    fn a_picture_is_kept_whole_or_left_out_and_never_cut() {
        let keep = ResultStore::new(100, 10_000);
        let image = |bytes: usize| json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(bytes)});
        let small = json!([{"type": "text", "text": "x"}, image(5000)]);
        assert_eq!(keep.bound(1, small.clone()), small);
        let both = keep.bound(
            1,
            json!([image(MEDIA), image(5000), {"type": "text", "text": "x"}]),
        );
        assert_eq!(both[0]["text"], "x");
        assert_eq!(both[1]["data"].as_str().unwrap().len(), MEDIA);
        assert!(
            both[2]["text"]
                .as_str()
                .unwrap()
                .contains("image/png of 5000 bytes")
        );
        let wordy = keep.bound(
            1,
            json!([{"type": "text", "text": "y".repeat(300)}, image(10)]),
        );
        let cut: Value = serde_json::from_str(wordy[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(cut["totalBytes"], 300);
        assert_eq!(wordy[1], image(10));
    }

    #[test]
    fn a_small_result_is_left_as_it_is_and_old_ones_make_room() {
        let keep = ResultStore::new(100, 1000);
        assert_eq!(keep.bound(1, json!({"a": 1})), json!({"a": 1}));
        let large = || json!({"a": "x".repeat(300)});
        let handles: Vec<String> = (0..4)
            .map(|_| {
                keep.bound(1, large())["handle"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert!(keep.rest(&1, &handles[0], 0).is_none());
        assert!(keep.rest(&1, &handles[3], 0).is_some());
        let huge = keep.bound(1, json!("x".repeat(2000)));
        assert!(huge.get("handle").is_none() && huge["note"].is_string());
        assert!(keep.rest(&1, &handles[3], 0).is_some());
    }
}
