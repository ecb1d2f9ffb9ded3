//! An SSE response over a subscription, with heartbeats and a reason at the end.

use std::{pin::Pin, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt, future::BoxFuture, stream};
use gangway_core::{Logged, SessionId, Subscription};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{encode, ending::closing, frame::FeedFrame};
use crate::metrics::{Counted, Metrics};
use crate::socket::Ending;
use crate::{Http, auth::Admitted};

/// Bytes per write, at most.
pub const CHUNK: usize = 64 << 10;

/// The reconnect delay for browsers: short, since a resume costs little.
const RETRY: &str = "retry: 500\n\n";

pub enum StreamAction {
    Send,
    Skip,
    /// Send it, then end the stream.
    Last,
}

/// Which events of a session are sent; not boxed, so that an idle reader stays small.
pub type Filter = fn(u64, &Logged) -> StreamAction;

/// Marks a response that goes on for as long as its reader stays. The server may write it without the buffers and the
/// framing of an HTTP connection, and close the connection after it.
#[derive(Debug, Clone, Copy)]
pub struct OpenEnded;

/// What is sent of a session's events, and when the stream ends. Generic, not boxed, so that an idle reader stays
/// small.
pub trait Source: Send + 'static {
    /// Resolves once the caller may no longer read. Created once for each reader, not for each event.
    fn revoked(&self) -> BoxFuture<'static, ()>;

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
    fn revoked(&self) -> BoxFuture<'static, ()> {
        let (http, admitted) = (Arc::clone(&self.http), self.admitted.clone());
        async move { admitted.ended(&http).await }.boxed()
    }

    fn encode(&mut self, event: &Logged, frames: &mut Vec<Bytes>) -> bool {
        let pass = (self.filter)(self.turn, event);
        if !matches!(pass, StreamAction::Skip) {
            frames.push(encode::sse(self.session, event));
        }
        !matches!(pass, StreamAction::Last)
    }
}

struct Reader<S> {
    subscription: Subscription,
    source: S,
    revoked: BoxFuture<'static, ()>,
    heartbeat: Duration,
    /// The last write. Not the last event: skipped events are no sign of life.
    wrote: Instant,
    /// Moved to a heartbeat after the last write when it fires, so that a write does not touch the timer.
    silence: Pin<Box<Sleep>>,
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
    let heartbeat = Duration::from_secs(http.limits.heartbeat_seconds.max(1));
    let now = Instant::now();
    let reader = Reader {
        subscription,
        revoked: source.revoked(),
        source,
        heartbeat,
        wrote: now,
        silence: Box::pin(sleep_until(now + heartbeat)),
        opening: Some(opening.freeze()),
        over: false,
        metrics: Arc::clone(&http.metrics),
        _counted: Counted::new(&http.metrics.readers),
    };
    let chunks = stream::unfold(reader, |mut reader| async move {
        let chunk = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), reader))
    });
    let mut response = events(Body::from_stream(chunks));
    response.extensions_mut().insert(OpenEnded);
    response
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
        self.wrote = Instant::now();
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        while !self.over {
            // Events that must be read from the disk still come before the last frame.
            let behind = self.subscription.is_behind();
            let next = tokio::select! {
                biased;
                () = &mut self.revoked => return Some(self.close(Ending::Revoked)),
                next = self.subscription.next(CHUNK) => next,
                last = self.source.finished(), if !behind => {
                    self.over = true;
                    return Some(last);
                }
                () = &mut self.silence => {
                    let due = self.wrote + self.heartbeat;
                    let silent = due <= Instant::now();
                    let next = if silent { Instant::now() + self.heartbeat } else { due };
                    self.silence.as_mut().reset(next);
                    if silent {
                        return Some(Bytes::from_static(b": still here\n\n"));
                    }
                    continue;
                }
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
