//! The history of a session: as JSON, as HTML fragments, and as a file with every event.

use std::{fmt::Write, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::State,
    http::{HeaderMap, header},
    response::{Html, IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use gangway_core::{SessionId, Store};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{
        self, encode,
        sse::CHUNK,
        wire::{Entry, EntryBody, History, Source},
    },
    html::escape,
};
use serde::Deserialize;

use super::{SessionPath, session_id};
use crate::app::App;

#[derive(Deserialize)]
pub struct HistoryQuery {
    session: Option<String>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// Read the transcript, oldest line first
#[utoipa::path(get, path = "/api/history", tag = "messages", params(
    ("session" = String, Query, description = "The session"),
    ("before" = Option<u64>, Query, description = "Only lines that began before this number"),
    ("limit" = Option<usize>, Query, description = "Number of events to read, 1 to 2000; default 400"),
    ("Accept" = Option<String>, Header, description = "`text/html` for HTML fragments"),
), responses((status = 200, body = History), (status = 400, body = ApiError), (status = 404, body = ApiError)))]
pub async fn history(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    Query(part): Query<HistoryQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let id = part
        .session
        .ok_or_else(|| ApiError::invalid("`session` is required: /api/history?session=ID"))?;
    let id = session_id(&id)?;
    admitted.check_session(&app.http, &app.hub, id).await?;
    app.hub.describe(id).await?;
    let page = feed::page(app.hub.store(), id, part.before, part.limit).await?;
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    if accept.contains("text/html") {
        return Ok(Html(fragments(&page.entries)).into_response());
    }
    Ok(axum::Json(page).into_response())
}

/// Download every event of a session as JSON Lines
#[utoipa::path(get, path = "/api/sessions/{id}/export", tag = "messages", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, description = "JSON Lines: each line is an event as the feed sends it", body = String, content_type = "application/jsonl"),
    (status = 404, body = ApiError),
))]
pub async fn export(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
) -> ApiResult<impl IntoResponse> {
    app.hub.describe(id).await?;
    let store = app.hub.store().clone();
    let last = store.last(id).await?;
    // Read before the response starts, so that damage at the beginning is reported as an error.
    let first = page_of_lines(&store, id, 0, last).await?;
    let after = first.as_ref().map_or(last, |(_, after)| *after);
    let rest = stream::try_unfold(after, move |after| {
        let store = store.clone();
        async move { page_of_lines(&store, id, after, last).await }
    });
    let first = first.map(|(lines, _)| Ok(lines));
    let lines = stream::iter(first).chain(rest);
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{id}.jsonl\""),
        ),
    ];
    Ok((headers, Body::from_stream(lines)))
}

async fn page_of_lines(
    store: &Store,
    id: SessionId,
    after: u64,
    last: u64,
) -> gangway_core::Result<Option<(Bytes, u64)>> {
    if after >= last {
        return Ok(None);
    }
    let page = store.read(id, after, CHUNK).await?;
    let Some(newest) = page.events.last() else {
        return Ok(None);
    };
    let mut lines = BytesMut::new();
    for event in page.events.iter().filter(|event| event.seq <= last) {
        lines.extend_from_slice(&encode::json(id, event));
        lines.extend_from_slice(b"\n");
    }
    Ok(Some((lines.freeze(), newest.seq)))
}

/// One element per line; all content is escaped.
fn fragments(entries: &[Entry]) -> String {
    let mut html = String::new();
    for entry in entries.iter().filter(|entry| !entry.hidden) {
        let _ = match &entry.line {
            EntryBody::User {
                content,
                source: Source::Person,
            } => writeln!(
                html,
                "<div class=\"message user\">{}</div>",
                escape(content)
            ),
            EntryBody::User {
                content,
                source: Source::Applet { slug },
            } => writeln!(
                html,
                "<div class=\"message user applet-invoked\" data-applet-source=\"{}\">{}</div>",
                escape(slug),
                escape(content)
            ),
            EntryBody::User {
                content,
                source: Source::Agent { name },
            } => writeln!(
                html,
                "<div class=\"message user agent-sent\" data-agent-source=\"{}\">{}</div>",
                escape(name),
                escape(content)
            ),
            EntryBody::User {
                content,
                source: Source::Page { origin },
            } => writeln!(
                html,
                "<div class=\"message user page-sent\" data-page-source=\"{}\">{}</div>",
                escape(origin),
                escape(content)
            ),
            EntryBody::Assistant { content, .. } => writeln!(
                html,
                "<div class=\"message assistant\">{}</div>",
                escape(content)
            ),
            EntryBody::Tool { tool, .. } => {
                writeln!(html, "<div class=\"message tool\">{}</div>", escape(tool))
            }
            EntryBody::App { app, app_event, .. } => {
                let app_event = serde_json::to_string(app_event).unwrap_or_default();
                let (app, app_event) = (escape(app), escape(&app_event));
                writeln!(
                    html,
                    "<div class=\"message app\" data-app=\"{app}\">{app}: {app_event}</div>"
                )
            }
            EntryBody::PageCall { tool, .. } => {
                let tool = escape(tool);
                writeln!(html, "<div class=\"message tool page-call\">{tool}</div>")
            }
            EntryBody::PageMessage { content, by, .. } => writeln!(
                html,
                "<div class=\"message page-message\">{}: {}</div>",
                escape(by.as_deref().unwrap_or("You")),
                escape(content)
            ),
            EntryBody::Notice { message } => writeln!(
                html,
                "<div class=\"message notice\">{}</div>",
                escape(message)
            ),
            EntryBody::Question {
                question, answer, ..
            } => {
                let answer = answer.as_deref().unwrap_or("not answered yet");
                writeln!(
                    html,
                    "<div class=\"message question\">{}: {}</div>",
                    escape(question),
                    escape(answer)
                )
            }
            EntryBody::Error { message, .. } => writeln!(
                html,
                "<div class=\"message error\">{}</div>",
                escape(message)
            ),
            EntryBody::End { outcome } => {
                writeln!(html, "<div class=\"message end\">{outcome:?}</div>")
            }
        };
    }
    html
}
