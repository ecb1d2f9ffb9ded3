//! Event streams to MCP clients: they end when their key is revoked, and begin as the client's revision expects.

use std::sync::Weak;

use axum::{
    body::{Body, Bytes},
    http::header,
    response::Response,
};
use futures_util::{StreamExt, stream};
use gangway_http::auth::Admitted;

use crate::app::App;

/// The first revision with a priming event, which only has an id to resume from. Older clients take its empty data for
/// a broken message.
const PRIMED: &str = "2025-11-25";

/// Bytes of the first event that are inspected; a priming event is far smaller.
const FIRST: usize = 256;

/// Binds the stream of a response to the sender's access.
pub(super) fn followed(
    response: Response,
    version: Option<&str>,
    app: Weak<App>,
    admitted: Admitted,
) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let ended = async move {
        if let Some(app) = app.upgrade() {
            tokio::select! {
                () = admitted.ended(&app.http) => {}
                () = app.http.stop.cancelled() => {}
            }
        }
    };
    let events = body.into_data_stream().take_until(Box::pin(ended));
    let primed = version.is_some_and(|version| version >= PRIMED);
    let mut first = (!primed).then(Vec::new);
    let events = events.map(move |part| {
        let part = part?;
        let Some(seen) = &mut first else {
            return Ok(part);
        };
        seen.extend_from_slice(&part);
        match without_priming(seen) {
            Some(rest) => {
                first = None;
                Ok(rest)
            }
            None => Ok(Bytes::new()),
        }
    });
    let events = events.filter(|part: &Result<Bytes, axum::Error>| {
        let empty = part.as_ref().is_ok_and(Bytes::is_empty);
        std::future::ready(!empty)
    });
    Response::from_parts(parts, Body::from_stream(stream::StreamExt::boxed(events)))
}

/// The beginning of a stream without the priming event; `None` until it can be decided.
fn without_priming(seen: &[u8]) -> Option<Bytes> {
    let whole = || Bytes::copy_from_slice(seen);
    let Some(end) = seen.windows(2).position(|two| two == b"\n\n") else {
        return (seen.len() > FIRST).then(whole);
    };
    let speaks = |line: &[u8]| {
        let data = line.strip_prefix(b"data:");
        data.is_some_and(|data| !data.trim_ascii().is_empty())
    };
    match seen[..end].split(|byte| *byte == b'\n').any(speaks) {
        true => Some(whole()),
        false => Some(Bytes::copy_from_slice(&seen[end + 2..])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_without_data_is_left_out_and_no_other() {
        for (seen, rest) in [
            ("id: 0\nretry: 500\ndata:\n\n", Some("")),
            ("id: 0\ndata: \n\ndata: {}\n\n", Some("data: {}\n\n")),
            ("data: {}\n\n", Some("data: {}\n\n")),
            ("id: 0\n", None),
        ] {
            let rest = rest.map(|rest: &str| Bytes::copy_from_slice(rest.as_bytes()));
            assert_eq!(without_priming(seen.as_bytes()), rest, "{seen:?}");
        }
    }
}
