//! The answer to one message as SSE, for any number of readers, during the turn or after it.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use gangway_core::{Event, Logged, TurnId};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Id,
    feed::{
        self,
        frame::FeedFrame,
        sse::{self, StreamAction},
    },
};

use crate::app::App;

/// Stream the answer to a message
///
/// Ends with `done`. `Last-Event-ID` resumes after that number; after the end, 204 tells a browser not to reconnect.
#[utoipa::path(get, path = "/api/stream/{streamId}", tag = "messages", params(
    ("streamId" = String, Path, description = "From the response to the message"),
    ("Last-Event-ID" = Option<String>, Header, description = "The number of the last event received"),
), responses(
    (status = 200, description = "The events of the turn, as `text/event-stream`", body = FeedFrame, content_type = "text/event-stream"),
    (status = 204, description = "There are no events after the given number"),
    (status = 404, body = ApiError),
))]
pub async fn stream(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let unknown = || {
        let shown: String = id.chars().take(80).collect();
        ApiError::new(
            StatusCode::NOT_FOUND,
            "stream_not_found",
            format!("stream {shown:?} not found"),
        )
    };
    let turn: TurnId = id.parse().map_err(|_| unknown())?;
    if turn.seq == 0 {
        return Err(unknown());
    }
    admitted
        .check_session(&app.http, &app.hub, turn.session)
        .await?;
    let session = app
        .hub
        .open(turn.session)
        .await
        .map_err(|error| match error {
            gangway_core::Error::SessionNotFound(_) => unknown(),
            other => other.into(),
        })?;
    let first = app
        .hub
        .store()
        .read(turn.session, turn.seq.saturating_sub(1), 1)
        .await?;
    let begins = first
        .events
        .first()
        .is_some_and(|e| e.seq == turn.seq && matches!(e.event, Event::MessageStarted { .. }));
    let last = headers.get("last-event-id");
    // A reader that has a part of it learns that the rest was trimmed; for others it does not exist.
    let oldest = app.hub.store().first(turn.session).await?;
    if !begins && (last.is_none() || turn.seq >= oldest) {
        return Err(unknown());
    }
    let Some(last) = last else {
        return Ok(sse::respond(
            &app.http,
            admitted,
            turn.session,
            session.subscribe(turn.seq),
            None,
            turn.seq,
            of_turn,
        )
        .into_response());
    };
    let last = String::from_utf8_lossy(last.as_bytes()).into_owned();
    // A number before the turn means: from its start.
    let early = last
        .trim()
        .parse::<u64>()
        .is_ok_and(|seen| seen <= turn.seq);
    let since = if early { turn.seq.to_string() } else { last };
    if let Ok(seen) = since.trim().parse::<u64>()
        && is_over(&app, turn, seen).await?
    {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let (subscription, opening) = feed::begin(&session, Some(&since)).await?;
    if let Some(frame @ FeedFrame::Resync { snapshot, .. }) = &opening
        && is_over(&app, turn, snapshot.seq).await?
    {
        return Ok(sse::only(frame));
    }
    Ok(sse::respond(
        &app.http,
        admitted,
        turn.session,
        subscription,
        opening.as_ref(),
        turn.seq,
        of_turn,
    )
    .into_response())
}

/// Whether the event with this number, or one before it, ended the turn.
async fn is_over(app: &App, turn: TurnId, seen: u64) -> ApiResult<bool> {
    let store = app.hub.store();
    let oldest = store.first(turn.session).await?;
    if seen > store.last(turn.session).await? {
        // Not a number of this session: an error for the reader.
        return Ok(false);
    }
    let trimmed = turn.seq < oldest;
    let mut after = turn.seq;
    loop {
        let page = app
            .hub
            .store()
            .read(turn.session, after, sse::CHUNK)
            .await?;
        for event in &page.events {
            if matches!(event.event, Event::TurnEnded { turn: ended, .. } if ended == turn.seq) {
                return Ok(event.seq <= seen);
            }
            if event.seq > seen && !trimmed {
                return Ok(false);
            }
            after = event.seq;
        }
        if !page.more {
            // Only finished turns are trimmed, so the end of this one is trimmed too.
            return Ok(trimmed && seen + 1 >= oldest);
        }
    }
}

fn of_turn(turn: u64, logged: &Logged) -> StreamAction {
    match (&logged.event, logged.event.turn(logged.seq)) {
        (Event::TurnEnded { .. }, Some(of)) if of == turn => StreamAction::Last,
        (Event::MessageStarted { .. }, _) => StreamAction::Skip,
        (_, Some(of)) if of == turn => StreamAction::Send,
        _ => StreamAction::Skip,
    }
}
