//! Encodes frames: JSON for WebSocket and files, and SSE.

use bytes::Bytes;
use gangway_core::{Logged, SessionId};

use super::frame::{EventBody, EventFrame, FeedFrame};
use crate::socket::to_json;

/// An event as JSON, encoded once for all readers.
pub fn json(session: SessionId, logged: &Logged) -> Bytes {
    logged.encoded("sessions.json", |logged| {
        to_json(&EventFrame::new(session, logged))
    })
}

/// An event as SSE, encoded once for all readers. The end of the last turn is preceded by an `idle` event.
pub fn sse(session: SessionId, logged: &Logged) -> Bytes {
    logged.encoded("sessions.sse", |logged| {
        let frame = EventFrame::new(session, logged);
        let mut text = Vec::new();
        if matches!(frame.event, EventBody::Done { idle: true, .. }) {
            // Without an id: a reader that got only this one asks for the end of the turn again.
            text.extend_from_slice(&sse_text(
                "session.idle",
                None,
                format!(r#"{{"type":"session.idle","sessionId":"{session}"}}"#).as_bytes(),
            ));
        }
        text.extend_from_slice(&sse_text(frame.name(), Some(frame.seq), &to_json(&frame)));
        text.into()
    })
}

/// A frame that is not an event, as SSE. A snapshot has an id, so that a resume starts there.
#[must_use]
pub fn sse_frame(frame: &FeedFrame) -> Bytes {
    let id = match frame {
        FeedFrame::Snapshot { snapshot } | FeedFrame::Resync { snapshot, .. } => Some(snapshot.seq),
        FeedFrame::Closing { .. } | FeedFrame::Event(_) => None,
    };
    sse_text(frame.name(), id, &to_json(frame)).into()
}

/// One SSE event. JSON escapes every line break in strings, so `data` is always one line.
#[must_use]
pub fn sse_text(event: &str, id: Option<u64>, data: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(data.len() + event.len() + 40);
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(b"event: ");
    text.extend_from_slice(event.as_bytes());
    text.extend_from_slice(b"\ndata: ");
    text.extend_from_slice(data);
    text.extend_from_slice(b"\n\n");
    text
}
