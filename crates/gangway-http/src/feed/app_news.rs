//! What happens between an app and its agent, as the feed tells it.

use gangway_core as core;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::wire::Source;

/// Something that happened between an app and its agent.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "what",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum AppNews {
    /// The app was opened for an agent.
    Launched {
        /// What the agent calls itself.
        agent: String,
    },
    /// The app tells the agent something.
    Event {
        /// The name that the page gave it.
        id: String,
        /// What kind of thing.
        event: String,
        /// More about it.
        #[ts(type = "JsonValue")]
        payload: Value,
        /// False when the app's manifest lists its events, and this one is not among them.
        declared: bool,
        /// Whether a message to the agent carries it.
        turn: bool,
    },
    /// The agent has it.
    Taken {
        /// The name that the page gave it.
        id: String,
        /// Who took it.
        by: String,
    },
    /// The app wants something done.
    Request {
        /// The name that the page gave the request.
        request_id: String,
        /// What is to be done.
        action: String,
        /// With what.
        #[ts(type = "JsonValue")]
        params: Value,
    },
    /// From here on it may have happened.
    Begun {
        /// The name that the page gave the request.
        request_id: String,
    },
    /// It was done, or not.
    Answer {
        /// The name that the page gave the request.
        request_id: String,
        /// What came of it.
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        /// Why nothing did: the code that the page sees.
        code: Option<String>,
        /// Why nothing did, in words.
        error: Option<String>,
        /// Who answered.
        by: String,
    },
    /// The agent tells the app something.
    Told {
        /// What kind of thing.
        event: String,
        /// More about it.
        #[ts(type = "JsonValue")]
        payload: Value,
        /// Who said it.
        source: Source,
    },
}

impl From<core::AppNews> for AppNews {
    fn from(news: core::AppNews) -> Self {
        match news {
            core::AppNews::Launched { agent } => Self::Launched { agent },
            core::AppNews::Emitted {
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
            core::AppNews::Taken { id, by } => Self::Taken { id, by },
            core::AppNews::Requested {
                request,
                action,
                params,
            } => Self::Request {
                request_id: request,
                action,
                params,
            },
            core::AppNews::Begun { request } => Self::Begun {
                request_id: request,
            },
            core::AppNews::Answered {
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
            core::AppNews::Told {
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
