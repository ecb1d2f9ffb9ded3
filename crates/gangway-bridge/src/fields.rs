//! The fields that named messages have beside `type` and `request_id`.

use gangway_client::encode::in_url;
use gangway_core::{Origin, TabId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes of the name of something.
const NAME: usize = 200;

/// The name of a server, session, install or question, as a part of a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // Dots would lead elsewhere, however they are spelled in a path.
        match (1..=NAME).contains(&text.len()) && text != "." && text != ".." {
            true => Ok(Self(text)),
            false => Err(format!("must be 1 to {NAME} bytes long")),
        }
    }
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// As a part of a path.
    pub(crate) fn in_path(&self) -> String {
        in_url(&self.0)
    }
}

/// About an MCP server.
#[derive(Deserialize)]
pub(crate) struct OfServer {
    pub(crate) server_id: Name,
}

/// About an MCP server, or all of them.
#[derive(Deserialize)]
pub(crate) struct OfAnyServer {
    pub(crate) server_id: Option<Name>,
}

/// A resource of a server.
#[derive(Deserialize)]
pub(crate) struct OfResource {
    pub(crate) server_id: Name,
    pub(crate) uri: String,
}

/// New secrets of a server.
#[derive(Deserialize)]
pub(crate) struct Secrets {
    pub(crate) server_id: Name,
    pub(crate) secrets: std::collections::BTreeMap<String, String>,
}

/// A server's log.
#[derive(Deserialize)]
pub(crate) struct Logs {
    pub(crate) server_id: Name,
    pub(crate) after: Option<u64>,
}

/// About an install.
#[derive(Deserialize)]
pub(crate) struct OfInstall {
    pub(crate) install_id: Name,
}

/// A call of a tool.
#[derive(Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) tool: String,
    pub(crate) args: Option<Box<RawValue>>,
}

/// The same, as the route takes it.
#[derive(Serialize)]
pub(crate) struct CallTool<'a> {
    pub(crate) tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<&'a RawValue>,
}

/// A page of the catalog.
#[derive(Deserialize)]
pub(crate) struct Catalog {
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<u64>,
}

/// A search in it.
#[derive(Deserialize)]
pub(crate) struct Search {
    pub(crate) query: String,
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<u64>,
}

/// What a route of REST takes, as it is.
#[derive(Deserialize)]
pub(crate) struct Body {
    pub(crate) body: Box<RawValue>,
}

/// The same, where it may be missing.
#[derive(Deserialize)]
pub(crate) struct AnyBody {
    pub(crate) body: Option<Box<RawValue>>,
}

/// What a model is asked.
#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) body: serde_json::Map<String, serde_json::Value>,
}

/// The model that answers when nobody names one.
#[derive(Deserialize)]
pub(crate) struct Active {
    // Not an `Option`, of which serde would make null when it is missing.
    pub(crate) model: serde_json::Value,
}

/// A part of the list of sessions.
#[derive(Deserialize)]
pub(crate) struct Sessions {
    pub(crate) limit: Option<u64>,
    pub(crate) before: Option<String>,
}

/// About a session.
#[derive(Deserialize)]
pub(crate) struct OfSession {
    pub(crate) session_id: Name,
}

/// Something for a session.
#[derive(Deserialize)]
pub(crate) struct ForSession {
    pub(crate) session_id: Name,
    pub(crate) body: Box<RawValue>,
}

/// A message for a session.
#[derive(Deserialize)]
pub(crate) struct Prompt {
    pub(crate) session_id: Name,
    pub(crate) body: Box<RawValue>,
    /// A name under which it takes effect once.
    pub(crate) idempotency_key: Option<String>,
}

/// A part of what was said.
#[derive(Deserialize)]
pub(crate) struct History {
    pub(crate) session_id: Name,
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
}

/// A session from a number on.
#[derive(Deserialize)]
pub(crate) struct Follow {
    pub(crate) session_id: Name,
    pub(crate) since: Option<u64>,
}

/// About an origin.
#[derive(Deserialize)]
pub(crate) struct OfOrigin {
    pub(crate) origin: Origin,
}

/// About a question to the person.
#[derive(Deserialize)]
pub(crate) struct OfAsk {
    pub(crate) ask: Name,
}

/// The answer to one.
#[derive(Deserialize)]
pub(crate) struct ForAsk {
    pub(crate) ask: Name,
    pub(crate) body: Box<RawValue>,
}

/// What an action in the browser came to.
#[derive(Deserialize)]
pub(crate) struct ForAct {
    pub(crate) act: Name,
    pub(crate) body: Box<RawValue>,
}

/// A part of the log of permissions.
#[derive(Deserialize)]
pub(crate) struct Audit {
    pub(crate) origin: Option<Origin>,
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
}

/// A chat that a page opened.
#[derive(Deserialize)]
pub(crate) struct OfChat {
    pub(crate) chat_id: Name,
}

/// The first message on a connection.
#[derive(Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u64,
}

/// What to cancel.
#[derive(Deserialize)]
pub(crate) struct Cancel {
    pub(crate) target: String,
}

/// A page that wants to talk.
#[derive(Deserialize)]
pub(crate) struct PageOpen {
    pub(crate) origin: Origin,
    #[serde(deserialize_with = "tab")]
    pub(crate) tab: TabId,
    #[serde(default)]
    pub(crate) ancestors: Vec<String>,
    pub(crate) visit: Option<String>,
    pub(crate) seen: Option<u64>,
}

fn tab<'de, D: serde::Deserializer<'de>>(from: D) -> Result<TabId, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// What a page says.
#[derive(Deserialize)]
pub(crate) struct PageFrame {
    pub(crate) page: String,
    pub(crate) frame: String,
}

/// A page that is gone.
#[derive(Deserialize)]
pub(crate) struct PageClose {
    pub(crate) page: String,
}
