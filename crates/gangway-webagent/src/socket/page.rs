//! The broker's connection: a page enters, calls, and leaves, also by way of a connection that is lost and comes back.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use futures_util::{SinkExt, StreamExt, stream::SplitSink};
use gangway_core::{Origin, ToolError};
use gangway_http::{
    access::Scope,
    auth::Admitted,
    error::{ApiError, ApiResult},
    metrics::Counted,
    pace::{Pace, Verdict},
    socket::{Ending, PROTOCOL, answer_close, refuse, say_goodbye, text_message, to_json, within},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    Place, SiteError, SiteTold, Visit, WebAgent, calls,
    permissions::{By, TabId},
    sites::GRACE,
    wire::{BrokerHello, BrokerRefused, BrokerSays, BrokerWelcome, ToolProblem},
};

/// What a connection reads and writes in one go, and a message at the most.
const READ: usize = 4096;
const WRITE: usize = 16 << 10;
const MESSAGE: usize = 2 << 20;

/// A broker that does not say who it is by then never will.
const HELLO: Duration = Duration::from_secs(10);

/// How long a server that stops waits for the end of one more call.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// What closes a connection for good.
const REFUSED: (u16, &str) = (4403, "this page is not let in");

/// Takes the connection of a broker.
pub(crate) async fn open(
    State(agent): State<Arc<WebAgent>>,
    Extension(known): Extension<Admitted>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    // The broker's word for the page's origin counts, so only our own frame may be the broker.
    let origin = headers.get(header::ORIGIN).and_then(|v| v.to_str().ok());
    let origin = origin.unwrap_or_default().to_lowercase();
    if !agent.http.guard.own_origins().any(|own| own == origin) {
        let message = "only Gangway's own frame may connect here; pages include /gangway.js";
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "origin_not_allowed",
            message,
        ));
    }
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "this address takes WebSockets of version 13 alone",
        )
    })?;
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(READ)
        .write_buffer_size(WRITE)
        .max_message_size(MESSAGE)
        .max_frame_size(MESSAGE);
    let by = match gangway_http::client_header::is_extension(&headers) {
        true => By::Extension,
        false => By::Page,
    };
    Ok(upgrade.on_upgrade(move |socket| {
        let feeds = agent.http.sockets.clone();
        feeds.track_future(async move { serve(agent, socket, known, by).await })
    }))
}

async fn serve(agent: Arc<WebAgent>, mut socket: WebSocket, known: Admitted, by: By) {
    let first = within(HELLO, first_word(&mut socket)).await.flatten();
    let hello = match first {
        Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
            Ok(BrokerSays::Hello(hello)) => Ok(hello),
            _ => Err(SiteError::wrong("the first message must be a hello")),
        },
        Some(Ok(Message::Close(_))) => {
            let (_, mut inbox) = socket.split();
            within(HELLO, answer_close(&mut inbox)).await;
            return;
        }
        Some(Ok(_)) => Err(SiteError::wrong("the first message must be a hello")),
        Some(Err(error)) => {
            let (sink, _) = socket.split();
            within(HELLO, refuse(sink, error)).await;
            return;
        }
        // It left, or never spoke.
        None => return,
    };
    let entered = match hello {
        Ok(hello) => enter(&agent, hello, by, known.may(&agent.http, Scope::Admin)).await,
        Err(error) => Err(error),
    };
    match entered {
        Ok(entered) => serve_visit(&agent, socket, entered, known).await,
        Err(error) => {
            let (sink, inbox) = socket.split();
            let last = text_message(to_json(&BrokerRefused { error }));
            say_goodbye(sink, inbox, last, REFUSED).await;
        }
    }
}

/// The first message that is more than a sign of life.
async fn first_word(socket: &mut WebSocket) -> Option<Result<Message, axum::Error>> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => return other,
        }
    }
}

struct Entered {
    visit: Arc<Visit>,
    resumed: bool,
    /// The last number that the page has.
    seen: u64,
}

async fn enter(
    agent: &Arc<WebAgent>,
    hello: BrokerHello,
    by: By,
    known: bool,
) -> Result<Entered, SiteError> {
    if hello.v != 1 {
        return Err(SiteError::wrong(
            "this Gangway speaks another version of this protocol; load the page again",
        ));
    }
    let origin: Origin = hello.origin.parse().map_err(|_| {
        let words =
            "pages without an origin of their own, as in sandboxed frames and files, get nothing";
        SiteError::new("ERR_PERMISSION_DENIED", words)
    })?;
    let tab: TabId = hello
        .tab
        .parse()
        .map_err(|_| SiteError::wrong("`tab` is not what the script makes"))?;
    let before = hello.visit.as_deref().and_then(|id| agent.sites.find(id));
    if let Some(visit) = before.filter(|visit| visit.origin == origin)
        && visit.outbox.after(hello.seen).is_some()
    {
        visit.outbox.acknowledge(hello.seen);
        return Ok(Entered {
            visit,
            resumed: true,
            seen: hello.seen,
        });
    }
    let known = known
        || match &hello.token {
            Some(token) => agent.sites.knows(&origin, token).await?,
            None => false,
        };
    let own = |around: &str| agent.http.guard.own_origins().any(|own| own == around);
    let place = Place::of(&origin, &hello.ancestors, own);
    Ok(Entered {
        visit: agent
            .sites
            .enter(origin, tab, (place, by), !known, &agent.http.stop)?,
        resumed: false,
        seen: 0,
    })
}

/// Why a connection ended.
enum Left {
    /// The page is gone.
    Bye,
    /// The connection is; the page may come back.
    Lost,
}

async fn serve_visit(agent: &Arc<WebAgent>, socket: WebSocket, entered: Entered, known: Admitted) {
    let _counted = Counted::new(&agent.http.metrics.readers);
    let visit = Arc::clone(&entered.visit);
    let (mine, number) = visit.connect();
    let left = tokio::select! {
        left = talk(agent, socket, entered, &known) => left,
        // Another connection of the same page took its place, or the page is gone. A server that stops says so itself.
        () = replaced(agent, &mine) => Left::Lost,
    };
    if matches!(left, Left::Lost) {
        visit.disconnect(number);
        tokio::select! {
            () = tokio::time::sleep(GRACE) => {}
            () = visit.over.cancelled() => {}
        }
        if !visit.is_last(number) {
            return;
        }
    }
    agent.leave(&visit).await;
}

/// Waits until a connection is of no use any more, unless that is because the server stops.
async fn replaced(agent: &WebAgent, mine: &CancellationToken) {
    mine.cancelled().await;
    if agent.http.stop.is_cancelled() {
        std::future::pending().await
    }
}

async fn talk(
    agent: &Arc<WebAgent>,
    socket: WebSocket,
    entered: Entered,
    known: &Admitted,
) -> Left {
    let Entered {
        visit,
        resumed,
        seen,
    } = entered;
    let heartbeat = Duration::from_secs(agent.http.limits.heartbeat_seconds.max(1));
    let stalled = Duration::from_secs(agent.http.limits.stalled_seconds.max(1));
    let (mut sink, mut inbox) = socket.split();
    let welcome = to_json(&BrokerWelcome {
        visit: visit.id.clone(),
        resumed,
        locked: visit.is_locked(),
        heartbeat_seconds: heartbeat.as_secs(),
    });
    if sink.send(text_message(welcome)).await.is_err() {
        return Left::Lost;
    }
    let mut sent = seen;
    let mut pace = Pace::new();
    let mut deaf_until = Instant::now();
    let why = loop {
        let hear = async {
            tokio::time::sleep_until(deaf_until).await;
            inbox.next().await
        };
        tokio::select! {
            biased;
            more = within(heartbeat, visit.outbox.more(sent)) => match more {
                Some(()) => match send(&mut sink, &visit, sent).await {
                    Some(last) => sent = last,
                    None => return Left::Lost,
                },
                None => {
                    if sink.send(Message::Ping(Default::default())).await.is_err() {
                        return Left::Lost;
                    }
                }
            },
            () = agent.http.stop.cancelled() => {
                break Ending::Log(gangway_core::Ended::Stopping);
            }
            () = known.ended(&agent.http) => break Ending::Revoked,
            heard = hear => match heard {
                None => return Left::Lost,
                Some(Ok(Message::Close(_))) => {
                    within(stalled, answer_close(&mut inbox)).await;
                    return Left::Lost;
                }
                Some(Ok(message)) => {
                    match pace.take() {
                        Verdict::Go => {}
                        Verdict::Wait(time) => deaf_until = Instant::now() + time,
                        Verdict::Flood => break Ending::Flood,
                    }
                    if let Message::Text(text) = message
                        && hear_out(agent, &visit, &text)
                    {
                        return Left::Bye;
                    }
                }
                Some(Err(error)) => {
                    within(stalled, refuse(sink, error)).await;
                    return Left::Lost;
                }
            },
        }
    };
    // Pages learn which calls the stop interrupts, and that they can be made again.
    while agent.http.stop.is_cancelled() {
        let wait = match visit.is_busy() {
            true => LAST_WORDS,
            false => Duration::ZERO,
        };
        if within(wait, visit.outbox.more(sent)).await.is_none() {
            break;
        }
        match send(&mut sink, &visit, sent).await {
            Some(last) => sent = last,
            None => return Left::Lost,
        }
    }
    why.count(&agent.http.metrics);
    let (reason, message, _) = why.words();
    let last = serde_json::json!({ "type": "closing", "reason": reason, "message": message });
    let last = text_message(to_json(&last));
    within(stalled, say_goodbye(sink, inbox, last, why.close())).await;
    match why {
        Ending::Revoked => Left::Bye,
        _ => Left::Lost,
    }
}

/// Sends what was said after a number; the number of the last of it.
async fn send(sink: &mut SplitSink<WebSocket, Message>, visit: &Visit, after: u64) -> Option<u64> {
    let (messages, last) = visit.outbox.after(after)?;
    for message in messages {
        sink.feed(text_message(message)).await.ok()?;
    }
    sink.flush().await.ok()?;
    Some(last)
}

/// Does what a broker says; whether its page is gone.
fn hear_out(agent: &Arc<WebAgent>, visit: &Arc<Visit>, text: &str) -> bool {
    match serde_json::from_str(text) {
        Ok(BrokerSays::Call { id, method, params }) => match visit.begin(id) {
            Ok(Some(stop)) => calls::start(agent, visit, id, stop, method, params),
            // It came before the connection was lost.
            Ok(None) => {}
            Err(error) => visit.tell(SiteTold::Error { id, error }),
        },
        Ok(BrokerSays::Abort { id }) => visit.abort(id),
        // Nobody who is not known has business with tools.
        Ok(BrokerSays::Tools { .. } | BrokerSays::ToolResult { .. }) if visit.is_locked() => {}
        Ok(BrokerSays::Tools { tools }) => visit.own_tools.set(tools),
        Ok(BrokerSays::ToolResult {
            call,
            result,
            error,
        }) => {
            let failed = |problem: ToolProblem| {
                ToolError::Failed(problem.message.chars().take(2000).collect())
            };
            let result = error.map_or(Ok(result), |problem| Err(failed(problem)));
            visit.own_tools.answer(call, result);
        }
        Ok(BrokerSays::Ack { n }) => visit.outbox.acknowledge(n),
        Ok(BrokerSays::Bye) => return true,
        // Our own broker says nothing else; whoever does gets no answer but stays welcome.
        Ok(BrokerSays::Hello(_)) => {}
        Err(_) => refuse_unread(visit, text),
    }
    false
}

/// Half a character or a thousand lists in one another cannot be read, but whoever called must not wait for an answer.
fn refuse_unread(visit: &Visit, text: &str) {
    #[derive(serde::Deserialize)]
    struct Call {
        r#type: String,
        id: u64,
    }
    let Ok(Call { r#type, id }) = serde_json::from_str(text) else {
        return;
    };
    if r#type == "call" && matches!(visit.begin(id), Ok(Some(_))) {
        visit.finish(id);
        let words = "this call cannot be read: it has half a character, a number without an end, or too much inside one another";
        let error = SiteError::wrong(words);
        visit.tell(SiteTold::Error { id, error });
    }
}
