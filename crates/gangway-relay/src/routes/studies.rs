//! Routes of study sessions: list, events, summary and export.

use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use crate::{
    StudyId,
    study::{
        Lines, LogError, MOST_EVENTS, StudyEvents, StudyList, StudyRecord, StudySummary, write_csv,
    },
};
use axum::{
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
};
use bytes::Bytes;
use futures_util::stream;
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Id, Query},
};
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use crate::RelayState;

/// Buffer of a download.
const CHUNK: usize = 64 << 10;
const CHUNKS: usize = 4;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Events after this number.
    #[serde(default)]
    after: u64,
    /// At most 1000.
    #[serde(default = "most")]
    limit: usize,
}

fn most() -> usize {
    MOST_EVENTS
}

fn not_found(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!(
        "study session {id:?} not found; /study and `gangway study list` show all study sessions"
    );
    ApiError::new(StatusCode::NOT_FOUND, "study_not_found", message)
}

fn unreadable(error: LogError) -> ApiError {
    let message = error.to_string();
    match error {
        LogError::Missing => ApiError::new(StatusCode::NOT_FOUND, "study_log_gone", message),
        LogError::Damaged { .. } => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "study_log_damaged",
            message,
        ),
        LogError::Io(error) => {
            tracing::error!(%error, "cannot read a study log");
            let message = "cannot read the study log; see the server's log";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
        }
    }
}

async fn known(state: &RelayState, id: &str) -> ApiResult<StudyId> {
    let parsed: StudyId = id.parse().map_err(|_| not_found(id))?;
    match state.relay.studies.get(&parsed).await? {
        Some(_) => Ok(parsed),
        None => Err(not_found(id)),
    }
}

/// Processes the lines of a log on a blocking thread.
async fn with_lines<T: Send + 'static>(
    state: &RelayState,
    id: &str,
    work: impl FnOnce(Lines) -> Result<T, LogError> + Send + 'static,
) -> ApiResult<T> {
    let path = state.relay.studies.log_path(&known(state, id).await?);
    let done = tokio::task::spawn_blocking(move || work(Lines::open(&path)?)).await;
    let done = done.map_err(|_| ApiError::from(gangway_core::Error::Stopping))?;
    done.map_err(unreadable)
}

/// List the study sessions
#[utoipa::path(get, path = "/api/study", tag = "study", responses((status = 200, body = StudyList)))]
pub async fn list(State(state): State<Arc<RelayState>>) -> ApiResult<axum::Json<StudyList>> {
    let open = |id: &StudyId, record: &StudyRecord| {
        let name = record.relay_session.parse().ok()?;
        let log = state.relay.get(&name)?.study()?;
        (log.id() == id).then(|| log.count())
    };
    Ok(axum::Json(state.relay.studies.entries(open).await?))
}

/// Read events of a study session, oldest first
#[utoipa::path(get, path = "/api/study/{id}/events", tag = "study", params(("id" = String, Path, description = "The study session"), EventsQuery), responses(
    (status = 200, body = StudyEvents),
    (status = 404, body = ApiError),
    (status = 422, description = "A line of the log is damaged", body = ApiError),
))]
pub async fn events(
    State(state): State<Arc<RelayState>>,
    Id(id): Id,
    Query(which): Query<EventsQuery>,
) -> ApiResult<axum::Json<StudyEvents>> {
    let page = with_lines(&state, &id, move |lines| {
        lines.page(which.after, which.limit)
    });
    Ok(axum::Json(page.await?))
}

/// Summarize a study session: steps, errors and time by stage and actor
#[utoipa::path(get, path = "/api/study/{id}/summary", tag = "study", params(("id" = String, Path, description = "The study session")), responses(
    (status = 200, body = StudySummary),
    (status = 404, body = ApiError),
    (status = 422, description = "A line of the log is damaged", body = ApiError),
))]
pub async fn summary(
    State(state): State<Arc<RelayState>>,
    Id(id): Id,
) -> ApiResult<axum::Json<StudySummary>> {
    Ok(axum::Json(with_lines(&state, &id, StudySummary::of).await?))
}

/// Download a study session as CSV, one event per row
#[utoipa::path(get, path = "/api/study/{id}/csv", tag = "study", params(("id" = String, Path, description = "The study session")), responses(
    (status = 200, description = "UTF-8, with a header row", body = String, content_type = "text/csv"),
    (status = 404, body = ApiError),
    (status = 422, description = "A line of the log is damaged", body = ApiError),
))]
pub async fn csv(State(state): State<Arc<RelayState>>, Id(id): Id) -> ApiResult<impl IntoResponse> {
    // Validated first: once the response has started, a damaged line cannot be reported.
    with_lines(&state, &id, |mut lines| {
        lines.try_for_each(|line| line.map(drop))
    })
    .await?;
    let path = state.relay.studies.log_path(&known(&state, &id).await?);
    let body = download(move |out| {
        let lines = Lines::open(&path).map_err(io::Error::other)?;
        write_csv(lines, out).map_err(io::Error::other)
    });
    Ok((file_headers("text/csv; charset=utf-8", &id, "csv"), body))
}

/// Download the original log of a study session
#[utoipa::path(get, path = "/api/study/{id}/jsonl", tag = "study", params(("id" = String, Path, description = "The study session")), responses(
    (status = 200, description = "JSON Lines: each line is an event", body = String, content_type = "application/jsonl"),
    (status = 404, body = ApiError),
))]
pub async fn jsonl(
    State(state): State<Arc<RelayState>>,
    Id(id): Id,
) -> ApiResult<impl IntoResponse> {
    let path = state.relay.studies.log_path(&known(&state, &id).await?);
    let opened = tokio::task::spawn_blocking(move || {
        let file = std::fs::File::open(path)?;
        // Lines added meanwhile could be cut in the middle.
        let length = file.metadata()?.len();
        Ok::<_, io::Error>(file.take(length))
    });
    let opened = opened.await.map_err(|_| gangway_core::Error::Stopping)?;
    let mut file = opened.map_err(|error| unreadable(error.into()))?;
    let body = download(move |out| io::copy(&mut file, out).map(|_| ()));
    Ok((file_headers("application/jsonl", &id, "jsonl"), body))
}

fn file_headers(kind: &str, id: &str, ending: &str) -> [(header::HeaderName, String); 2] {
    let name = format!("attachment; filename=\"{id}.{ending}\"");
    [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ]
}

/// A streamed body, written by a blocking thread.
fn download(write: impl FnOnce(&mut Chunks) -> io::Result<()> + Send + 'static) -> Body {
    let (sender, receiver) = mpsc::channel(CHUNKS);
    tokio::task::spawn_blocking(move || {
        let mut out = Chunks {
            sender,
            chunk: Vec::with_capacity(CHUNK),
        };
        let written = write(&mut out).and_then(|()| out.flush());
        if let Err(error) = written {
            // The client sees that the response is incomplete.
            let _ = out.sender.blocking_send(Err(error));
        }
    });
    Body::from_stream(stream::unfold(receiver, |mut receiver| async {
        Some((receiver.recv().await?, receiver))
    }))
}

struct Chunks {
    sender: mpsc::Sender<io::Result<Bytes>>,
    chunk: Vec<u8>,
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() >= CHUNK {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        let sent = self.sender.blocking_send(Ok(chunk.into()));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
