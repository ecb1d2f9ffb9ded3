//! A readable stream of SSE text over a subscription, with signs of life and a reason at the end.

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
use crate::metrics::Counted;
use crate::socket::Ending;
use crate::{Http, auth::Admitted};

/// The most that is put into one write.
pub const CHUNK: usize = 64 << 10;

/// How a browser waits before it connects again: soon, since a resume costs little.
pub const RETRY: &str = "retry: 500\n\n";

/// What to do with an event on its way out.
pub enum Pass {
    /// Send it.
    Send,
    /// Leave it out.
    Skip,
    /// Send it, and nothing after it.
    Last,
}

/// Which events of a session go out; boxed by nobody, so that an idle reader stays small.
pub type Filter = fn(u64, &Logged) -> Pass;

struct Reader {
    subscription: Subscription,
    session: SessionId,
    turn: u64,
    filter: Filter,
    heartbeat: Duration,
    opening: Option<Bytes>,
    over: bool,
    http: Arc<Http>,
    admitted: Admitted,
    _counted: Counted,
}

/// An answer that begins with `opening` and then follows the subscription.
pub fn respond(
    http: &Arc<Http>,
    admitted: Admitted,
    session: SessionId,
    subscription: Subscription,
    opening: Option<&FeedFrame>,
    turn: u64,
    filter: Filter,
) -> Response {
    let mut first = BytesMut::from(RETRY);
    if let Some(frame) = opening {
        first.extend_from_slice(&encode::sse_frame(frame));
    }
    let reader = Reader {
        subscription,
        session,
        turn,
        filter,
        heartbeat: Duration::from_secs(http.limits.heartbeat_seconds.max(1)),
        opening: Some(first.freeze()),
        over: false,
        http: Arc::clone(http),
        admitted,
        _counted: Counted::new(&http.metrics.readers),
    };
    let chunks = stream::unfold(reader, |mut reader| async move {
        let chunk = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), reader))
    });
    events(Body::from_stream(chunks))
}

/// An answer of one frame, for a reader to whom nothing more will be said.
pub fn only(frame: &FeedFrame) -> Response {
    events(Body::from(encode::sse_frame(frame)))
}

/// An answer that is a stream of events.
#[must_use]
pub fn events(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        // Since the last write, not since the last event: what is left out for this reader is no sign of life.
        let silent_until = Instant::now() + self.heartbeat;
        while !self.over {
            let next = tokio::select! {
                next = timeout_at(silent_until, self.subscription.next(CHUNK)) => next,
                () = self.admitted.ended(&self.http) => return Some(self.close(Ending::Revoked)),
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

    /// What is to be sent of these events, in one piece; a single event is shared, not copied.
    fn encode(&mut self, events: &[Arc<Logged>]) -> Option<Bytes> {
        let mut frames = Vec::with_capacity(events.len());
        for event in events {
            match (self.filter)(self.turn, event) {
                Pass::Skip => {}
                Pass::Send => frames.push(encode::sse(self.session, event)),
                Pass::Last => {
                    frames.push(encode::sse(self.session, event));
                    self.over = true;
                    break;
                }
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
        why.count(&self.http.metrics);
        encode::sse_frame(&closing(why))
    }
}
