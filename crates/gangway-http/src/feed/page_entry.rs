//! Events about pages of a session, as the feed sends them.

use gangway_core as core;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::wire::Source;

/// The kinds of pages, by the protocol that they use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum PageKind {
    /// A launched app.
    App,
    Applet,
    /// A site that uses `window.agent`.
    Site,
    /// A host on the relay.
    Relay,
}

/// An event about a page.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "what",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum PageEntry {
    /// It opened, or was connected to the session.
    Opened { origin: String, title: String },
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
        call_id: String,
        /// `server/tool`.
        tool: String,
        #[ts(type = "JsonValue")]
        arguments: Value,
        by: Source,
    },
    /// The result of such a call.
    Returned {
        call_id: String,
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        /// The error message.
        error: Option<String>,
        /// The error code, as pages know it.
        code: Option<String>,
    },
    /// A message between the page and agents on the relay.
    Message {
        /// Its type, as on the relay.
        kind: String,
        #[ts(type = "JsonValue")]
        payload: Value,
        /// The agent that sent it; none for the page.
        by: Option<String>,
    },
}

impl From<core::PageKind> for PageKind {
    fn from(kind: core::PageKind) -> Self {
        match kind {
            core::PageKind::App => Self::App,
            core::PageKind::Applet => Self::Applet,
            core::PageKind::Site => Self::Site,
            core::PageKind::Relay => Self::Relay,
        }
    }
}

impl From<core::PageEntry> for PageEntry {
    fn from(page_event: core::PageEntry) -> Self {
        match page_event {
            core::PageEntry::Opened { origin, title } => Self::Opened { origin, title },
            core::PageEntry::Left => Self::Left,
            core::PageEntry::Offered { tools } => Self::Offered { tools },
            core::PageEntry::Called {
                call,
                tool,
                arguments,
                by,
            } => Self::Called {
                call_id: call,
                tool,
                arguments,
                by: by.into(),
            },
            core::PageEntry::Returned { call, result, code } => {
                let (result, error) = match result {
                    Ok(result) => (Some(result), None),
                    Err(error) => (None, Some(error)),
                };
                Self::Returned {
                    call_id: call,
                    result,
                    error,
                    code,
                }
            }
            core::PageEntry::Message {
                r#type,
                payload,
                by,
            } => Self::Message {
                kind: r#type,
                payload,
                by,
            },
        }
    }
}
