//! An SSE response over a subscription, with heartbeats and a reason at the end.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use gangway_core::{Logged, SessionId, Subscription};
use tokio::time::{Instant, timeout_at};

use super::{encode, ending::closing, frame::FeedFrame};
use crate::metrics::{Counted, Metrics};
use crate::socket::Ending;
use crate::{Http, auth::Admitted};

/// Bytes per write, at most.
pub const CHUNK: usize = 64 << 10;

/// The reconnect delay for browsers: short, since a resume costs little.
const RETRY: &str = "retry: 500\n\n";

pub enum Pass {
    Send,
    Skip,
    /// Send it, then end the stream.
    Last,
}

/// Which events of a session are sent; not boxed, so that an idle reader stays small.
pub type Filter = fn(u64, &Logged) -> Pass;

/// What is sent of a session's events, and when the stream ends. Generic, not boxed, so that an idle reader stays
/// small.
pub trait Source: Send + 'static {
    /// Resolves once the caller may no longer read.
    fn revoked(&self) -> impl Future<Output = ()> + Send;

    /// Resolves, with the last frame, once the stream is over although its session goes on. A reader that is behind
    /// gets all events first.
    fn finished(&self) -> impl Future<Output = Bytes> + Send {
        std::future::pending()
    }

    /// Appends the frames of an event; `false` if the stream ends with it.
    fn encode(&mut self, event: &Logged, frames: &mut Vec<Bytes>) -> bool;
}

struct Filtered {
    session: SessionId,
    turn: u64,
    filter: Filter,
    http: Arc<Http>,
    admitted: Admitted,
}

impl Source for Filtered {
    async fn revoked(&self) {
        self.admitted.ended(&self.http).await;
    }

    fn encode(&mut self, event: &Logged, frames: &mut Vec<Bytes>) -> bool {
        let pass = (self.filter)(self.turn, event);
        if !matches!(pass, Pass::Skip) {
            frames.push(encode::sse(self.session, event));
        }
        !matches!(pass, Pass::Last)
    }
}

struct Reader<S> {
    subscription: Subscription,
    source: S,
    heartbeat: Duration,
    opening: Option<Bytes>,
    over: bool,
    metrics: Arc<Metrics>,
    _counted: Counted,
}

/// A response that begins with `opening` and then follows the subscription.
pub fn respond(
    http: &Arc<Http>,
    admitted: Admitted,
    session: SessionId,
    subscription: Subscription,
    opening: Option<&FeedFrame>,
    turn: u64,
    filter: Filter,
) -> Response {
    let source = Filtered {
        session,
        turn,
        filter,
        http: Arc::clone(http),
        admitted,
    };
    follow(http, subscription, source, begin(opening))
}

/// The start of a stream, with its first frame.
#[must_use]
pub fn begin(opening: Option<&FeedFrame>) -> BytesMut {
    let mut first = BytesMut::from(RETRY);
    if let Some(frame) = opening {
        first.extend_from_slice(&encode::sse_frame(frame));
    }
    first
}

/// A response that begins with these bytes and then follows the subscription.
pub fn follow(
    http: &Http,
    subscription: Subscription,
    source: impl Source,
    opening: BytesMut,
) -> Response {
    let reader = Reader {
        subscription,
        source,
        heartbeat: Duration::from_secs(http.limits.heartbeat_seconds.max(1)),
        opening: Some(opening.freeze()),
        over: false,
        metrics: Arc::clone(&http.metrics),
        _counted: Counted::new(&http.metrics.readers),
    };
    let chunks = stream::unfold(reader, |mut reader| async move {
        let chunk = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), reader))
    });
    events(Body::from_stream(chunks))
}

/// A response of a single frame.
pub fn only(frame: &FeedFrame) -> Response {
    events(Body::from(encode::sse_frame(frame)))
}

fn events(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}

impl<S: Source> Reader<S> {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        // Since the last write, not since the last event: skipped events are no sign of life.
        let silent_until = Instant::now() + self.heartbeat;
        while !self.over {
            // Events that must be read from the disk still come before the last frame.
            let behind = self.subscription.is_behind();
            let next = tokio::select! {
                biased;
                () = self.source.revoked() => return Some(self.close(Ending::Revoked)),
                next = timeout_at(silent_until, self.subscription.next(CHUNK)) => next,
                last = self.source.finished(), if !behind => {
                    self.over = true;
                    return Some(last);
                }
            };
            let Ok(next) = next else {
                return Some(Bytes::from_static(b": still here\n\n"));
            };
            let events = match next {
                Ok(Ok(events)) => events,
                Ok(Err(why)) => return Some(self.close(Ending::Log(why))),
                Err(error) => return Some(self.close(Ending::unreadable(&error))),
            };
            if let Some(chunk) = self.encode(&events) {
                return Some(chunk);
            }
        }
        None
    }

    /// The frames of these events in one buffer; a single frame is shared, not copied.
    fn encode(&mut self, events: &[Arc<Logged>]) -> Option<Bytes> {
        let mut frames = Vec::with_capacity(events.len());
        for event in events {
            if !self.source.encode(event, &mut frames) {
                self.over = true;
                break;
            }
        }
        match frames.len() {
            0 => None,
            1 => frames.pop(),
            _ => Some(frames.concat().into()),
        }
    }

    fn close(&mut self, why: Ending) -> Bytes {
        self.over = true;
        why.count(&self.metrics);
        encode::sse_frame(&closing(why))
    }
}
