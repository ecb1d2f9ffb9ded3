//! The page's side of the channel: events and requests of an app, and their results.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gangway_apps::manifest::is_event_name;
use gangway_core::{AppEvent, AppRefusal, Error, Event, Launch, Logged, Session, ToolError};
use gangway_files::Watch;
use gangway_http::socket::to_json;
use gangway_pages::{Connected, OfferedTool, ToPage, ToolProblem};
use jiff::Timestamp;
use serde_json::Value;

use super::connection::{ChannelSide, Done, Reaction};
use crate::{
    Weblets,
    deliver::{Emit, Request},
    order::MessageOrder,
    presence::Present,
    wire::channel::{AppFault, PageClientMessage, PageServerMessage},
};

/// Limits of a message in bytes, and of ids and names in characters.
const MESSAGE: usize = (1 << 20) + (64 << 10);
const ID: usize = 100;
const NAME: usize = 200;

/// Message types of a page.
const KNOWN: &str =
    "weblet-event, weblet-request, weblet-cancel, weblet-tools, weblet-tool-result, ping";

/// Pending events and requests per page.
const WAITING: usize = 256;

pub(super) struct Page {
    pub(super) weblets: Arc<Weblets>,
    pub(super) session: Arc<Session>,
    pub(super) launch: Arc<Launch>,
    pub(super) about: Option<Arc<gangway_apps::App>>,
    pub(super) watch: Option<Watch>,
    /// Pending events; true once they are stored.
    pub(super) events: HashMap<String, bool>,
    /// Events that the agent acknowledged before the store did.
    pub(super) early: HashSet<String>,
    pub(super) order: MessageOrder,
    /// It as a page of its session, with its tools.
    pub(super) page: Connected,
    /// Pending requests.
    pub(super) requests: HashSet<String>,
    pub(super) _present: Present,
}

fn encode(message: &PageServerMessage) -> Bytes {
    to_json(message)
}

fn protocol_error(message: impl Into<String>, id: Option<String>) -> Reaction {
    let error = message.into();
    Reaction::Say(vec![encode(&PageServerMessage::Error { error, id })])
}

fn response(request_id: String, result: Result<Value, AppRefusal>) -> Bytes {
    let (success, result, error) = match result {
        Ok(result) => (true, Some(result), None),
        Err(why) => (false, None, Some(why.into())),
    };
    encode(&PageServerMessage::WebletResponse {
        request_id,
        success,
        result,
        error,
    })
}

fn refused(code: &str, message: impl Into<String>) -> AppRefusal {
    AppRefusal {
        code: code.to_owned(),
        message: message.into(),
    }
}

fn nack(id: String, why: AppRefusal) -> Bytes {
    let error: AppFault = why.into();
    encode(&PageServerMessage::WebletNack { id, error })
}

/// An internal error as the app sees it.
fn app_error(code: &str, error: &gangway_core::Error) -> AppRefusal {
    let code = match error {
        gangway_core::Error::TooDeep { .. } => "E-AGT-002",
        _ => code,
    };
    let error = gangway_http::error::ApiError::from(error.clone());
    refused(code, error.message)
}

impl Page {
    fn waits(&self) -> bool {
        self.events.len() + self.requests.len() >= WAITING
    }

    fn emitted(&mut self, id: String, event: String, payload: Value) -> Reaction {
        if id.is_empty() || id.len() > ID {
            return protocol_error(format!("`id` must be 1 to {ID} characters"), None);
        }
        if event.len() > NAME || !is_event_name(&event) {
            let event: String = event.chars().take(NAME).collect();
            let message = format!("Invalid event name: {event}. Use lowercase with hyphens.");
            return Reaction::Say(vec![nack(id, refused("E-AGT-001", message))]);
        }
        if !self.events.contains_key(&id) && self.waits() {
            let message =
                format!("this page can have at most {WAITING} pending events and requests");
            return Reaction::Say(vec![nack(id, refused("E-AGT-003", message))]);
        }
        self.events.insert(id.clone(), false);
        let (weblets, session) = (Arc::clone(&self.weblets), Arc::clone(&self.session));
        let (launch, about) = (Arc::clone(&self.launch), self.about.clone());
        let mut turn = self.order.next();
        Reaction::Work(Box::pin(async move {
            turn.begin().await;
            let emit = Emit {
                id: id.clone(),
                event,
                payload,
            };
            let stored = weblets
                .receive_event(&session, &launch, about.as_deref(), emit, turn)
                .await;
            match stored {
                Ok(Ok(taken)) => Done::Kept(id, taken),
                Ok(Err(why)) => Done::Lost(id, why),
                // The channel is closing, which fails everything that is pending.
                Err(Error::SessionNotFound(_)) => Done::Say(Vec::new()),
                Err(error) => Done::Lost(id, app_error("E-AGT-003", &error)),
            }
        }))
    }

    fn requested(&mut self, request_id: String, action: String, params: Value) -> Reaction {
        if request_id.is_empty() || request_id.len() > ID {
            return protocol_error(format!("`requestId` must be 1 to {ID} characters"), None);
        }
        if action.is_empty() || action.chars().count() > NAME {
            let message = format!("`action` must be 1 to {NAME} characters");
            return Reaction::Say(vec![response(
                request_id,
                Err(refused("E-AGT-006", message)),
            )]);
        }
        if !self.requests.contains(&request_id) && self.waits() {
            let message =
                format!("this page can have at most {WAITING} pending events and requests");
            return Reaction::Say(vec![response(
                request_id,
                Err(refused("E-AGT-005", message)),
            )]);
        }
        self.requests.insert(request_id.clone());
        let (weblets, session) = (Arc::clone(&self.weblets), Arc::clone(&self.session));
        let launch = Arc::clone(&self.launch);
        let mut turn = self.order.next();
        Reaction::Work(Box::pin(async move {
            turn.begin().await;
            let request = Request {
                id: request_id.clone(),
                action,
                params,
            };
            match weblets
                .receive_request(&session, &launch, request, turn)
                .await
            {
                Ok(Some(answer)) => Done::Answered(request_id, answer),
                Ok(None) | Err(Error::SessionNotFound(_)) => Done::Say(Vec::new()),
                Err(error) => Done::Answered(request_id, Err(app_error("E-AGT-005", &error))),
            }
        }))
    }

    /// The page no longer waits, so it must not be delivered later.
    fn cancelled(&mut self, id: String) -> Reaction {
        self.events.remove(&id);
        self.early.remove(&id);
        self.requests.remove(&id);
        let (weblets, launch) = (Arc::clone(&self.weblets), Arc::clone(&self.launch));
        Reaction::Work(Box::pin(async move {
            let inbox = weblets.launches.inbox(&launch);
            if let Err(error) = inbox.cancel(&weblets.launches, &launch, &id).await {
                tracing::warn!(%error, "cannot cancel an event of an app");
            }
            Done::Say(Vec::new())
        }))
    }

    /// The tools that the page offers now, all of them.
    fn offered(&mut self, tools: Vec<OfferedTool>, reset: bool) -> Reaction {
        let accepted = self.page.offer(tools, reset);
        Reaction::Say(vec![encode(&PageServerMessage::ToolsOffered {
            server: accepted.server,
            tools: accepted.tools,
            refused: accepted.refused,
        })])
    }

    fn returned(&mut self, call: u64, result: Result<Value, Option<AppFault>>) -> Reaction {
        let result = result.map_err(|fault| {
            let message = fault.and_then(|fault| fault.message);
            ToolError::from(ToolProblem {
                message: message.unwrap_or_default(),
            })
        });
        match self.page.answer(call, result) {
            true => Reaction::Say(Vec::new()),
            // It may have timed out, or been cancelled.
            false => protocol_error(format!("no call {call} of a tool is open"), None),
        }
    }

    /// Sent once the event is stored too.
    fn acknowledge(&mut self, id: String) -> Reaction {
        self.events.remove(&id);
        let weblets = Arc::clone(&self.weblets);
        Reaction::Work(Box::pin(async move {
            match weblets.hub.settled().await {
                Ok(()) => Done::Say(vec![encode(&PageServerMessage::WebletAck { id })]),
                Err(error) => Done::Say(vec![nack(id, app_error("E-AGT-003", &error))]),
            }
        }))
    }
}

impl ChannelSide for Page {
    fn on_message(&mut self, text: Utf8Bytes) -> Reaction {
        if text.len() > MESSAGE {
            let message = format!("a message must be at most {MESSAGE} bytes");
            return protocol_error(message, None);
        }
        match read::<PageClientMessage>(&text, KNOWN) {
            Ok(PageClientMessage::WebletEvent { id, event, payload }) => {
                self.emitted(id, event, payload)
            }
            Ok(PageClientMessage::WebletRequest {
                request_id,
                action,
                params,
            }) => self.requested(request_id, action, params),
            Ok(PageClientMessage::WebletCancel { id }) => self.cancelled(id),
            Ok(PageClientMessage::WebletTools { tools, reset }) => self.offered(tools, reset),
            Ok(PageClientMessage::WebletToolResult {
                call,
                success,
                result,
                error,
            }) => self.returned(
                call,
                match success {
                    true => Ok(result),
                    false => Err(error),
                },
            ),
            Ok(PageClientMessage::Ping {}) => Reaction::Say(vec![encode(&PageServerMessage::Pong)]),
            Err((message, id)) => protocol_error(message, id),
        }
    }

    fn done(&mut self, done: Done) -> Vec<Bytes> {
        match done {
            Done::Say(message) => message,
            Done::Lost(id, why) => {
                self.events.remove(&id);
                self.early.remove(&id);
                vec![nack(id, why)]
            }
            Done::Kept(id, taken) => {
                if taken || self.early.remove(&id) {
                    self.events.remove(&id);
                    return vec![encode(&PageServerMessage::WebletAck { id })];
                }
                self.events.insert(id, true);
                Vec::new()
            }
            Done::Answered(request, answer) => match self.requests.remove(&request) {
                true => vec![response(request, answer)],
                false => Vec::new(),
            },
        }
    }

    fn logged(&mut self, logged: &Arc<Logged>) -> Reaction {
        let Event::App {
            launch, app_event, ..
        } = &logged.event
        else {
            return Reaction::Say(Vec::new());
        };
        if *launch != self.launch.id {
            return Reaction::Say(Vec::new());
        }
        match app_event {
            AppEvent::Taken { id, .. } => match self.events.get(id) {
                Some(true) => self.acknowledge(id.clone()),
                Some(false) => {
                    self.early.insert(id.clone());
                    Reaction::Say(Vec::new())
                }
                None => Reaction::Say(Vec::new()),
            },
            AppEvent::Answered {
                request, result, ..
            } if self.requests.remove(request) => {
                Reaction::Say(vec![response(request.clone(), result.clone())])
            }
            AppEvent::Told { event, payload, .. } => {
                Reaction::Say(vec![encode(&PageServerMessage::AgentEvent {
                    event: event.clone(),
                    payload: payload.clone(),
                    seq: logged.seq,
                })])
            }
            _ => Reaction::Say(Vec::new()),
        }
    }

    fn other(&mut self) -> BoxFuture<'_, Bytes> {
        let Self { watch, page, .. } = self;
        Box::pin(async move {
            let changed = async {
                if let Some(watch) = watch
                    && watch.next().await.is_some()
                {
                    return;
                }
                std::future::pending().await
            };
            tokio::select! {
                () = changed => encode(&PageServerMessage::Reload),
                next = page.next() => encode(&match next {
                    ToPage::Call(call) => PageServerMessage::ToolCall {
                        call: call.call,
                        name: call.tool,
                        arguments: Value::clone(&call.arguments),
                    },
                    ToPage::Cancel(call) => PageServerMessage::ToolCancel { call },
                }),
            }
        })
    }

    fn closed(&mut self) {
        self.page.close();
    }

    fn ends_at(&self) -> Option<Timestamp> {
        Some(self.launch.expires_at)
    }

    fn closing(&self, reason: &str, message: &str) -> Bytes {
        encode(&PageServerMessage::Closing {
            reason: reason.to_owned(),
            message: message.to_owned(),
        })
    }
}

/// Parses a message; an error has its id.
pub(super) fn read<T: serde::de::DeserializeOwned>(
    text: &Utf8Bytes,
    known: &str,
) -> Result<T, (String, Option<String>)> {
    let message: Value =
        serde_json::from_str(text).map_err(|error| (format!("invalid JSON: {error}"), None))?;
    let named = message.get("id").or_else(|| message.get("requestId"));
    let id = named.and_then(Value::as_str).filter(|id| id.len() <= ID);
    let id = id.map(str::to_owned);
    let kind = message.get("type").and_then(Value::as_str);
    let Some(kind) = kind.map(|kind| kind.chars().take(80).collect::<String>()) else {
        return Err((format!("`type` is missing; it must be one of: {known}"), id));
    };
    if !known.split(", ").any(|one| one == kind) {
        return Err((
            format!("unknown message type {kind:?}; known are: {known}"),
            id,
        ));
    }
    serde_path_to_error::deserialize(message)
        .map_err(|error| (format!("{kind}: {}", error.inner()), id))
}
