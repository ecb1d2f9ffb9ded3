//! One connection to the relay: it joins once, then speaks as what it joined.

mod readable;
mod rights;
mod study;

use std::{borrow::Cow, pin::pin, sync::Arc, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use futures_util::{SinkExt, StreamExt, stream::SplitSink};
use gangway_core::Ended;
use gangway_http::{
    auth::Admitted,
    pace::{Pace, Verdict},
    socket::{Ending, answer_close, refuse, say_goodbye, within},
};
pub(crate) use readable::{Readable, is_plain};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use self::rights::{authorize, offered_to, renewed};
use crate::{
    AppPage, Code, FromAgent, FromHost, Inbox, Join, Out, Pass, Refusal, RelayName, RelayState,
    Role, Seat, VERSION, Whose, error_text, message_text,
    wire::{Incoming, JoinPayload, check_call, id_of},
};

/// Whoever has not joined by then never will, and holds a connection that others may want.
const JOIN: Duration = Duration::from_secs(60);

type Sink = SplitSink<WebSocket, Message>;

/// What somebody who comes in is told first, gets from then on, and showed.
type Welcome = (Utf8Bytes, Inbox, Option<Pass>);

/// A refusal, and the name of the question that it answers.
type Refused = (Refusal, Option<String>);

/// Who is at the other end.
pub struct Caller {
    /// What it showed before it joined.
    pub admitted: Admitted,
    /// The app whose page it is, if it came from the host of one.
    pub page: Option<AppPage>,
    /// The token in its URL.
    pub token: Option<String>,
}

/// Speaks with one client until it leaves.
pub async fn run(state: Arc<RelayState>, caller: Caller, socket: WebSocket) {
    let heartbeat = Duration::from_secs(state.http.limits.heartbeat_seconds.max(1));
    let stalled = Duration::from_secs(state.http.limits.stalled_seconds.max(1));
    let (mut sink, mut inbox) = socket.split();
    let hello = message_text("relay.hello", None, &json!({ "protocol": VERSION }));
    if sink.send(Message::Text(hello)).await.is_err() {
        return;
    }
    let mut seat: Option<Seat> = None;
    let mut mail: Option<Inbox> = None;
    let mut joined_by: Option<Pass> = None;
    let mut pace = Pace::new();
    let mut beat = interval_at(Instant::now() + heartbeat, heartbeat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // What every message waits beside is made once.
    let mut stopped = pin!(state.http.stop.cancelled());
    let mut revoked = pin!(caller.admitted.ended(&state.http));
    let mut late = pin!(tokio::time::sleep(JOIN));
    let ending = loop {
        let heard = tokio::select! {
            out = next_out(&mut mail) => match send_all(&mut sink, &mut mail, out).await {
                Sent::All => continue,
                Sent::Last => break None,
                Sent::Slow => break Some(Ending::Log(Ended::Slow)),
                Sent::Gone => return,
            },
            heard = inbox.next() => Some(heard),
            _ = beat.tick() => None,
            () = &mut revoked => break Some(Ending::Revoked),
            () = renewed(&state, joined_by.as_ref()) => break Some(Ending::Revoked),
            () = &mut late, if seat.is_none() => break Some(Ending::Unjoined),
            () = &mut stopped => break Some(Ending::Log(Ended::Stopping)),
        };
        let text = match heard {
            None => {
                let ping = sink.send(Message::Ping(Default::default()));
                if !matches!(within(stalled, ping).await, Some(Ok(()))) {
                    return;
                }
                continue;
            }
            Some(None) => return,
            Some(Some(Ok(Message::Text(text)))) => Some(text),
            Some(Some(Ok(Message::Binary(_)))) => None,
            Some(Some(Ok(Message::Close(_)))) => {
                within(stalled, answer_close(&mut inbox)).await;
                return;
            }
            Some(Some(Ok(_))) => continue,
            Some(Some(Err(error))) => {
                drop(seat);
                within(stalled, refuse(sink, error)).await;
                return;
            }
        };
        let done = {
            let mut hearing = pin!(hear(&state, &caller, &mut seat, text.as_ref()));
            // What is asked may take its time; what is told meanwhile must not wait for it.
            loop {
                tokio::select! {
                    biased;
                    done = &mut hearing => break done,
                    out = next_out(&mut mail) => match send_all(&mut sink, &mut mail, out).await {
                        Sent::All => {}
                        Sent::Last | Sent::Slow | Sent::Gone => return,
                    },
                    () = state.http.stop.cancelled() => break Ok(Heard::Taken),
                }
            }
        };
        let paced = match done {
            Ok(Heard::Taken) => false,
            Ok(Heard::Pushed) => true,
            Ok(Heard::Joined(welcome)) => {
                let (text, inbox, shown) = *welcome;
                mail = Some(inbox);
                joined_by = shown;
                // Before anything else that is said to it: what it missed waits in its inbox.
                if sink.send(Message::Text(text)).await.is_err() {
                    return;
                }
                false
            }
            Err((refusal, id)) => {
                let text = error_text(&refusal, id.as_deref(), None);
                if !matches!(
                    within(stalled, sink.send(Message::Text(text))).await,
                    Some(Ok(()))
                ) {
                    return;
                }
                true
            }
        };
        // What is answered keeps its own pace. What nobody asked for, and what nobody can use, is held back.
        if paced {
            match pace.take() {
                Verdict::Go => {}
                Verdict::Wait(time) => tokio::time::sleep(time).await,
                Verdict::Flood => break Some(Ending::Flood),
            }
        }
    };
    drop(seat);
    let (last, close) = match ending {
        Some(why) => {
            why.count(&state.http.metrics);
            let (_, words, _) = why.words();
            let refusal = Refusal::new(Code::SessionNotActive, words);
            let text = error_text(&refusal, None, None);
            (Message::Text(text), why.close())
        }
        None => {
            let close = (4409, "another page took this one's place");
            (Message::Ping(Default::default()), close)
        }
    };
    within(stalled, say_goodbye(sink, inbox, last, close)).await;
}

/// The next thing to send, or none when the place is lost; for ever nothing where nobody joined.
async fn next_out(mail: &mut Option<Inbox>) -> Option<Out> {
    match mail {
        Some(mail) => mail.next().await,
        None => std::future::pending().await,
    }
}

/// What came of sending.
enum Sent {
    All,
    /// Nothing more will come.
    Last,
    /// This connection did not keep up, and lost its place.
    Slow,
    /// Nobody is there.
    Gone,
}

/// Sends what waits, in as few writes as it fits.
async fn send_all(sink: &mut Sink, mail: &mut Option<Inbox>, first: Option<Out>) -> Sent {
    if first.is_none() {
        return Sent::Slow;
    }
    let mut next = first;
    while let Some(out) = next {
        let sent = match out {
            Out::Text(text) => sink.feed(Message::Text(text)).await,
            Out::Last(text) => {
                return match sink.send(Message::Text(text)).await {
                    Ok(()) => Sent::Last,
                    Err(_) => Sent::Gone,
                };
            }
        };
        if sent.is_err() {
            return Sent::Gone;
        }
        next = mail.as_mut().and_then(Inbox::next_now);
    }
    match sink.flush().await {
        Ok(()) => Sent::All,
        Err(_) => Sent::Gone,
    }
}

/// What came of a message.
enum Heard {
    /// It is on its way.
    Taken,
    /// It was told to all, unasked.
    Pushed,
    /// Its sender is in.
    Joined(Box<Welcome>),
}

async fn hear(
    state: &Arc<RelayState>,
    caller: &Caller,
    seat: &mut Option<Seat>,
    text: Option<&Utf8Bytes>,
) -> Result<Heard, Refused> {
    let invalid = |words: String| (Refusal::new(Code::InvalidMessage, words), None);
    let text = text.ok_or_else(|| invalid("messages are text, not binary".into()))?;
    let most = state.message_bytes;
    if text.len() > most {
        let words = format!(
            "the message must have at most {most} bytes, but has {}",
            text.len()
        );
        return Err((Refusal::new(Code::InvalidMessage, words), id_of(text)));
    }
    let message = Incoming::read(text.as_str())?;
    let id = message.id.as_deref();
    let refused = |refusal| (refusal, id.map(str::to_owned));
    if message.kind() == "relay.join" {
        let welcome = join(state, caller, seat, &message).await.map_err(refused)?;
        return Ok(Heard::Joined(Box::new(welcome)));
    }
    let Some(seat) = seat else {
        let words = "join first: relay.join with role and sessionId";
        return Err(refused(Refusal::new(Code::SessionNotActive, words)));
    };
    let heard = match seat.role() {
        Role::Agent => match FromAgent::named(message.kind()) {
            Some(kind) => from_agent(state, seat, kind, &message).await,
            None => Err(unknown(message.kind(), "an agent")),
        },
        Role::Host => match FromHost::named(message.kind()) {
            Some(kind) => from_host(seat, kind, &message),
            None => Err(unknown(message.kind(), "a host")),
        },
    };
    heard.map_err(|refusal| {
        seat.note_refusal(message.kind(), &refusal);
        refused(refusal)
    })
}

fn unknown(kind: &str, who: &str) -> Refusal {
    let kind: String = kind.chars().take(80).collect();
    let words = format!("{kind:?} is no message that {who} sends");
    Refusal::new(Code::InvalidMessage, words)
}

fn from_host(seat: &Seat, kind: FromHost, message: &Incoming<'_>) -> Result<Heard, Refusal> {
    let reply_to = message.reply_to.as_deref();
    let body = match kind {
        FromHost::SnapshotState => study::snapshot(seat.session(), message.body()),
        _ => Cow::Borrowed(message.body()),
    };
    seat.tell(kind, reply_to, &body)?;
    Ok(match reply_to {
        Some(_) => Heard::Taken,
        None => Heard::Pushed,
    })
}

async fn from_agent(
    state: &Arc<RelayState>,
    seat: &Seat,
    kind: FromAgent,
    message: &Incoming<'_>,
) -> Result<Heard, Refusal> {
    let (id, body) = (message.id.as_deref(), message.body());
    match kind {
        FromAgent::SessionStart | FromAgent::SessionEnd => {
            study(state, seat, kind, message).await?;
        }
        FromAgent::ToolCall => {
            check_call(body)?;
            seat.ask(kind, id, body)?;
        }
        FromAgent::SnapshotGet | FromAgent::SessionReset => seat.ask(kind, id, body)?,
        FromAgent::AgentMessage | FromAgent::AgentStatus => {
            seat.ask(kind, id, body)?;
            return Ok(Heard::Pushed);
        }
    }
    Ok(Heard::Taken)
}

/// Begins or ends a study session, in a task of its own: what was begun is not left half done when the agent goes.
async fn study(
    state: &Arc<RelayState>,
    seat: &Seat,
    kind: FromAgent,
    message: &Incoming<'_>,
) -> Result<(), Refusal> {
    let (state, asker) = (Arc::clone(state), seat.asker());
    let id = message.id.as_deref().map(str::to_owned);
    let body = message.body().to_owned();
    let task = async move {
        let id = id.as_deref();
        match kind {
            FromAgent::SessionStart => study::start(&state, &asker, id, &body).await,
            _ => study::end(&state, &asker, id, &body).await,
        }
    };
    let done = tokio::spawn(task).await;
    done.unwrap_or_else(|_| {
        let words = "this is a fault in Gangway; its log says more";
        Err(Refusal::new(Code::ToolExecutionFailed, words))
    })
}

async fn join(
    state: &Arc<RelayState>,
    caller: &Caller,
    seat: &mut Option<Seat>,
    message: &Incoming<'_>,
) -> Result<Welcome, Refusal> {
    let wrong = |words: String| Refusal::new(Code::InvalidMessage, words);
    if seat.is_some() {
        return Err(wrong(
            "this connection has joined already; open another".into(),
        ));
    }
    let wish: JoinPayload = serde_json::from_str(message.body().get()).map_err(|_| {
        let words = "relay.join needs role (host or agent); sessionId, clientId and token are text, since is a number";
        wrong(words.to_owned())
    })?;
    let name: RelayName = wish
        .session_id
        .parse()
        .map_err(|error| wrong(format!("{error}")))?;
    if wish
        .client_id
        .as_ref()
        .is_some_and(|id| id.is_empty() || id.len() > 64)
    {
        return Err(wrong("clientId must be 1 to 64 bytes".into()));
    }
    let shown = authorize(state, caller, &wish, &name)?;
    let chat = offered_to(state, caller, wish.gangway_session.as_deref())?;
    let opened = state.relay.open(&name).await.map_err(|error| {
        tracing::error!(%error, "a relay session could not be opened");
        let words = "this session could not be opened; look at the server's log";
        Refusal::new(Code::SessionNotActive, words)
    })?;
    let session = opened.ok_or_else(|| {
        let words = "there are too many relay sessions; try again later";
        Refusal::new(Code::SessionNotActive, words)
    })?;
    let whose = match &caller.page {
        Some(page) => Whose::App(page.app.clone()),
        None => Whose::Api,
    };
    let (taken, inbox, joined) = session.join(Join {
        role: wish.role,
        since: wish.since,
        client: wish.client_id,
        presence: wish.presence.unwrap_or(wish.role == Role::Agent),
        whose,
        chat: chat.filter(|_| wish.role == Role::Host),
    })?;
    *seat = Some(taken);
    let text = message_text("relay.joined", message.id.as_deref(), &joined);
    Ok((text, inbox, shown))
}
