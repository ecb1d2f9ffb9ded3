//! The common parts of a page's and an agent's connection on the shared WebSocket loop.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesOrdered};
use gangway_core::{AppRefusal, Logged, Subscription, SubscriptionEnd};
use gangway_http::{
    auth::Admitted,
    metrics::Counted,
    socket::{self, Ending, Incoming, Peer, Socket, text_message},
};
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Sleep;

use crate::Weblets;

/// Bytes of events read from the log at once.
const CHUNK: usize = 64 << 10;

/// Messages of one client in progress; further ones are not read meanwhile.
const AT_ONCE: usize = 256;

/// The reaction to a message or event.
pub(super) enum Reaction {
    Say(Vec<Bytes>),
    /// Done first, in order.
    Work(BoxFuture<'static, Done>),
}

/// The result of work.
pub(super) enum Done {
    Say(Vec<Bytes>),
    /// The event with this id is stored; true if the agent has it.
    Kept(String, bool),
    /// The event with this id is not stored.
    Lost(String, AppRefusal),
    Answered(String, Result<Value, AppRefusal>),
}

pub(super) trait ChannelSide: Send {
    fn on_message(&mut self, text: Utf8Bytes) -> Reaction;

    fn done(&mut self, done: Done) -> Vec<Bytes>;

    fn logged(&mut self, logged: &Arc<Logged>) -> Reaction;

    /// Waits for another message to send.
    fn other(&mut self) -> BoxFuture<'_, Bytes>;

    /// The client closed the connection, and will not reconnect.
    fn closed(&mut self) {}

    /// When the connection expires.
    fn ends_at(&self) -> Option<Timestamp> {
        None
    }

    /// The last message.
    fn closing(&self, reason: &str, message: &str) -> Bytes;
}

/// Serves one side until it disconnects.
pub(super) async fn run(
    weblets: Arc<Weblets>,
    admitted: Admitted,
    socket: Socket,
    subscription: Subscription,
    first: Vec<Bytes>,
    side: impl ChannelSide,
) {
    let _counted = Counted::new(&weblets.http.metrics.readers);
    let expiry = side.ends_at().map(|end| {
        let left = end.duration_since(Timestamp::now());
        Box::pin(tokio::time::sleep(
            Duration::try_from(left).unwrap_or_default(),
        ))
    });
    let mut connection = Connection {
        side,
        subscription,
        work: FuturesOrdered::new(),
        out: first.into(),
        expiry,
    };
    socket::serve(&weblets.http, &admitted, socket, &mut connection).await;
}

struct Connection<S> {
    side: S,
    subscription: Subscription,
    work: FuturesOrdered<BoxFuture<'static, Done>>,
    out: VecDeque<Bytes>,
    expiry: Option<Pin<Box<Sleep>>>,
}

impl<S: ChannelSide> Connection<S> {
    fn follow(&mut self, next: Reaction) {
        match next {
            Reaction::Say(message) => self.out.extend(message),
            Reaction::Work(work) => self.work.push_back(work),
        }
    }
}

impl<S: ChannelSide> Peer for Connection<S> {
    const FOLLOWS_LOG: bool = true;

    async fn ready(&mut self) -> Result<(), Ending> {
        let expiry = &mut self.expiry;
        let expired = async {
            match expiry {
                Some(expiry) => expiry.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Finished work first, so that a busy log does not delay its results.
            biased;
            Some(done) = self.work.next(), if !self.work.is_empty() => {
                self.out.extend(self.side.done(done));
            }
            next = self.subscription.next(CHUNK) => match next {
                Ok(Ok(events)) => {
                    for logged in &events {
                        let next = self.side.logged(logged);
                        self.follow(next);
                    }
                }
                // The launch is deleted with its session, so reconnecting is pointless.
                Ok(Err(SubscriptionEnd::Deleted)) => return Err(Ending::Gone),
                Ok(Err(why)) => return Err(Ending::Log(why)),
                Err(error) => return Err(Ending::unreadable(&error)),
            },
            () = expired => return Err(Ending::Expired),
            other = self.side.other() => self.out.push_back(other),
        }
        Ok(())
    }

    fn take(&mut self) -> Option<Message> {
        self.out.pop_front().map(text_message)
    }

    fn incoming(&mut self, message: Incoming) -> socket::Handled {
        match message {
            Incoming::Text(text) => {
                let next = self.side.on_message(text);
                self.follow(next);
            }
            Incoming::Binary => self
                .out
                .push_back(wrong("binary messages are not supported; send JSON text")),
            Incoming::Control => {}
        }
        socket::Handled::Counted
    }

    fn closed(&mut self) {
        self.side.closed();
    }

    fn accepts(&self) -> bool {
        self.work.len() < AT_ONCE
    }

    fn closing(&self, why: Ending) -> Option<Message> {
        let (reason, message, _) = why.close_info();
        Some(text_message(self.side.closing(reason, message)))
    }
}

/// The error of both sides for a message that neither can decode.
fn wrong(message: &str) -> Bytes {
    gangway_http::socket::to_json(&serde_json::json!({ "type": "error", "error": message }))
}
