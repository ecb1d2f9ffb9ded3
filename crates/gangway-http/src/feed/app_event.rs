//! Events between an app and its agent, as the feed sends them.

use gangway_core as core;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::wire::Source;

/// An event between an app and its agent.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "what",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum AppEvent {
    /// The app was launched for an agent.
    Launched {
        /// The name of the agent.
        agent: String,
    },
    /// An event from the app to the agent.
    Event {
        /// The id that the page gave it.
        id: String,
        event: String,
        #[ts(type = "JsonValue")]
        payload: Value,
        /// False when the app's manifest declares events, and this is not one of them.
        declared: bool,
        /// Whether a message to the agent contains it.
        turn: bool,
    },
    /// The agent received the event.
    Taken {
        /// The id that the page gave it.
        id: String,
        by: String,
    },
    /// The app requests an action.
    Request {
        /// The id that the page gave the request.
        request_id: String,
        action: String,
        #[ts(type = "JsonValue")]
        params: Value,
    },
    /// The action started: from here on it may have happened.
    Begun { request_id: String },
    /// The result of the action.
    Answer {
        request_id: String,
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        /// The error code that the page sees.
        code: Option<String>,
        /// The error message.
        error: Option<String>,
        by: String,
    },
    /// An event from the agent to the app.
    Told {
        event: String,
        #[ts(type = "JsonValue")]
        payload: Value,
        source: Source,
    },
}

impl From<core::AppEvent> for AppEvent {
    fn from(app_event: core::AppEvent) -> Self {
        match app_event {
            core::AppEvent::Launched { agent } => Self::Launched { agent },
            core::AppEvent::Emitted {
                id,
                event,
                payload,
                declared,
                turn,
                taken: _,
            } => Self::Event {
                id,
                event,
                payload,
                declared,
                turn,
            },
            core::AppEvent::Taken { id, by } => Self::Taken { id, by },
            core::AppEvent::Requested {
                request,
                action,
                params,
            } => Self::Request {
                request_id: request,
                action,
                params,
            },
            core::AppEvent::Begun { request } => Self::Begun {
                request_id: request,
            },
            core::AppEvent::Answered {
                request,
                result,
                by,
            } => {
                let (result, refused) = match result {
                    Ok(result) => (Some(result), None),
                    Err(refusal) => (None, Some(refusal)),
                };
                let (code, error) = refused.map(|why| (why.code, why.message)).unzip();
                Self::Answer {
                    request_id: request,
                    result,
                    code,
                    error,
                    by,
                }
            }
            core::AppEvent::Told {
                event,
                payload,
                source,
            } => Self::Told {
                event,
                payload,
                source: source.into(),
            },
        }
    }
}
