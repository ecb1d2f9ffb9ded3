//! What the person is asked, and what they answer.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    grant::{GrantDuration, Scope},
    id::{SessionId, Slug},
    origin::Origin,
    secret::new_secret,
    tool::ToolName,
};

/// Names a request; it cannot be guessed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AskId(String);

/// Text that is not the id of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a request id has 32 hexadecimal digits")]
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

/// An open request to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Names it in the answer.
    pub id: AskId,
    /// Who asks.
    pub asker: Asker,
    /// What is asked.
    pub body: AskBody,
    /// Since when it is open.
    pub asked_at: Timestamp,
    /// When it times out, if it does.
    pub expires_at: Option<Timestamp>,
}

/// Who asks the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// A page of this origin.
    Site(Origin),
    /// An MCP server, by its id.
    Server(String),
    /// An app, with its title.
    App(Slug, String),
    /// An applet, with its name.
    Applet(Slug, String),
    /// An agent, by its name.
    Agent(String),
}

/// What the person is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum AskBody {
    /// To fill in a form, or to visit a page: an elicitation.
    Elicitation {
        /// What is asked, in the asker's words.
        message: String,
        /// The form: a JSON Schema of flat properties.
        schema: Option<Value>,
        /// The page to visit instead.
        url: Option<String>,
    },
    /// To allow one action.
    Action {
        /// What the asker wants to do.
        message: String,
        /// Whether the same action can be allowed for good.
        lasting: bool,
        /// The URL to open, where the action is that.
        url: Option<String>,
    },
    /// To let an applet or app send a message to the agent of a session.
    Message {
        /// The session.
        session: SessionId,
        /// The message.
        text: String,
    },
    /// To grant permissions to an origin.
    Permission(PermissionRequest),
}

/// Permissions that pages of an origin request.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRequest {
    /// The origin of the page in whose frame the asker is.
    pub embedder: Option<Origin>,
    /// What is requested and not granted yet.
    pub scopes: Vec<Scope>,
    /// Why, in the page's words.
    pub reason: Option<String>,
    /// The tools to choose from, where it is about tools.
    pub tools: Option<Vec<RequestedTool>>,
    /// An MCP server that the page brings along.
    pub server: Option<RequestedServer>,
    /// Whether the origin can be allowed once only, since it is not authenticated.
    pub once_only: bool,
    /// How many requests of the same origin come after it.
    pub waiting: usize,
}

/// A tool that a permission request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedTool {
    /// `server/tool`.
    pub name: ToolName,
    /// In its server's words.
    pub description: String,
    /// Whether the page named it.
    pub named: bool,
}

/// An MCP server that a page brings along, in the page's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedServer {
    /// Where it is.
    pub url: String,
    /// Its display name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The tools that it is said to have.
    pub tools: Vec<String>,
}

/// What the person decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskDecision {
    /// Yes, this time.
    Once,
    /// Yes, from now on.
    Always,
    /// No.
    Deny,
    /// No decision: the request was closed, or timed out.
    #[default]
    Dismiss,
}

/// An answer of the person.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The decision.
    pub decision: AskDecision,
    /// The form, filled in.
    pub content: Option<Map<String, Value>>,
    /// The tools of a permission request that stay selected; all by default.
    pub tools: Option<Vec<ToolName>>,
    /// How long `Always` lasts.
    pub duration: Option<GrantDuration>,
    /// Where the person answered, for the audit log.
    pub by: By,
}

/// Where a decision was made or a permission used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// On one of our pages.
    #[default]
    Person,
    /// In a terminal.
    Terminal,
    /// Through the browser extension.
    Extension,
    /// By a page that includes the script.
    Page,
}

impl By {
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
