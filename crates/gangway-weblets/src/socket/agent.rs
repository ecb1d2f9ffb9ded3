//! The agent's side of the channel: events and requests of a launch's app, for an external agent.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gangway_apps::manifest::is_event_name;
use gangway_core::{AppNews, AppRefusal, Event, Launch, Logged, Session, Source};
use gangway_http::{error::ApiError, socket::to_json};
use jiff::Timestamp;

use super::{
    connection::{Done, Next, Side},
    page::read,
};
use crate::{
    Weblets,
    launch::is_ours,
    order::{Order, Turn},
    presence::Present,
    wire::channel::{AgentSays, AgentTold, AppFault},
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
    pub(super) order: Order,
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
pub(super) fn waiting(launch: &Launch, seq: u64, at: Timestamp, news: &AppNews) -> Option<Bytes> {
    let (timestamp, weblet) = (at.as_millisecond(), launch.app.to_string());
    let told = match news.clone() {
        AppNews::Emitted {
            id, event, payload, ..
        } => AgentTold::WebletEvent {
            id,
            event,
            payload,
            timestamp,
            weblet,
            seq,
        },
        AppNews::Requested {
            request,
            action,
            params,
        } => AgentTold::WebletRequest {
            request_id: request,
            action,
            params,
            timestamp,
            weblet,
            seq,
        },
        _ => return None,
    };
    Some(to_json(&told))
}

fn wrong(words: impl Into<String>, id: Option<String>) -> Bytes {
    let error = words.into();
    to_json(&AgentTold::Error { error, id })
}

fn broken(error: gangway_core::Error, id: Option<String>) -> Bytes {
    wrong(ApiError::from(error).message, id)
}

impl Agent {
    async fn obey(
        weblets: Arc<Weblets>,
        session: Arc<Session>,
        launch: Arc<Launch>,
        says: AgentSays,
        mut turn: Turn,
    ) -> Option<Bytes> {
        turn.begin().await;
        let by = launch.agent.name.clone();
        match says {
            AgentSays::WebletAck { id } => match weblets
                .launches
                .acknowledge(&session, &launch, &id, &by)
                .await
            {
                Ok(true) => None,
                Ok(false) => Some(wrong("event not found", Some(id))),
                Err(error) => Some(broken(error, Some(id))),
            },
            AgentSays::WebletResponse {
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
                    Ok(false) => Some(wrong("request not found", Some(id))),
                    Err(error) => Some(broken(error, Some(id))),
                }
            }
            AgentSays::AgentEvent { event, payload, id } => {
                if !is_event_name(&event) {
                    let words = "`event` must be lowercase letters, digits and hyphens, beginning with a letter";
                    return Some(wrong(words, id));
                }
                let source = Source::Agent { name: by };
                let sent = weblets
                    .launches
                    .send_event(&session, &launch, event, payload, source, Some(turn))
                    .await;
                Some(match sent {
                    Ok(seq) => to_json(&AgentTold::Sent { id, seq }),
                    Err(error) => broken(error, id),
                })
            }
            AgentSays::Ping {} => Some(to_json(&AgentTold::Pong)),
        }
    }
}

impl Side for Agent {
    fn heard(&mut self, text: Utf8Bytes) -> Next {
        if text.len() > MESSAGE {
            let words = format!("a message must be at most {MESSAGE} bytes");
            return Next::Say(vec![wrong(words, None)]);
        }
        match read::<AgentSays>(&text, "weblet-ack, weblet-response, agent-event, ping") {
            Ok(says) => {
                let turn = self.order.next();
                let (weblets, session) = (Arc::clone(&self.weblets), Arc::clone(&self.session));
                let obey = Self::obey(weblets, session, Arc::clone(&self.launch), says, turn);
                Next::Work(Box::pin(async move {
                    Done::Say(obey.await.into_iter().collect())
                }))
            }
            Err((words, id)) => Next::Say(vec![wrong(words, id)]),
        }
    }

    fn done(&mut self, done: Done) -> Vec<Bytes> {
        match done {
            Done::Say(said) => said,
            Done::Kept(..) | Done::Lost(..) | Done::Answered(..) => Vec::new(),
        }
    }

    fn logged(&mut self, logged: &Arc<Logged>) -> Next {
        let Event::App { launch, news, .. } = &logged.event else {
            return Next::Say(Vec::new());
        };
        let mine = match news {
            AppNews::Emitted { taken, .. } => !taken,
            AppNews::Requested { action, .. } => !is_ours(&self.launch, action),
            _ => false,
        };
        let mine = mine && *launch == self.launch.id;
        let said = mine.then(|| waiting(&self.launch, logged.seq, logged.at, news));
        Next::Say(said.flatten().into_iter().collect())
    }

    fn other(&mut self) -> BoxFuture<'_, Bytes> {
        Box::pin(std::future::pending())
    }

    fn closing(&self, reason: &str, message: &str) -> Bytes {
        to_json(&AgentTold::Closing {
            reason: reason.to_owned(),
            message: message.to_owned(),
        })
    }
}
