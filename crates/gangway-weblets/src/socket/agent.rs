//! The agent's side of the channel: events and requests of a launch's app, for an external agent.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gangway_apps::manifest::is_event_name;
use gangway_core::{AppEvent, AppRefusal, Event, Launch, Logged, Session, Source};
use gangway_http::{error::ApiError, socket::to_json};
use jiff::Timestamp;

use super::{
    connection::{ChannelSide, Done, Reaction},
    page::read,
};
use crate::{
    Weblets,
    launch::is_ours,
    order::{MessageOrder, MessageTurn},
    presence::Present,
    wire::channel::{AgentClientMessage, AgentServerMessage, AppFault},
};

/// Size limit of a message.
const MESSAGE: usize = (1 << 20) + (64 << 10);

/// Length limits of an error code and message.
const CODE: usize = 40;
const WORDS: usize = 2000;

pub(super) struct Agent {
    pub(super) weblets: Arc<Weblets>,
    pub(super) session: Arc<Session>,
    pub(super) launch: Arc<Launch>,
    pub(super) order: MessageOrder,
    pub(super) _present: Present,
}

/// An agent's error, in the app's format.
fn refusal(fault: Option<AppFault>) -> AppRefusal {
    let (code, message) = fault.map_or((None, None), |fault| (fault.code, fault.message));
    let short = |text: String, most: usize| text.chars().take(most).collect::<String>();
    AppRefusal {
        code: code.map_or_else(|| "E-AGT-004".to_owned(), |code| short(code, CODE)),
        // Without a message the page names the denied action.
        message: message
            .map(|message| short(message, WORDS))
            .unwrap_or_default(),
    }
}

/// An item as a message to the agent; `None` if it is not for the agent.
pub(super) fn waiting(
    launch: &Launch,
    seq: u64,
    at: Timestamp,
    app_event: &AppEvent,
) -> Option<Bytes> {
    let (timestamp, weblet) = (at.as_millisecond(), launch.app.to_string());
    let message = match app_event.clone() {
        AppEvent::Emitted {
            id, event, payload, ..
        } => AgentServerMessage::WebletEvent {
            id,
            event,
            payload,
            timestamp,
            weblet,
            seq,
        },
        AppEvent::Requested {
            request,
            action,
            params,
        } => AgentServerMessage::WebletRequest {
            request_id: request,
            action,
            params,
            timestamp,
            weblet,
            seq,
        },
        _ => return None,
    };
    Some(to_json(&message))
}

fn protocol_error(message: impl Into<String>, id: Option<String>) -> Bytes {
    let error = message.into();
    to_json(&AgentServerMessage::Error { error, id })
}

fn server_error(error: gangway_core::Error, id: Option<String>) -> Bytes {
    protocol_error(ApiError::from(error).message, id)
}

impl Agent {
    async fn handle(
        weblets: Arc<Weblets>,
        session: Arc<Session>,
        launch: Arc<Launch>,
        says: AgentClientMessage,
        mut turn: MessageTurn,
    ) -> Option<Bytes> {
        turn.begin().await;
        let by = launch.agent.name.clone();
        match says {
            AgentClientMessage::WebletAck { id } => match weblets
                .launches
                .acknowledge(&session, &launch, &id, &by)
                .await
            {
                Ok(true) => None,
                Ok(false) => Some(protocol_error("event not found", Some(id))),
                Err(error) => Some(server_error(error, Some(id))),
            },
            AgentClientMessage::WebletResponse {
                request_id: id,
                success,
                result,
                error,
            } => {
                let result = match success {
                    true => Ok(result),
                    false => Err(refusal(error)),
                };
                match weblets
                    .launches
                    .answer_request(&session, &launch, &id, result, &by)
                    .await
                {
                    Ok(true) => None,
                    Ok(false) => Some(protocol_error("request not found", Some(id))),
                    Err(error) => Some(server_error(error, Some(id))),
                }
            }
            AgentClientMessage::AgentEvent { event, payload, id } => {
                if !is_event_name(&event) {
                    let message = "`event` must be lowercase letters, digits and hyphens, beginning with a letter";
                    return Some(protocol_error(message, id));
                }
                let source = Source::Agent { name: by };
                let sent = weblets
                    .launches
                    .send_event(&session, &launch, event, payload, source, Some(turn))
                    .await;
                Some(match sent {
                    Ok(seq) => to_json(&AgentServerMessage::Sent { id, seq }),
                    Err(error) => server_error(error, id),
                })
            }
            AgentClientMessage::Ping {} => Some(to_json(&AgentServerMessage::Pong)),
        }
    }
}

impl ChannelSide for Agent {
    fn on_message(&mut self, text: Utf8Bytes) -> Reaction {
        if text.len() > MESSAGE {
            let message = format!("a message must be at most {MESSAGE} bytes");
            return Reaction::Say(vec![protocol_error(message, None)]);
        }
        match read::<AgentClientMessage>(&text, "weblet-ack, weblet-response, agent-event, ping") {
            Ok(says) => {
                let turn = self.order.next();
                let (weblets, session) = (Arc::clone(&self.weblets), Arc::clone(&self.session));
                let obey = Self::handle(weblets, session, Arc::clone(&self.launch), says, turn);
                Reaction::Work(Box::pin(async move {
                    Done::Say(obey.await.into_iter().collect())
                }))
            }
            Err((message, id)) => Reaction::Say(vec![protocol_error(message, id)]),
        }
    }

    fn done(&mut self, done: Done) -> Vec<Bytes> {
        match done {
            Done::Say(message) => message,
            Done::Kept(..) | Done::Lost(..) | Done::Answered(..) => Vec::new(),
        }
    }

    fn logged(&mut self, logged: &Arc<Logged>) -> Reaction {
        let Event::App {
            launch, app_event, ..
        } = &logged.event
        else {
            return Reaction::Say(Vec::new());
        };
        let mine = match app_event {
            AppEvent::Emitted { taken, .. } => !taken,
            AppEvent::Requested { action, .. } => !is_ours(&self.launch, action),
            _ => false,
        };
        let mine = mine && *launch == self.launch.id;
        let message = mine.then(|| waiting(&self.launch, logged.seq, logged.at, app_event));
        Reaction::Say(message.flatten().into_iter().collect())
    }

    fn other(&mut self) -> BoxFuture<'_, Bytes> {
        Box::pin(std::future::pending())
    }

    fn closing(&self, reason: &str, message: &str) -> Bytes {
        to_json(&AgentServerMessage::Closing {
            reason: reason.to_owned(),
            message: message.to_owned(),
        })
    }
}
