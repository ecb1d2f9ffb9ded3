//! Pages: the browser-side participants of sessions, whichever protocol they use.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{event::Source, id::NotAnId};

/// The id of an open page; ids sort by the time of opening. A page that is reloaded is another page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageId(Uuid);

impl PageId {
    /// A new, unique id.
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for PageId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p-{}", self.0.simple())
    }
}

impl FromStr for PageId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        text.strip_prefix("p-")
            // Only the plain form, so that each page has a single notation.
            .filter(|id| id.len() == 32 && id.bytes().all(hex))
            .and_then(|id| Uuid::try_parse(id).ok())
            .map(Self)
            .ok_or_else(|| NotAnId::new(text, "a page id"))
    }
}

impl TryFrom<String> for PageId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl From<PageId> for String {
    fn from(id: PageId) -> Self {
        id.to_string()
    }
}

/// The kinds of pages, by the protocol that they use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// A launched app.
    App,
    /// An applet.
    Applet,
    /// A site that uses `window.agent`.
    Site,
    /// A host on the relay.
    Relay,
}

impl PageKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Applet => "applet",
            Self::Site => "site",
            Self::Relay => "relay",
        }
    }
}

/// An entry of the log about a page of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PageEntry {
    /// It opened, or was connected to the session.
    Opened {
        /// Its origin.
        origin: String,
        /// Its title.
        title: String,
    },
    /// It was closed, or disconnected from the session.
    Left,
    /// It offers other tools.
    Offered {
        /// The names of all of them.
        tools: Vec<String>,
    },
    /// A caller outside of the session's turns called one of its tools.
    Called {
        /// Identifies the call in this session.
        call: String,
        /// `server/tool`.
        tool: String,
        /// The arguments.
        arguments: Value,
        /// Who called it.
        by: Source,
    },
    /// The result of such a call.
    Returned {
        /// The call.
        call: String,
        /// The result, or an error.
        result: std::result::Result<Value, String>,
        /// The error code, as pages know it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// A message between the page and agents on the relay.
    Message {
        /// Its type, as on the relay.
        r#type: String,
        /// Its content.
        payload: Value,
        /// The agent that sent it; `None` for the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
}
