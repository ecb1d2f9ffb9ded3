//! A tool result as a model reads it: text, and images for models with vision.

use gangway_models::Image;
use serde_json::Value;

/// Characters of one result; more would push the conversation out of the context window.
const RESULT_CHARS: usize = 50_000;

/// Image types that models accept.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(super) struct Shown {
    pub(super) text: String,
    pub(super) images: Vec<Image>,
}

impl Shown {
    /// With a source number, if it is a source.
    pub(super) fn new(number: Option<usize>, result: &Result<Value, String>) -> Self {
        let mut images = Vec::new();
        let text = match result {
            Ok(value) => text(value, &mut images),
            Err(message) => message.clone(),
        };
        let mut shown: String = text.chars().take(RESULT_CHARS).collect();
        if shown.len() < text.len() {
            shown.push_str("\n[The rest was left out.]");
        }
        if let Some(number) = number {
            shown = format!("[{number}] {shown}");
        }
        Self {
            text: shown,
            images,
        }
    }
}

/// A result of an earlier turn: text, with a placeholder for each image.
#[must_use]
pub fn past_result(value: &Value) -> String {
    text(value, &mut Vec::new())
}

fn text(value: &Value, images: &mut Vec<Image>) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let blocks = value.as_array().filter(|blocks| is_media(blocks));
    let Some(blocks) = blocks else {
        return value.to_string();
    };
    let lines = blocks.iter().map(|block| line(block, images));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether these are content blocks, and not all of them text.
fn is_media(blocks: &[Value]) -> bool {
    let known = ["text", "image", "audio", "resource", "resource_link"];
    let kind = |block: &Value| {
        block["type"]
            .as_str()
            .filter(|kind| known.contains(kind))
            .is_some()
    };
    blocks.iter().all(kind) && blocks.iter().any(|block| block["type"] != "text")
}

fn line(block: &Value, images: &mut Vec<Image>) -> String {
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    match field("type") {
        "text" => field("text").to_owned(),
        "image" => media("picture", field("mimeType"), field("data"), images),
        "audio" => media("sound", field("mimeType"), field("data"), images),
        "resource_link" => format!("[link to {}: {}]", field("name"), field("uri")),
        _ => {
            let resource = &block["resource"];
            let part = |name: &str| resource[name].as_str().unwrap_or_default();
            match resource["text"].as_str() {
                Some(text) => format!("[{}]\n{text}", part("uri")),
                None => format!(
                    "[{}] {}",
                    part("uri"),
                    media("file", part("mimeType"), part("blob"), images)
                ),
            }
        }
    }
}

/// A placeholder for media, which the user is shown.
fn media(what: &str, kind: &str, data: &str, images: &mut Vec<Image>) -> String {
    if IMAGES.contains(&kind) && !data.is_empty() {
        images.push(Image {
            mime_type: kind.to_owned(),
            data: data.to_owned(),
        });
        return format!("[image {} ({kind}), shown to the user]", images.len());
    }
    let bytes = data.len() / 4 * 3;
    format!("[{what} of {bytes} bytes ({kind}), shown to the user]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_text_is_named_and_never_written_out() {
        let data = "QUJD".repeat(100);
        let blocks = json!([
            { "type": "text", "text": "Here:" },
            { "type": "image", "mimeType": "image/png", "data": data },
            { "type": "audio", "mimeType": "audio/wav", "data": data },
            { "type": "resource_link", "name": "notes", "uri": "file:///n" },
            { "type": "resource", "resource": { "uri": "a:b", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "a:c", "mimeType": "application/pdf", "blob": data } },
        ]);
        let shown = Shown::new(None, &Ok(blocks));
        assert!(!shown.text.contains("QUJD"), "{}", shown.text);
        for part in [
            "Here:",
            "image 1 (image/png)",
            "sound of 300 bytes (audio/wav)",
            "file:///n",
            "inside",
            "a:c",
        ] {
            assert!(shown.text.contains(part), "{part}: {}", shown.text);
        }
        assert_eq!(shown.images.len(), 1);
        assert_eq!(shown.images[0].data, data);
    }

    #[test]
    fn data_and_plain_text_are_left_as_they_are() {
        for value in [
            json!({ "n": 1 }),
            json!([{ "type": "text", "text": "x" }]),
            json!([1, 2]),
        ] {
            assert_eq!(Shown::new(None, &Ok(value.clone())).text, value.to_string());
        }
        assert_eq!(Shown::new(Some(2), &Ok(json!("x"))).text, "[2] x");
    }
}
