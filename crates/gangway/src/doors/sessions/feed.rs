//! The feed of a whole session: everything it says, from any number on, over SSE or WebSocket.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::{SinkExt, StreamExt, stream::SplitSink};
use gangway_core::{Logged, Session, Subscription};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{
        begin, closing, encode,
        frame::FeedFrame,
        sse::{self, CHUNK, Pass},
    },
    metrics::Counted,
    pace::{Pace, Verdict},
    socket::{Ending, PROTOCOL, answer_close, refuse, say_goodbye, text_message, to_json, within},
};
use serde::Deserialize;
use tokio::time::Instant;

use super::{SessionPath, open};
use crate::server::App;

/// What a connection gathers before it writes: a burst goes out in few writes, and a quiet one holds nothing.
const WRITE: usize = 16 << 10;

/// Where to begin.
#[derive(Deserialize)]
pub struct Since {
    since: Option<String>,
}

/// Follow a session over SSE or WebSocket
///
/// Without `since` (or `Last-Event-ID`) the first frame is a `snapshot`. With it, every event after that number follows;
/// where that cannot be done without a gap, the first frame is a `resync` with a snapshot. Frames are `FeedFrame`s.
#[utoipa::path(get, path = "/api/sessions/{id}/events", tag = "messages", params(
    ("id" = String, Path, description = "The session"),
    ("since" = Option<String>, Query, description = "The last number that was seen; 0 for everything"),
    ("Last-Event-ID" = Option<String>, Header, description = "The same, as browsers send it; it beats `since`"),
), responses(
    (status = 200, description = "The feed, as `text/event-stream`", body = FeedFrame, content_type = "text/event-stream"),
    (status = 101, description = "The feed, as text messages on a WebSocket"),
    (status = 404, body = ApiError),
))]
pub async fn events(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
    Query(query): Query<Since>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let session = open(&app, id).await?;
    let last = headers
        .get("last-event-id")
        .map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
    let (subscription, opening) = begin(&session, last.or(query.since).as_deref()).await?;
    match upgrade {
        Ok(upgrade) => Ok(upgrade
            // The defaults hold 128 KiB for each connection; nearly all of them are idle nearly always.
            .protocols([PROTOCOL])
            .read_buffer_size(4096)
            .write_buffer_size(WRITE)
            .max_message_size(app.http.limits.frame_bytes)
            .max_frame_size(app.http.limits.frame_bytes)
            .on_upgrade(move |socket| {
                let feeds = app.http.sockets.clone();
                feeds.track_future(follow(
                    app,
                    admitted,
                    session,
                    subscription,
                    opening,
                    socket,
                ))
            })),
        Err(_) if headers.contains_key(header::UPGRADE) => Err(ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "this is not a WebSocket handshake of version 13",
        )),
        Err(_) => Ok(sse::respond(
            &app.http,
            admitted,
            session.id(),
            subscription,
            opening.as_ref(),
            0,
            |_, _| Pass::Send,
        )
        .into_response()),
    }
}

async fn follow(
    app: Arc<App>,
    admitted: Admitted,
    session: Arc<Session>,
    mut subscription: Subscription,
    opening: Option<FeedFrame>,
    socket: WebSocket,
) {
    let _counted = Counted::new(&app.http.metrics.readers);
    let heartbeat = Duration::from_secs(app.http.limits.heartbeat_seconds.max(1));
    let stalled = Duration::from_secs(app.http.limits.stalled_seconds.max(1));
    let (mut sink, mut inbox) = socket.split();
    if let Some(frame) = opening
        && sink.send(text_message(to_json(&frame))).await.is_err()
    {
        return;
    }
    let mut ended = pin!(admitted.ended(&app.http));
    let mut pace = Pace::new();
    let mut deaf_until = None;
    let why = loop {
        let hear = async {
            // No timer for those who are silent: that is nearly everyone, at every event.
            if let Some(until) = deaf_until {
                tokio::time::sleep_until(until).await;
            }
            inbox.next().await
        };
        let sent = tokio::select! {
            next = within(heartbeat, subscription.next(CHUNK)) => match next {
                // A write that the client does not take is given up by the connection below.
                Some(Ok(Ok(events))) => send_all(&mut sink, session.id(), events).await,
                Some(Ok(Err(why))) => break Ending::Log(why),
                Some(Err(error)) => break Ending::unreadable(&error),
                None => within(stalled, sink.send(Message::Ping(Default::default()))).await.unwrap_or(Ok(())),
            },
            () = &mut ended => break Ending::Revoked,
            heard = hear => match heard {
                None => return,
                Some(Ok(Message::Close(_))) => {
                    within(stalled, answer_close(&mut inbox)).await;
                    return;
                }
                // Clients have nothing to say here; pings are answered by the library, also when the client reads nothing.
                Some(Ok(_)) => match pace.take() {
                    Verdict::Go => {
                        deaf_until = None;
                        Ok(())
                    }
                    Verdict::Wait(time) => {
                        deaf_until = Some(Instant::now() + time);
                        Ok(())
                    }
                    Verdict::Flood => break Ending::Flood,
                },
                Some(Err(error)) => {
                    within(stalled, refuse(sink, error)).await;
                    return;
                }
            },
        };
        if sent.is_err() {
            return;
        }
    };
    why.count(&app.http.metrics);
    let last = text_message(to_json(&closing(why)));
    within(stalled, say_goodbye(sink, inbox, last, why.close())).await;
}

async fn send_all(
    sink: &mut SplitSink<WebSocket, Message>,
    session: gangway_core::SessionId,
    events: Vec<Arc<Logged>>,
) -> Result<(), axum::Error> {
    for event in events {
        let json = encode::json(session, &event);
        // Given back before the wait: a client that stalls holds what it is sent, not every form of it.
        drop(event);
        sink.feed(text_message(json)).await?;
    }
    sink.flush().await
}
