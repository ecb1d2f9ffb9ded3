//! What the browser says: the parts that every message has, and how wrong ones are told.

use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::problem::Problem;

/// Characters of the name of a request.
const ID: usize = 64;

/// The name of a request or of a page, given by the browser's side.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Arc<str>);

/// Text that names no request.
#[derive(Debug)]
pub struct NoRequestId;

impl FromStr for RequestId {
    type Err = NoRequestId;

    fn from_str(text: &str) -> Result<Self, NoRequestId> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        match (1..=ID).contains(&text.len()) && text.bytes().all(plain) {
            true => Ok(Self(text.into())),
            false => Err(NoRequestId),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message, of which the fields beside these are still to be read.
#[derive(Debug)]
pub struct Message<'a> {
    /// What it is.
    pub kind: Cow<'a, str>,
    /// Its name, where it has a good one.
    pub id: Option<RequestId>,
    /// What a `ping` carries.
    pub data: Option<&'a RawValue>,
    /// All of it.
    pub text: &'a str,
}

/// A message that says nothing, and its name where that could be read.
#[derive(Debug)]
pub struct Wrong {
    /// Its name.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub problem: Problem,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// Reads what every message has.
pub fn read(bytes: &[u8]) -> Result<Message<'_>, Wrong> {
    let nameless = |words: &str| Wrong {
        id: None,
        problem: Problem::bad_message(words),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| nameless("the message is not UTF-8"))?;
    // A list would be read as the fields in their order.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(nameless("the message is not a JSON object"));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text)
        .map_err(|error| nameless(&format!("the message cannot be read: {error}")))?;
    let id = envelope.request_id.and_then(string);
    let id = id.and_then(|id| id.parse().ok());
    let Some(kind) = envelope.kind.and_then(string) else {
        let problem = Problem::bad_message("`type` must be a string");
        return Err(Wrong { id, problem });
    };
    Ok(Message {
        kind,
        id,
        data: envelope.data,
        text,
    })
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let text: Option<Text<'_>> = serde_json::from_str(raw.get()).ok();
    text.map(|text| text.0)
}

impl Message<'_> {
    /// The fields that a message of its kind has.
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let words: String = error.inner().to_string().chars().take(300).collect();
            match error.path().to_string().as_str() {
                "." => Problem::bad_field(&words),
                path => Problem::bad_field(&format!("`{path}`: {words}")),
            }
        })
    }
}
