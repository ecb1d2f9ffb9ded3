//! External agents in a chat: Gangway itself is the host there, for all pages of the chat.
//!
//! - `snapshot`: what agents may read: the pages, their tools, the newest messages
//! - `follow`: what happens in the chat, for agents that have joined

mod follow;
mod snapshot;

use std::{num::NonZeroU32, sync::Arc};

use gangway_core::{Hub, PageEntry, PageId, PageKind, SessionId};
use gangway_http::rate_limit::{Quota, TokenBucket};
use gangway_pages::Subject;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::time::Instant;

pub(crate) use follow::follow;

use crate::{
    Code, FromAgent, FromHost, Invitations, Refusal, RelaySession, Seat, others, raw,
    wire::{check_call, payload_of},
};

/// Characters of a message of an agent.
const TEXT: usize = 16_000;

/// Messages that the agents of a chat may send in a minute; each is in the log of the chat.
const MESSAGES: NonZeroU32 = NonZeroU32::new(120).unwrap();

/// The rate limit of the messages of one relay session.
pub(crate) fn message_limit() -> TokenBucket {
    TokenBucket::new(Quota::per_minute(MESSAGES))
}

/// The name of the log's entries about agents that joined a chat.
const NAME: &str = "agents";

/// The chat that a relay session belongs to, where agents joined the chat and not one of its pages.
pub(crate) struct Chat {
    pub(crate) id: SessionId,
    pub(crate) hub: Arc<Hub>,
    pub(crate) invitations: Arc<Invitations>,
    page: PageId,
    /// Held while the chat is read: reading it is the most that an agent can make the server do.
    reading: tokio::sync::Mutex<()>,
}

impl Chat {
    pub(crate) fn new(id: SessionId, hub: Arc<Hub>, invitations: Arc<Invitations>) -> Self {
        Self {
            id,
            hub,
            invitations,
            page: PageId::new(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// What entries of the log are about that are about no page.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            session: self.id,
            page: self.page,
            kind: PageKind::Relay,
            name: NAME.to_owned(),
        }
    }
}

impl RelaySession {
    /// Whether the chat must be followed for its agents from now on.
    pub(crate) fn begins_following(&self) -> bool {
        let mut room = self.lock();
        !std::mem::replace(&mut room.is_followed, true)
    }

    /// Whether no agent is left for whom the chat is followed.
    fn stops_following(&self) -> bool {
        let mut room = self.lock();
        room.is_followed = !room.agents.is_empty();
        !room.is_followed
    }

    /// Disconnects the agents: the chat was deleted, or its log cannot be read.
    fn end_following(&self, deleted: bool) {
        let mut room = self.lock();
        room.is_followed = false;
        room.is_over = deleted;
        room.agents.clear();
        room.empty_since = Some(Instant::now());
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn set_pages(&self, any: bool) {
        let mut room = self.lock();
        if std::mem::replace(&mut room.has_pages, any) != any {
            room.broadcast_presence(0);
        }
    }

    /// The names of the agents, with the invitation that each used.
    pub(crate) fn members(&self) -> Vec<(String, Option<String>)> {
        let room = self.lock();
        let agents = room.agents.values();
        let named = agents.map(|agent| {
            let invitation = agent.invitation.as_ref();
            (agent.name(), invitation.map(|one| one.id.clone()))
        });
        named.collect()
    }
}

#[derive(Deserialize)]
struct MessagePayload {
    text: String,
}

/// A request or message of an agent that joined a chat.
pub(crate) fn request(
    seat: &Seat,
    chat: &Chat,
    kind: FromAgent,
    id: Option<&str>,
    body: &RawValue,
) -> Result<(), Refusal> {
    match kind {
        FromAgent::SnapshotGet => start_reading(seat, id),
        FromAgent::ToolCall => match check_call(body)? {
            true => others::start(seat, id, body),
            false => {
                let message = "tools of a chat have names such as page-NAME/TOOL; a snapshot lists them in `toolSchema`";
                Err(Refusal::new(Code::UnknownTool, message))
            }
        },
        FromAgent::AgentMessage => {
            let message: MessagePayload = payload_of(body, "text must be a string")?;
            let length = message.text.chars().count();
            if length == 0 || length > TEXT {
                let message = format!("text must have 1 to {TEXT} characters, but has {length}");
                return Err(Refusal::new(Code::InvalidParams, message));
            }
            if !seat.session().lock().messages.take() {
                let message = format!("agents may send at most {MESSAGES} messages in a minute");
                return Err(Refusal::new(Code::ToolExecutionFailed, message));
            }
            let entry = PageEntry::Message {
                r#type: kind.name().to_owned(),
                payload: json!({ "text": message.text }),
                by: Some(seat.asker().label().to_owned()),
            };
            seat.session().others.pages.log(chat.subject(), entry);
            Ok(())
        }
        // Nothing in a chat shows it.
        FromAgent::AgentStatus => Ok(()),
        FromAgent::SessionStart | FromAgent::SessionReset | FromAgent::SessionEnd => {
            let message = format!(
                "{} needs a page on the relay; join its relay session instead of the chat",
                kind.name()
            );
            Err(Refusal::new(Code::SessionNotActive, message))
        }
    }
}

/// Reads the chat in a task of its own: pages may take a while to answer.
fn start_reading(seat: &Seat, id: Option<&str>) -> Result<(), Refusal> {
    let (asker, id) = (seat.asker(), id.map(str::to_owned));
    let open = asker.session().others.begin();
    let open = open.map_err(|error| Refusal::new(Code::ToolExecutionFailed, error.to_string()))?;
    tokio::spawn(async move {
        let session = asker.session();
        let id = id.as_deref();
        if let Some(chat) = &session.chat {
            match snapshot::read(chat, &session.others.pages).await {
                Ok(state) => asker.answer(FromHost::SnapshotState, id, &raw(&state)),
                Err(error) => {
                    let message =
                        json!({ "code": Code::SessionNotActive, "message": error.to_string() });
                    asker.answer(FromHost::Error, id, &raw(&message));
                }
            }
        }
        drop(open);
    });
    Ok(())
}
