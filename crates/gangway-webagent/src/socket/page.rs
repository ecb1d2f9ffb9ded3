//! The broker's connection: a page enters, calls and leaves, and may reconnect in between.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{State, ws::Message},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::StreamExt;
use gangway_core::{Origin, SubscriptionEnd};
use gangway_http::{
    access::Scope,
    auth::Admitted,
    error::{ApiError, ApiResult},
    metrics::Counted,
    socket::{
        CloseCause, Ending, Frames, Handled, Incoming, Peer, Socket, UpgradeResult, accept,
        answer_close, refuse, say_goodbye, serve, text_message, to_json, upgrade, within,
    },
};
use tokio_util::sync::CancellationToken;

use crate::{
    Embedding, SiteError, SiteServerMessage, Visit, WebAgent, calls,
    permissions::{Actor, TabId},
    sites::GRACE,
    wire::{BrokerClientMessage, BrokerHello, BrokerRefused, BrokerWelcome},
};

/// Maximum size of a message.
const MESSAGE: usize = 2 << 20;

/// Timeout of the hello.
const HELLO: Duration = Duration::from_secs(10);

/// How long a stopping server waits for another call to end.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The close code that forbids reconnecting.
const REFUSED: (u16, &str) = (4403, "page rejected");

/// Accepts the connection of a broker.
pub(crate) async fn open(
    State(agent): State<Arc<WebAgent>>,
    Extension(known): Extension<Admitted>,
    headers: HeaderMap,
    socket: UpgradeResult,
) -> ApiResult<Response> {
    // The broker reports the page's origin, so only our own frame may be the broker.
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
    let upgrade = upgrade(socket, Frames::of(MESSAGE))?;
    let by = match gangway_http::client_header::is_extension(&headers) {
        true => Actor::Extension,
        false => Actor::Page,
    };
    let http = Arc::clone(&agent.http);
    Ok(accept(&http, upgrade, move |socket| {
        accept_broker(agent, socket, known, by)
    }))
}

async fn accept_broker(agent: Arc<WebAgent>, mut socket: Socket, known: Admitted, by: Actor) {
    let first = within(HELLO, first_word(&mut socket)).await.flatten();
    let hello = match first {
        Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
            Ok(BrokerClientMessage::Hello(hello)) => Ok(hello),
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
        // It left, or sent no hello.
        None => return,
    };
    let entered = match hello {
        Ok(hello) => open_visit(&agent, hello, by, known.may(&agent.http, Scope::Admin)).await,
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

/// The first message that is not a ping.
async fn first_word(socket: &mut Socket) -> Option<Result<Message, axum::Error>> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => return other,
        }
    }
}

struct EnteredVisit {
    visit: Arc<Visit>,
    resumed: bool,
    /// The last number that the page received.
    seen: u64,
}

async fn open_visit(
    agent: &Arc<WebAgent>,
    hello: BrokerHello,
    by: Actor,
    known: bool,
) -> Result<EnteredVisit, SiteError> {
    if hello.v != 1 {
        return Err(SiteError::wrong(
            "unsupported protocol version; reload the page",
        ));
    }
    let origin: Origin = hello.origin.parse().map_err(|_| {
        let message =
            "pages without an origin, such as sandboxed frames and local files, cannot use Gangway";
        SiteError::new("ERR_PERMISSION_DENIED", message)
    })?;
    let tab: TabId = hello
        .tab
        .parse()
        .map_err(|_| SiteError::wrong("`tab` is not a valid tab id"))?;
    let before = hello.visit.as_deref().and_then(|id| agent.sites.find(id));
    if let Some(visit) = before.filter(|visit| visit.origin == origin)
        && visit.outbox.after(hello.seen).is_some()
    {
        visit.outbox.acknowledge(hello.seen);
        return Ok(EnteredVisit {
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
    let place = Embedding::of(&origin, &hello.ancestors, own);
    Ok(EnteredVisit {
        visit: agent
            .sites
            .enter(origin, tab, (place, by), !known, &agent.http.stop)?,
        resumed: false,
        seen: 0,
    })
}

async fn serve_visit(
    agent: &Arc<WebAgent>,
    socket: Socket,
    entered: EnteredVisit,
    known: Admitted,
) {
    let _counted = Counted::new(&agent.http.metrics.readers);
    let visit = Arc::clone(&entered.visit);
    let (mine, number) = visit.connect();
    let mut connection = Connection {
        agent,
        welcome: Some(BrokerWelcome {
            visit: visit.id.clone(),
            resumed: entered.resumed,
            locked: visit.is_locked(),
            heartbeat_seconds: agent.http.limits.heartbeat_seconds.max(1),
        }),
        sent: entered.seen,
        messages: Vec::new().into_iter(),
        visit: Arc::clone(&visit),
    };
    let left = tokio::select! {
        left = serve(&agent.http, &known, socket, &mut connection) => left,
        // Another connection of the same page replaced this one, or the page was closed. A stopping server reports that
        // separately.
        () = replaced(agent, &mine) => CloseCause::Lost,
    };
    if !matches!(
        left,
        CloseCause::Goodbye | CloseCause::Ended(Ending::Revoked)
    ) {
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

/// Waits until a connection is no longer needed, unless the server is stopping.
async fn replaced(agent: &WebAgent, mine: &CancellationToken) {
    mine.cancelled().await;
    if agent.http.stop.is_cancelled() {
        std::future::pending().await
    }
}

/// A page's side of its connection.
struct Connection<'a> {
    agent: &'a Arc<WebAgent>,
    visit: Arc<Visit>,
    welcome: Option<BrokerWelcome>,
    /// The number of the last message that was sent.
    sent: u64,
    messages: std::vec::IntoIter<Bytes>,
}

impl Connection<'_> {
    fn load(&mut self) -> Result<(), Ending> {
        // A page that is too far behind must start over.
        let after = self.visit.outbox.after(self.sent);
        let (messages, last) = after.ok_or(Ending::Log(SubscriptionEnd::Slow))?;
        self.messages = messages.into_iter();
        self.sent = last;
        Ok(())
    }
}

impl Peer for Connection<'_> {
    // Watches the stop here: pages learn which calls it interrupts and that they can be retried.
    const FOLLOWS_LOG: bool = true;

    async fn ready(&mut self) -> Result<(), Ending> {
        let stop = &self.agent.http.stop;
        let more = self.visit.outbox.more(self.sent);
        if stop.is_cancelled() {
            let wait = match self.visit.is_busy() {
                true => LAST_WORDS,
                false => Duration::ZERO,
            };
            let more = within(wait, more).await;
            more.ok_or(Ending::Log(SubscriptionEnd::Stopping))?;
        } else {
            tokio::select! {
                () = more => {}
                () = stop.cancelled() => return Ok(()),
            }
        }
        self.load()
    }

    fn take(&mut self) -> Option<Message> {
        if let Some(welcome) = self.welcome.take() {
            return Some(text_message(to_json(&welcome)));
        }
        self.messages.next().map(text_message)
    }

    fn incoming(&mut self, message: Incoming) -> Handled {
        match message {
            Incoming::Text(text) if handle_message(self.agent, &self.visit, &text) => {
                Handled::Leave
            }
            _ => Handled::Counted,
        }
    }

    fn closing(&self, why: Ending) -> Option<Message> {
        let (reason, message, _) = why.close_info();
        let last = serde_json::json!({ "type": "closing", "reason": reason, "message": message });
        Some(text_message(to_json(&last)))
    }
}

/// Handles a message of a broker; returns whether its page was closed.
fn handle_message(agent: &Arc<WebAgent>, visit: &Arc<Visit>, text: &str) -> bool {
    match serde_json::from_str(text) {
        Ok(BrokerClientMessage::Call { id, method, params }) => match visit.begin(id) {
            Ok(Some(stop)) => calls::start(agent, visit, id, stop, method, params),
            // A duplicate from before a lost connection.
            Ok(None) => {}
            Err(error) => visit.send(SiteServerMessage::Error { id, error }),
        },
        Ok(BrokerClientMessage::Abort { id }) => visit.abort(id),
        // Unknown visitors have no access to tools.
        Ok(BrokerClientMessage::Tools { .. } | BrokerClientMessage::ToolResult { .. })
            if visit.is_locked() => {}
        Ok(BrokerClientMessage::Tools { tools }) => {
            // The page's own script looked at them before; what is refused all the same is left out.
            visit.own_tools.offer(tools);
        }
        Ok(BrokerClientMessage::ToolResult {
            call,
            result,
            error,
        }) => {
            let result = error.map_or(Ok(result), |problem| Err(problem.into()));
            visit.own_tools.answer(call, result);
        }
        Ok(BrokerClientMessage::Ack { n }) => visit.outbox.acknowledge(n),
        Ok(BrokerClientMessage::Bye) => return true,
        // Our own broker sends nothing else; other messages are ignored.
        Ok(BrokerClientMessage::Hello(_)) => {}
        Err(_) => refuse_unread(visit, text),
    }
    false
}

/// A lone surrogate or deep nesting cannot be parsed, but the caller must get an answer.
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
        let message = "invalid call: lone surrogate, number out of range, or nested too deeply";
        let error = SiteError::wrong(message);
        visit.send(SiteServerMessage::Error { id, error });
    }
}
