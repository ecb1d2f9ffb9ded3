//! One connection to the relay: it joins once, then sends messages of its role.

mod joining;
mod readable;
mod rights;
mod study;

use std::{borrow::Cow, collections::VecDeque, sync::Arc, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes};
use futures_util::future::BoxFuture;
use gangway_core::SubscriptionEnd;
use gangway_http::{
    auth::Admitted,
    socket::{Ending, Handled, Incoming, Peer, Socket, serve},
};
pub(crate) use readable::{Readable, is_plain};
use serde_json::json;
use tokio::time::Instant;

use self::{
    joining::join,
    rights::{Pass, renewed},
};
use crate::{
    AppPage, Code, FromAgent, FromHost, Inbox, OutMessage, Refusal, RelayState, Role, Seat,
    VERSION, chat, error_text, message_text, others,
    wire::{RelayMessage, check_call, id_of},
};

/// Timeout for joining, so that idle connections are not held.
const JOIN: Duration = Duration::from_secs(60);

/// The first message to a client that joined, its inbox, and the token that it used, if any.
type Welcome = (Utf8Bytes, Inbox, Option<Pass>);

/// An error, and the id of the request that it answers.
type Refused = (Refusal, Option<String>);

pub struct Caller {
    /// Its access before joining.
    pub admitted: Admitted,
    /// Its app, if it connected from an app's host.
    pub page: Option<AppPage>,
    /// The token in its URL.
    pub token: Option<String>,
}

/// Serves one client until it disconnects.
pub async fn run(state: Arc<RelayState>, caller: Caller, socket: Socket) {
    let hello = message_text("relay.hello", None, &json!({ "protocol": VERSION }));
    let mut connection = Connection {
        caller: Arc::new(caller),
        seat: None,
        mail: None,
        joined_by: None,
        join_by: Instant::now() + JOIN,
        work: None,
        out: VecDeque::from([hello]),
        replaced: false,
        state,
    };
    let (state, caller) = (
        Arc::clone(&connection.state),
        Arc::clone(&connection.caller),
    );
    serve(&state.http, &caller.admitted, socket, &mut connection).await;
}

/// The result of asynchronous work, for the message of this type and id.
struct Done {
    kind: String,
    id: Option<String>,
    result: Result<Option<Joined>, Refusal>,
}

type Joined = Box<(Seat, Welcome)>;

struct Connection {
    state: Arc<RelayState>,
    caller: Arc<Caller>,
    seat: Option<Seat>,
    mail: Option<Inbox>,
    joined_by: Option<Pass>,
    join_by: Instant,
    /// Joining, or starting or ending a study session; the next message waits for it.
    work: Option<BoxFuture<'static, Done>>,
    out: VecDeque<Utf8Bytes>,
    replaced: bool,
}

impl Peer for Connection {
    async fn ready(&mut self) -> Result<(), Ending> {
        if self.replaced {
            return Err(Ending::Replaced);
        }
        let joining = self.seat.is_none();
        tokio::select! {
            done = finished(&mut self.work) => {
                self.work = None;
                self.done(done);
            }
            next = next_out(&mut self.mail) => match next {
                Some(out) => self.queue(out),
                None => return Err(Ending::Log(self.removed())),
            },
            () = renewed(&self.state, self.joined_by.as_ref()) => return Err(Ending::Revoked),
            () = tokio::time::sleep_until(self.join_by), if joining => return Err(Ending::Unjoined),
        }
        Ok(())
    }

    fn take(&mut self) -> Option<Message> {
        if self.out.is_empty() && !self.replaced {
            let next = self.mail.as_mut().and_then(Inbox::next_now)?;
            self.queue(next);
        }
        self.out.pop_front().map(Message::Text)
    }

    fn incoming(&mut self, message: Incoming) -> Handled {
        let text = match message {
            Incoming::Text(text) => text,
            Incoming::Binary => {
                let reason = "messages must be text, not binary";
                self.refuse(&Refusal::new(Code::InvalidMessage, reason), None);
                return Handled::Counted;
            }
            // Every ping gets a pong, even if the client reads nothing.
            Incoming::Control => return Handled::Counted,
        };
        match self.receive(&text) {
            Ok(next) => next,
            Err((refusal, id)) => {
                self.refuse(&refusal, id.as_deref());
                Handled::Counted
            }
        }
    }

    fn accepts(&self) -> bool {
        self.work.is_none()
    }

    fn closed(&mut self) {
        if let Some(seat) = &self.seat {
            seat.close();
        }
    }

    fn on_close(&mut self) {
        self.seat = None;
    }

    fn closing(&self, why: Ending) -> Option<Message> {
        if why == Ending::Replaced {
            return None;
        }
        let (_, message, _) = why.close_info();
        let refusal = Refusal::new(Code::SessionNotActive, message);
        Some(Message::Text(error_text(&refusal, None, None)))
    }
}

async fn finished(work: &mut Option<BoxFuture<'static, Done>>) -> Done {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

/// The next message to send, or `None` if the member was removed; pending before joining.
async fn next_out(mail: &mut Option<Inbox>) -> Option<OutMessage> {
    match mail {
        Some(mail) => mail.next().await,
        None => std::future::pending().await,
    }
}

impl Connection {
    /// Why the session removed this member.
    fn removed(&self) -> SubscriptionEnd {
        match &self.seat {
            Some(seat) if seat.session().is_over() => SubscriptionEnd::Deleted,
            // A slow reader.
            _ => SubscriptionEnd::Slow,
        }
    }

    fn queue(&mut self, out: OutMessage) {
        let (OutMessage::Text(text) | OutMessage::Last(text)) = &out;
        self.out.push_back(text.clone());
        self.replaced = matches!(out, OutMessage::Last(_));
    }

    fn refuse(&mut self, refusal: &Refusal, id: Option<&str>) {
        self.out.push_back(error_text(refusal, id, None));
    }

    fn done(&mut self, Done { kind, id, result }: Done) {
        match result {
            Ok(None) => {}
            Ok(Some(joined)) => {
                let (seat, (text, inbox, shown)) = *joined;
                self.seat = Some(seat);
                self.mail = Some(inbox);
                self.joined_by = shown;
                // Sent first: missed messages follow from the inbox.
                self.out.push_back(text);
            }
            Err(refusal) => {
                if let Some(seat) = &self.seat {
                    seat.note_refusal(&kind, &refusal);
                }
                self.refuse(&refusal, id.as_deref());
            }
        }
    }

    fn receive(&mut self, text: &Utf8Bytes) -> Result<Handled, Refused> {
        let most = self.state.message_bytes;
        if text.len() > most {
            let reason = format!(
                "the message must be at most {most} bytes, but has {}",
                text.len()
            );
            return Err((Refusal::new(Code::InvalidMessage, reason), id_of(text)));
        }
        let message = RelayMessage::read(text.as_str())?;
        let id = message.id.as_deref();
        let refused = |refusal| (refusal, id.map(str::to_owned));
        if message.kind() == "relay.join" {
            self.work = Some(join(self, &message).map_err(refused)?);
            return Ok(Handled::Counted);
        }
        let Some(seat) = &self.seat else {
            let reason = "join first: relay.join with role and sessionId";
            return Err(refused(Refusal::new(Code::SessionNotActive, reason)));
        };
        let next = match seat.role() {
            Role::Agent => match FromAgent::named(message.kind()) {
                Some(kind) if seat.session().chat.is_some() => in_chat(seat, kind, &message),
                Some(kind @ (FromAgent::SessionStart | FromAgent::SessionEnd)) => {
                    self.work = Some(study(&self.state, seat, kind, &message));
                    return Ok(Handled::Counted);
                }
                Some(kind) => from_agent(seat, kind, &message),
                None => Err(unknown(message.kind(), "an agent")),
            },
            Role::Host => match FromHost::named(message.kind()) {
                Some(kind) => from_host(seat, kind, &message),
                None => Err(unknown(message.kind(), "a host")),
            },
        };
        next.map_err(|refusal| {
            seat.note_refusal(message.kind(), &refusal);
            refused(refusal)
        })
    }
}

fn unknown(kind: &str, who: &str) -> Refusal {
    let kind: String = kind.chars().take(80).collect();
    let message = format!("{kind:?} is not a message type of {who}");
    Refusal::new(Code::InvalidMessage, message)
}

fn from_host(seat: &Seat, kind: FromHost, message: &RelayMessage<'_>) -> Result<Handled, Refusal> {
    let reply_to = message.reply_to.as_deref();
    let body = match kind {
        FromHost::SnapshotState => study::snapshot(seat.session(), message.body()),
        _ => Cow::Borrowed(message.body()),
    };
    seat.send(kind, reply_to, &body)?;
    // Answers are paced by their requests; only unsolicited messages are rate limited.
    Ok(match reply_to {
        Some(_) => Handled::Uncounted,
        None => Handled::Counted,
    })
}

fn from_agent(
    seat: &Seat,
    kind: FromAgent,
    message: &RelayMessage<'_>,
) -> Result<Handled, Refusal> {
    let (id, body) = (message.id.as_deref(), message.body());
    if kind == FromAgent::ToolCall && check_call(body)? {
        others::start(seat, id, body)?;
        return Ok(Handled::Counted);
    }
    seat.ask(kind, id, body)?;
    Ok(match kind {
        FromAgent::AgentMessage | FromAgent::AgentStatus => Handled::Counted,
        _ => Handled::Uncounted,
    })
}

/// A request or message of an agent that joined a chat.
fn in_chat(seat: &Seat, kind: FromAgent, message: &RelayMessage<'_>) -> Result<Handled, Refusal> {
    if let Some(chat) = &seat.session().chat {
        chat::request(seat, chat, kind, message.id.as_deref(), message.body())?;
    }
    // No page paces them.
    Ok(Handled::Counted)
}

/// Starts or ends a study session in its own task, so that it completes if the agent disconnects.
fn study(
    state: &Arc<RelayState>,
    seat: &Seat,
    kind: FromAgent,
    message: &RelayMessage<'_>,
) -> BoxFuture<'static, Done> {
    let (state, asker) = (Arc::clone(state), seat.asker());
    let named = message.kind().to_owned();
    let id = message.id.as_deref().map(str::to_owned);
    let answered = id.clone();
    let body = message.body().to_owned();
    let task = tokio::spawn(async move {
        let id = id.as_deref();
        match kind {
            FromAgent::SessionStart => study::start(&state, &asker, id, &body).await,
            _ => study::end(&state, &asker, id, &body).await,
        }
    });
    Box::pin(async move {
        let result = task.await.unwrap_or_else(|_| {
            let text = "internal error; see Gangway's log";
            Err(Refusal::new(Code::ToolExecutionFailed, text))
        });
        Done {
            kind: named,
            id: answered,
            result: result.map(|()| None),
        }
    })
}
