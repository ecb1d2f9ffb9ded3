//! The fields that named messages have beside `type` and `request_id`.

use gangway_core::Origin;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::permissions::TabId;
use gangway_client::encode::in_url;

/// Bytes of the name of something.
const NAME: usize = 200;

/// The name of a server, session, install or question, as a part of a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // Dots would lead elsewhere, however they are spelled in a path.
        match (1..=NAME).contains(&text.len()) && text != "." && text != ".." {
            true => Ok(Self(text)),
            false => Err(format!("this must be a name of 1 to {NAME} bytes")),
        }
    }
}

impl Name {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// As a part of a path.
    pub(super) fn in_path(&self) -> String {
        in_url(&self.0)
    }
}

/// About a server of tools.
#[derive(Deserialize)]
pub(super) struct OfServer {
    pub(super) server_id: Name,
}

/// About a server of tools, or all of them.
#[derive(Deserialize)]
pub(super) struct OfAnyServer {
    pub(super) server_id: Option<Name>,
}

/// A resource of a server.
#[derive(Deserialize)]
pub(super) struct OfResource {
    pub(super) server_id: Name,
    pub(super) uri: String,
}

/// New secrets of a server.
#[derive(Deserialize)]
pub(super) struct Secrets {
    pub(super) server_id: Name,
    pub(super) secrets: std::collections::BTreeMap<String, String>,
}

/// A server's log.
#[derive(Deserialize)]
pub(super) struct Logs {
    pub(super) server_id: Name,
    pub(super) after: Option<u64>,
}

/// About an install.
#[derive(Deserialize)]
pub(super) struct OfInstall {
    pub(super) install_id: Name,
}

/// A call of a tool.
#[derive(Deserialize)]
pub(super) struct ToolCall {
    pub(super) tool: String,
    pub(super) args: Option<Box<RawValue>>,
}

/// The same, as the route takes it.
#[derive(Serialize)]
pub(super) struct CallTool<'a> {
    pub(super) tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<&'a RawValue>,
}

/// A page of the catalog.
#[derive(Deserialize)]
pub(super) struct Catalog {
    pub(super) cursor: Option<String>,
    pub(super) limit: Option<u64>,
}

/// A search in it.
#[derive(Deserialize)]
pub(super) struct Search {
    pub(super) query: String,
    pub(super) cursor: Option<String>,
    pub(super) limit: Option<u64>,
}

/// What a route of REST takes, as it is.
#[derive(Deserialize)]
pub(super) struct Body {
    pub(super) body: Box<RawValue>,
}

/// The same, where it may be missing.
#[derive(Deserialize)]
pub(super) struct AnyBody {
    pub(super) body: Option<Box<RawValue>>,
}

/// What a model is asked.
#[derive(Deserialize)]
pub(super) struct Question {
    pub(super) body: serde_json::Map<String, serde_json::Value>,
}

/// The model that answers when nobody names one.
#[derive(Deserialize)]
pub(super) struct Active {
    // Not an `Option`, of which serde would make null when it is missing.
    pub(super) model: serde_json::Value,
}

/// A part of the list of sessions.
#[derive(Deserialize)]
pub(super) struct Sessions {
    pub(super) limit: Option<u64>,
    pub(super) before: Option<String>,
}

/// About a session.
#[derive(Deserialize)]
pub(super) struct OfSession {
    pub(super) session_id: Name,
}

/// Something for a session.
#[derive(Deserialize)]
pub(super) struct ForSession {
    pub(super) session_id: Name,
    pub(super) body: Box<RawValue>,
}

/// A message for a session.
#[derive(Deserialize)]
pub(super) struct Prompt {
    pub(super) session_id: Name,
    pub(super) body: Box<RawValue>,
    /// A name under which it takes effect once.
    pub(super) idempotency_key: Option<String>,
}

/// A part of what was said.
#[derive(Deserialize)]
pub(super) struct History {
    pub(super) session_id: Name,
    pub(super) before: Option<u64>,
    pub(super) limit: Option<u64>,
}

/// A session from a number on.
#[derive(Deserialize)]
pub(super) struct Follow {
    pub(super) session_id: Name,
    pub(super) since: Option<u64>,
}

/// About an origin.
#[derive(Deserialize)]
pub(super) struct OfOrigin {
    pub(super) origin: Origin,
}

/// About a question to the person.
#[derive(Deserialize)]
pub(super) struct OfAsk {
    pub(super) ask: Name,
}

/// The answer to one.
#[derive(Deserialize)]
pub(super) struct ForAsk {
    pub(super) ask: Name,
    pub(super) body: Box<RawValue>,
}

/// What an action in the browser came to.
#[derive(Deserialize)]
pub(super) struct ForAct {
    pub(super) act: Name,
    pub(super) body: Box<RawValue>,
}

/// A part of the log of permissions.
#[derive(Deserialize)]
pub(super) struct Audit {
    pub(super) origin: Option<Origin>,
    pub(super) before: Option<u64>,
    pub(super) limit: Option<u64>,
}

/// A chat that a page opened.
#[derive(Deserialize)]
pub(super) struct OfChat {
    pub(super) chat_id: Name,
}

/// The first message on a connection.
#[derive(Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u64,
}

/// What to cancel.
#[derive(Deserialize)]
pub(super) struct Cancel {
    pub(super) target: String,
}

/// A page that wants to talk.
#[derive(Deserialize)]
pub(super) struct PageOpen {
    pub(super) origin: Origin,
    #[serde(deserialize_with = "tab")]
    pub(super) tab: TabId,
    #[serde(default)]
    pub(super) ancestors: Vec<String>,
    pub(super) visit: Option<String>,
    pub(super) seen: Option<u64>,
}

fn tab<'de, D: serde::Deserializer<'de>>(from: D) -> Result<TabId, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// What a page says.
#[derive(Deserialize)]
pub(super) struct PageFrame {
    pub(super) page: String,
    pub(super) frame: String,
}

/// A page that is gone.
#[derive(Deserialize)]
pub(super) struct PageClose {
    pub(super) page: String,
}
