//! Requests to the user, and the answers.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    grant::{GrantDuration, Scope},
    id::{SessionId, Slug},
    origin::Origin,
    secret::new_secret,
    tool::ToolName,
};

/// Id of a request; it cannot be guessed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AskId(String);

/// Not a request id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a request id must be 32 hexadecimal digits")]
pub struct NoAskId;

impl AskId {
    pub(super) fn new() -> Self {
        let mut text = new_secret();
        text.truncate(32);
        Self(text)
    }
}

impl FromStr for AskId {
    type Err = NoAskId;

    fn from_str(text: &str) -> Result<Self, NoAskId> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 32 && text.bytes().all(digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(NoAskId)
    }
}

impl fmt::Display for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An open request to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Its id.
    pub id: AskId,
    /// Who asks.
    pub asker: Asker,
    /// What is asked.
    pub body: AskBody,
    /// When it was opened.
    pub asked_at: Timestamp,
    /// When it times out, if ever.
    pub expires_at: Option<Timestamp>,
}

/// Who asks the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// A page of this origin.
    Site(Origin),
    /// An MCP server, by id.
    Server(String),
    /// An app, by title.
    App(Slug, String),
    /// An applet, by name.
    Applet(Slug, String),
    /// An agent, by name.
    Agent(String),
}

/// What the user is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum AskBody {
    /// An elicitation: to fill in a form, or to visit a page.
    Elicitation {
        /// The message of the asker.
        message: String,
        /// The form: a JSON Schema of flat properties.
        schema: Option<Value>,
        /// The page to visit instead.
        url: Option<String>,
    },
    /// To allow one action.
    Action {
        /// Describes the action.
        message: String,
        /// Whether "always allow" is offered.
        lasting: bool,
        /// The URL to open, if that is the action.
        url: Option<String>,
    },
    /// To let an applet or app send a message to the agent.
    Message {
        /// The session.
        session: SessionId,
        /// The message.
        text: String,
    },
    /// To grant permissions to an origin.
    Permission(PermissionRequest),
}

/// A permission request of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRequest {
    /// The origin of the parent page.
    pub embedder: Option<Origin>,
    /// The requested scopes that are not granted yet.
    pub scopes: Vec<Scope>,
    /// The reason that the page gives.
    pub reason: Option<String>,
    /// The tools to choose from, if a scope is about tools.
    pub tools: Option<Vec<RequestedTool>>,
    /// An MCP server that the page provides.
    pub server: Option<RequestedServer>,
    /// Whether only "allow once" is offered, since the origin is not authenticated.
    pub once_only: bool,
    /// How many more requests of the origin are queued.
    pub waiting: usize,
}

/// A tool in a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedTool {
    /// `server/tool`.
    pub name: ToolName,
    /// Description by its server.
    pub description: String,
    /// Whether the page asked for it by name.
    pub named: bool,
}

/// An MCP server that a page provides, as the page describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedServer {
    /// Its URL.
    pub url: String,
    /// Its display name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its tools, according to the page.
    pub tools: Vec<String>,
}

/// The user's decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskDecision {
    /// Allow once.
    Once,
    /// Always allow.
    Always,
    /// Deny.
    Deny,
    /// No decision: dismissed or timed out.
    #[default]
    Dismiss,
}

/// The user's answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The decision.
    pub decision: AskDecision,
    /// The form's values.
    pub content: Option<Map<String, Value>>,
    /// The selected tools of a permission request; default is all.
    pub tools: Option<Vec<ToolName>>,
    /// How long `Always` lasts.
    pub duration: Option<GrantDuration>,
    /// Where the user answered, for the audit log.
    pub by: Actor,
}

/// Where a decision was made or a permission used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// One of our pages.
    #[default]
    Person,
    /// A terminal.
    Terminal,
    /// The browser extension.
    Extension,
    /// A page that includes the script.
    Page,
}

impl Actor {
    /// Its name in the audit log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Terminal => "terminal",
            Self::Extension => "extension",
            Self::Page => "page",
        }
    }
}
