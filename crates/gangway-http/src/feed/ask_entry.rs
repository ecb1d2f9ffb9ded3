//! Requests to the user in the log of a session, as the feed sends them.

use gangway_core as core;
use serde::Serialize;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::asks::wire::PermissionScope;

/// What the user was asked for; no values of forms, and of URLs only the origin.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum LoggedAsk {
    /// To fill in a form of an MCP server, or to visit a page.
    Elicitation {
        message: String,
        /// The names of the form's fields.
        fields: Vec<String>,
        /// The origin of the page.
        origin: Option<String>,
    },
    /// To allow an action.
    Action { message: String },
    /// To let an applet or app send a message to the agent.
    Message { text: String },
    /// To grant permissions to a site.
    Permission {
        #[ts(as = "Vec<PermissionScope>")]
        #[schema(value_type = Vec<PermissionScope>)]
        scopes: Vec<core::Scope>,
        /// The tools to choose from, as `server/tool`.
        tools: Vec<String>,
        /// Why, in the page's words.
        reason: Option<String>,
        /// The origin of the MCP server that the page brings along.
        server: Option<String>,
    },
    /// To join the chat: the user invited an external agent, or revoked its invitation.
    Invitation,
}

/// How a request to the user ended.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum AskOutcome {
    Once,
    Always,
    Denied,
    Dismissed,
    /// Nobody answered in time.
    Expired,
    /// Its asker withdrew it.
    Withdrawn,
}

/// Where the user answered.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum AskActor {
    /// In a page of Gangway.
    Person,
    Terminal,
    Extension,
    Page,
}

impl From<core::AskedFor> for LoggedAsk {
    fn from(request: core::AskedFor) -> Self {
        use core::AskedFor as From;
        match request {
            From::Elicitation {
                message,
                fields,
                origin,
            } => Self::Elicitation {
                message,
                fields,
                origin,
            },
            From::Action { message } => Self::Action { message },
            From::Message { text } => Self::Message { text },
            From::Permission {
                scopes,
                tools,
                reason,
                server,
            } => Self::Permission {
                scopes,
                tools,
                reason,
                server,
            },
            From::Invitation => Self::Invitation,
        }
    }
}

impl From<core::AskOutcome> for AskOutcome {
    fn from(outcome: core::AskOutcome) -> Self {
        use core::AskOutcome as From;
        match outcome {
            From::Once => Self::Once,
            From::Always => Self::Always,
            From::Denied => Self::Denied,
            From::Dismissed => Self::Dismissed,
            From::Expired => Self::Expired,
            From::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<core::asks::Actor> for AskActor {
    fn from(actor: core::asks::Actor) -> Self {
        use core::asks::Actor as From;
        match actor {
            From::Person => Self::Person,
            From::Terminal => Self::Terminal,
            From::Extension => Self::Extension,
            From::Page => Self::Page,
        }
    }
}
