//! What the log of a session says about a request to the user that concerns it.

use serde::{Deserialize, Serialize};
use url::Url;

use super::{Actor, AskBody, AskDecision, Asker};
use crate::grant::Scope;

/// Maximum number of logged tools, and of fields of a form.
const NAMES: usize = 64;

/// Logged characters of a text.
const TEXT: usize = 4_000;

/// An entry about a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskEntry {
    /// Somebody asks.
    Opened {
        /// Who.
        asker: Asker,
        /// For what.
        request: AskedFor,
    },
    /// It was answered, or is over without an answer.
    Closed {
        /// How it ended.
        outcome: AskOutcome,
        /// Where the user answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
}

/// What is asked for, without anything secret: no values of forms, and of URLs only the origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskedFor {
    /// To fill in a form, or to visit a page.
    Elicitation {
        /// The message of the asker.
        message: String,
        /// The names of the form's fields.
        fields: Vec<String>,
        /// The origin of the page.
        origin: Option<String>,
    },
    /// To allow one action.
    Action {
        /// Describes the action.
        message: String,
    },
    /// To let an applet or app send a message to the agent.
    Message {
        /// The message.
        text: String,
    },
    /// To grant permissions to an origin.
    Permission {
        /// The requested scopes.
        scopes: Vec<Scope>,
        /// The tools to choose from, as `server/tool`.
        tools: Vec<String>,
        /// The reason that the page gives.
        reason: Option<String>,
        /// The origin of the MCP server that the page provides.
        server: Option<String>,
    },
    /// To join the chat; the user invited the agent.
    Invitation,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskOutcome {
    /// Allowed once.
    Once,
    /// Always allowed.
    Always,
    /// Denied.
    Denied,
    /// Dismissed without a decision.
    Dismissed,
    /// Nobody answered in time.
    Expired,
    /// Withdrawn by its asker.
    Withdrawn,
}

impl AskOutcome {
    /// Whether the user decided.
    #[must_use]
    pub const fn is_decision(self) -> bool {
        matches!(self, Self::Once | Self::Always | Self::Denied)
    }
}

impl From<AskDecision> for AskOutcome {
    fn from(decision: AskDecision) -> Self {
        match decision {
            AskDecision::Once => Self::Once,
            AskDecision::Always => Self::Always,
            AskDecision::Deny => Self::Denied,
            AskDecision::Dismiss => Self::Dismissed,
        }
    }
}

impl From<&AskBody> for AskedFor {
    fn from(body: &AskBody) -> Self {
        match body {
            AskBody::Elicitation {
                message,
                schema,
                url,
            } => {
                let fields = schema
                    .as_ref()
                    .and_then(|form| form["properties"].as_object());
                let fields = fields.into_iter().flat_map(|fields| fields.keys());
                Self::Elicitation {
                    message: short(message),
                    fields: fields.take(NAMES).map(|name| short(name)).collect(),
                    origin: url.as_deref().map(origin),
                }
            }
            AskBody::Action {
                message, url: None, ..
            } => Self::Action {
                message: short(message),
            },
            AskBody::Action { url: Some(url), .. } => Self::Action {
                message: format!("open a page of {}", origin(url)),
            },
            AskBody::Message { text, .. } => Self::Message { text: short(text) },
            AskBody::Permission(request) => {
                let tools = request.tools.iter().flatten().take(NAMES);
                Self::Permission {
                    scopes: request.scopes.clone(),
                    tools: tools.map(|tool| tool.name.to_string()).collect(),
                    reason: request.reason.as_deref().map(short),
                    server: request.server.as_ref().map(|server| origin(&server.url)),
                }
            }
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

/// The rest of a URL may contain a token.
fn origin(url: &str) -> String {
    let origin = Url::parse(url).map(|url| url.origin().ascii_serialization());
    origin.unwrap_or_else(|_| "an invalid URL".to_owned())
}
