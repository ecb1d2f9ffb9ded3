//! One WebSocket of an app or of its agent: what both have in common.

use std::{sync::Arc, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    future::BoxFuture,
    stream::{FuturesOrdered, SplitSink},
};
use gangway_core::{AppRefusal, Ended, Logged, Subscription};
use gangway_http::{
    auth::Admitted,
    metrics::Counted,
    pace::{Pace, Verdict},
    socket::{Ending, answer_close, refuse, say_goodbye, text_message, within},
};
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::Weblets;

/// Bytes of events that are taken from the log in one go.
const CHUNK: usize = 64 << 10;

/// Messages of one client that are being worked on; whoever says more waits.
const AT_ONCE: usize = 256;

/// What follows from something that was heard.
pub(super) enum Next {
    /// This is said.
    Say(Vec<Bytes>),
    /// This is done first; in the order it came.
    Work(BoxFuture<'static, Done>),
}

/// What came of work: how a side goes on with it.
pub(super) enum Done {
    /// This is said.
    Say(Vec<Bytes>),
    /// An event of this name is kept; true when the agent has it.
    Kept(String, bool),
    /// An event of this name is not kept.
    Lost(String, AppRefusal),
    /// A request of this name has this answer.
    Answered(String, Result<Value, AppRefusal>),
}

/// One side of the channel.
pub(super) trait Side: Send {
    /// A message came.
    fn heard(&mut self, text: Utf8Bytes) -> Next;

    /// Work is done.
    fn done(&mut self, done: Done) -> Vec<Bytes>;

    /// Something happened in the session.
    fn logged(&mut self, logged: &Arc<Logged>) -> Next;

    /// Waits until something else is to be said.
    fn other(&mut self) -> BoxFuture<'_, Bytes>;

    /// When it is over, whoever is connected.
    fn ends_at(&self) -> Option<Timestamp> {
        None
    }

    /// The last words.
    fn closing(&self, reason: &str, message: &str) -> Bytes;
}

/// Serves one side until it leaves.
pub(super) async fn run(
    weblets: Arc<Weblets>,
    admitted: Admitted,
    socket: WebSocket,
    mut subscription: Subscription,
    first: Vec<Bytes>,
    mut side: impl Side,
) {
    let _counted = Counted::new(&weblets.http.metrics.readers);
    let heartbeat = Duration::from_secs(weblets.http.limits.heartbeat_seconds.max(1));
    let stalled = Duration::from_secs(weblets.http.limits.stalled_seconds.max(1));
    let (mut sink, mut inbox) = socket.split();
    if !say(&mut sink, first).await {
        return;
    }
    let mut pace = Pace::new();
    let mut deaf_until = Instant::now();
    let mut work: FuturesOrdered<BoxFuture<'static, Done>> = FuturesOrdered::new();
    let over = side.ends_at().map(|end| {
        let left = end.duration_since(Timestamp::now());
        Instant::now() + Duration::try_from(left).unwrap_or_default()
    });
    let over = async move {
        match over {
            Some(over) => tokio::time::sleep_until(over).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    let why = loop {
        let busy = work.len();
        let hear = async {
            tokio::time::sleep_until(deaf_until).await;
            inbox.next().await
        };
        let said = tokio::select! {
            // What is done first, so that a flood does not put off the answers.
            biased;
            Some(done) = work.next(), if busy > 0 => side.done(done),
            next = within(heartbeat, subscription.next(CHUNK)) => match next {
                Some(Ok(Ok(events))) => {
                    let mut said = Vec::new();
                    for logged in &events {
                        match side.logged(logged) {
                            Next::Say(more) => said.extend(more),
                            Next::Work(more) => work.push_back(more),
                        }
                    }
                    said
                }
                // With its session the launch is gone, and nobody need come back for it.
                Some(Ok(Err(Ended::Deleted))) => break Ending::Gone,
                Some(Ok(Err(why))) => break Ending::Log(why),
                Some(Err(error)) => break Ending::unreadable(&error),
                None => {
                    if sink.send(Message::Ping(Default::default())).await.is_err() {
                        return;
                    }
                    continue;
                }
            },
            () = admitted.ended(&weblets.http) => break Ending::Revoked,
            () = &mut over => break Ending::Expired,
            other = side.other() => vec![other],
            heard = hear, if busy < AT_ONCE => match heard {
                None => return,
                Some(Ok(Message::Close(_))) => {
                    within(stalled, answer_close(&mut inbox)).await;
                    return;
                }
                Some(Ok(Message::Text(text))) => {
                    match pace.take() {
                        Verdict::Go => {}
                        Verdict::Wait(time) => deaf_until = Instant::now() + time,
                        Verdict::Flood => break Ending::Flood,
                    }
                    match side.heard(text) {
                        Next::Say(said) => said,
                        Next::Work(more) => {
                            work.push_back(more);
                            Vec::new()
                        }
                    }
                }
                Some(Ok(Message::Binary(_))) => {
                    if pace.take() == Verdict::Flood {
                        break Ending::Flood;
                    }
                    vec![wrong("binary messages are not understood; send JSON text")]
                }
                Some(Ok(_)) => match pace.take() {
                    Verdict::Flood => break Ending::Flood,
                    _ => continue,
                },
                Some(Err(error)) => {
                    within(stalled, refuse(sink, error)).await;
                    return;
                }
            },
        };
        if !say(&mut sink, said).await {
            return;
        }
    };
    why.count(&weblets.http.metrics);
    let (reason, message, _) = why.words();
    let last = text_message(side.closing(reason, message));
    within(stalled, say_goodbye(sink, inbox, last, why.close())).await;
}

/// Writes all of it; a client that takes nothing is given up by the connection below.
async fn say(sink: &mut SplitSink<WebSocket, Message>, said: Vec<Bytes>) -> bool {
    if said.is_empty() {
        return true;
    }
    for json in said {
        if sink.feed(text_message(json)).await.is_err() {
            return false;
        }
    }
    sink.flush().await.is_ok()
}

/// Both sides are told of nonsense in the same form.
fn wrong(words: &str) -> Bytes {
    gangway_http::socket::to_json(&serde_json::json!({ "type": "error", "error": words }))
}
