//! Request bodies that a handler did not read: a small rest is drained, otherwise the response closes the connection.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header},
};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};

/// A declared body of at most this size is drained, so that its connection can be reused.
const DRAINED: u64 = 64 << 10;

/// Timeout of draining: such a body usually arrives with its head.
const DRAIN_WITHIN: Duration = Duration::from_millis(50);

/// The body of a request, kept until its response is known. Hyper closes a connection whose request was not read to
/// the end, and without `Connection: close` the client would send its next request into it.
pub(super) struct Unread {
    shared: Arc<Mutex<Shared>>,
    small: bool,
}

struct Shared {
    body: Incoming,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Read,
    Broken,
}

/// The body as handlers read it.
struct Watched(Arc<Mutex<Shared>>);

impl Unread {
    pub(super) fn watch(request: Request<Incoming>) -> (Request<Body>, Self) {
        let (head, body) = request.into_parts();
        let small = is_small(&head.headers);
        let state = match body.is_end_stream() {
            true => State::Read,
            false => State::Open,
        };
        let shared = Arc::new(Mutex::new(Shared { body, state }));
        let body = Body::new(Watched(Arc::clone(&shared)));
        (Request::from_parts(head, body), Self { shared, small })
    }

    /// Sets `Connection: close` if the connection cannot be reused.
    pub(super) async fn settle<T>(self, response: &mut Response<T>) {
        // Still being read: leave it alone.
        let Some(shared) = Arc::into_inner(self.shared) else {
            return;
        };
        let Shared { mut body, state } =
            shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let closes = match state {
            State::Read => false,
            State::Broken => true,
            State::Open if self.small => {
                let drained = tokio::time::timeout(DRAIN_WITHIN, drain(&mut body)).await;
                !drained.unwrap_or(false)
            }
            State::Open => true,
        };
        if closes && response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
    }
}

/// Whether to drain a body. With `Expect: 100-continue` the client has not sent it.
fn is_small(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    length.is_some_and(|length| length <= DRAINED) && !headers.contains_key(header::EXPECT)
}

/// Returns whether the end was reached.
async fn drain(body: &mut Incoming) -> bool {
    while let Some(frame) = body.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = ready!(Pin::new(&mut shared.body).poll_frame(context));
        match &frame {
            None => shared.state = State::Read,
            Some(Err(_)) => shared.state = State::Broken,
            Some(Ok(_)) if shared.body.is_end_stream() => shared.state = State::Read,
            Some(Ok(_)) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.body.size_hint()
    }
}
