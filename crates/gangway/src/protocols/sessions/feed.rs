//! The feed of a session: its events from any number on, over SSE or WebSocket.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{State, ws::Message},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use gangway_core::{Logged, SessionId, Subscription};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{
        begin, closing, encode,
        frame::FeedFrame,
        last_seen,
        sse::{self, CHUNK, StreamAction},
    },
    metrics::Counted,
    socket::{
        Ending, Frames, Handled, Incoming, Peer, UpgradeResult, accept, serve, text_message,
        to_json, upgrade,
    },
};
use serde::Deserialize;

use super::{SessionPath, open};
use crate::app::App;

#[derive(Deserialize)]
pub struct EventsQuery {
    since: Option<String>,
}

/// Follow a session over SSE or WebSocket
///
/// Without `since` (or `Last-Event-ID`) the first frame is a `snapshot`. With it, every event after that number
/// follows; if that would leave a gap, the first frame is a `resync` with a snapshot. Frames are `FeedFrame`s.
#[utoipa::path(get, path = "/api/sessions/{id}/events", tag = "messages", params(
    ("id" = String, Path, description = "The session"),
    ("since" = Option<String>, Query, description = "The number of the last event received; 0 for all events"),
    ("Last-Event-ID" = Option<String>, Header, description = "The same, as browsers send it; takes precedence over `since`"),
), responses(
    (status = 200, description = "The feed, as `text/event-stream`", body = FeedFrame, content_type = "text/event-stream"),
    (status = 101, description = "The feed, as text messages on a WebSocket"),
    (status = 404, body = ApiError),
))]
pub async fn events(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
    Query(query): Query<EventsQuery>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    socket: UpgradeResult,
) -> ApiResult<Response> {
    let session = open(&app, id).await?;
    let since = last_seen(&headers, query.since);
    let (subscription, opening) = begin(&session, since.as_deref()).await?;
    match socket {
        Ok(socket) => {
            let frames = Frames::of(app.http.limits.frame_bytes);
            let mut reader = Reader {
                session: session.id(),
                subscription,
                opening,
                events: Vec::new().into_iter(),
            };
            let upgrade = upgrade(Ok(socket), frames)?;
            let http = Arc::clone(&app.http);
            Ok(accept(&http, upgrade, async move |socket| {
                // A session with subscribers stays in memory.
                let _open = session;
                let _counted = Counted::new(&app.http.metrics.readers);
                serve(&app.http, &admitted, socket, &mut reader).await;
            }))
        }
        Err(_) if headers.contains_key(header::UPGRADE) => Err(ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "not a WebSocket handshake of version 13",
        )),
        Err(_) => Ok(sse::respond(
            &app.http,
            admitted,
            session.id(),
            subscription,
            opening.as_ref(),
            0,
            |_, _| StreamAction::Send,
        )
        .into_response()),
    }
}

struct Reader {
    session: SessionId,
    subscription: Subscription,
    opening: Option<FeedFrame>,
    events: std::vec::IntoIter<Arc<Logged>>,
}

impl Peer for Reader {
    const FOLLOWS_LOG: bool = true;

    async fn ready(&mut self) -> Result<(), Ending> {
        match self.subscription.next(CHUNK).await {
            Ok(Ok(events)) => {
                self.events = events.into_iter();
                Ok(())
            }
            Ok(Err(why)) => Err(Ending::Log(why)),
            Err(error) => Err(Ending::unreadable(&error)),
        }
    }

    // One at a time, so that a stalled client holds only one encoded event.
    fn take(&mut self) -> Option<Message> {
        if let Some(frame) = self.opening.take() {
            return Some(text_message(to_json(&frame)));
        }
        let event = self.events.next()?;
        Some(text_message(encode::json(self.session, &event)))
    }

    // Clients send nothing here.
    fn incoming(&mut self, _message: Incoming) -> Handled {
        Handled::Counted
    }

    fn closing(&self, why: Ending) -> Option<Message> {
        Some(text_message(to_json(&closing(why))))
    }
}
