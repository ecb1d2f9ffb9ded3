//! The fields of messages in addition to `type` and `request_id`.

use gangway_client::encode::in_url;
use gangway_core::{Origin, TabId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Length limit of names.
const NAME: usize = 200;

/// The name of a server, session, installation or request, for use in a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // Dots would change the path, even when percent-encoded.
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

    /// Percent-encoded.
    pub(crate) fn in_path(&self) -> String {
        in_url(&self.0)
    }
}

#[derive(Deserialize)]
pub(crate) struct ServerFields {
    pub(crate) server_id: Name,
}

#[derive(Deserialize)]
pub(crate) struct AnyServerFields {
    pub(crate) server_id: Option<Name>,
}

#[derive(Deserialize)]
pub(crate) struct ResourceFields {
    pub(crate) server_id: Name,
    pub(crate) uri: String,
}

#[derive(Deserialize)]
pub(crate) struct Secrets {
    pub(crate) server_id: Name,
    pub(crate) secrets: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(crate) struct Logs {
    pub(crate) server_id: Name,
    pub(crate) after: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct InstallFields {
    pub(crate) install_id: Name,
}

#[derive(Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) tool: String,
    pub(crate) args: Option<Box<RawValue>>,
}

/// The body of the REST route.
#[derive(Serialize)]
pub(crate) struct CallTool<'a> {
    pub(crate) tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct Catalog {
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct Search {
    pub(crate) query: String,
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<u64>,
}

/// The body of a REST route, unchanged.
#[derive(Deserialize)]
pub(crate) struct Body {
    pub(crate) body: Box<RawValue>,
}

/// The same, optional.
#[derive(Deserialize)]
pub(crate) struct AnyBody {
    pub(crate) body: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) body: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
pub(crate) struct Active {
    // Not an `Option`, which serde would default to null.
    pub(crate) model: serde_json::Value,
}

#[derive(Deserialize)]
pub(crate) struct Sessions {
    pub(crate) limit: Option<u64>,
    pub(crate) before: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct SessionPathFields {
    pub(crate) session_id: Name,
}

#[derive(Deserialize)]
pub(crate) struct SessionFields {
    pub(crate) session_id: Name,
    pub(crate) body: Box<RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct Prompt {
    pub(crate) session_id: Name,
    pub(crate) body: Box<RawValue>,
    pub(crate) idempotency_key: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct History {
    pub(crate) session_id: Name,
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct Follow {
    pub(crate) session_id: Name,
    pub(crate) since: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct OriginFields {
    pub(crate) origin: Origin,
}

#[derive(Deserialize)]
pub(crate) struct AskPath {
    pub(crate) ask: Name,
}

#[derive(Deserialize)]
pub(crate) struct AskFields {
    pub(crate) ask: Name,
    pub(crate) body: Box<RawValue>,
}

/// The result of a browser action.
#[derive(Deserialize)]
pub(crate) struct BrowserActFields {
    pub(crate) act: Name,
    pub(crate) body: Box<RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct Audit {
    pub(crate) origin: Option<Origin>,
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct ChatFields {
    pub(crate) chat_id: Name,
}

#[derive(Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u64,
}

#[derive(Deserialize)]
pub(crate) struct Cancel {
    pub(crate) target: String,
}

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

#[derive(Deserialize)]
pub(crate) struct PageFrame {
    pub(crate) page: String,
    pub(crate) frame: String,
}

#[derive(Deserialize)]
pub(crate) struct PageClose {
    pub(crate) page: String,
}
