//! The envelope of messages from the extension, and errors for invalid ones.

use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::problem::Problem;

/// Length limit of request ids.
const ID: usize = 64;

/// The id of a request or page, chosen by the extension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Arc<str>);

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

/// The remaining fields are parsed later.
#[derive(Debug)]
pub struct Message<'a> {
    pub kind: Cow<'a, str>,
    /// Its id, if valid.
    pub id: Option<RequestId>,
    /// The payload of a `ping`.
    pub data: Option<&'a RawValue>,
    /// The whole message.
    pub text: &'a str,
}

/// An invalid message, with its id if that could be read.
#[derive(Debug)]
pub struct InvalidMessage {
    pub id: Option<RequestId>,
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

/// Parses the envelope.
pub fn read(bytes: &[u8]) -> Result<Message<'_>, InvalidMessage> {
    let nameless = |message: &str| InvalidMessage {
        id: None,
        problem: Problem::bad_message(message),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| nameless("the message is not UTF-8"))?;
    // serde would parse a list as fields in order.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(nameless("the message is not a JSON object"));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text)
        .map_err(|error| nameless(&format!("cannot parse the message: {error}")))?;
    let id = envelope.request_id.and_then(string);
    let id = id.and_then(|id| id.parse().ok());
    let Some(kind) = envelope.kind.and_then(string) else {
        let problem = Problem::bad_message("`type` must be a string");
        return Err(InvalidMessage { id, problem });
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
    /// Parses the fields of this message type.
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let message: String = error.inner().to_string().chars().take(300).collect();
            match error.path().to_string().as_str() {
                "." => Problem::bad_field(&message),
                path => Problem::bad_field(&format!("`{path}`: {message}")),
            }
        })
    }
}
