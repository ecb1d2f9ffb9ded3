//! Talking to the agent: say something, stop it, answer its question.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use gangway_core::{Command, QuestionId, Receipt, Source, TurnId, WhenBusy};

use super::{
    open,
    wire::{self, MessageAccepted, PostAnswer, PostMessage, StopResult},
};
use crate::{
    error::{ApiError, ApiResult},
    extract::{Id, Json, request_name},
    server::App,
};

/// Say something to the agent; it starts to answer at once, whether or not anyone reads the stream
#[utoipa::path(post, path = "/api/sessions/{id}/messages", tag = "messages", params(
        ("id" = String, Path, description = "The session"),
        ("Idempotency-Key" = Option<String>, Header, description = "A name for this request; sent again, it takes effect once and is answered the same"),
    ),
    request_body = PostMessage, responses(
    (status = 202, description = "Accepted, and on the disk", body = MessageAccepted),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
    (status = 409, description = "A turn runs, and `whenBusy` is `refuse`", body = ApiError),
    (status = 429, description = "Too many messages wait", body = ApiError),
))]
pub async fn post(
    State(app): State<Arc<App>>,
    Id(id): Id,
    headers: HeaderMap,
    Json(message): Json<PostMessage>,
) -> ApiResult<impl IntoResponse> {
    let name = request_name(&headers)?.map(|name| format!("rest:{name}"));
    if message.prompt.trim().is_empty() {
        return Err(ApiError::invalid("`prompt` is empty; say something"));
    }
    let when_busy = match message.when_busy {
        wire::WhenBusy::Queue => WhenBusy::Queue,
        wire::WhenBusy::Refuse => WhenBusy::Refuse,
    };
    let session = open(&app, &id).await?;
    let command = Command::Prompt {
        prompt: message.prompt,
        source: Source::Person,
        shown: true,
        when_busy,
    };
    let receipt = match name {
        Some(name) => session.submit_once(command, name).await?,
        None => session.submit(command).await?,
    };
    match receipt {
        Receipt::Accepted { turn } => {
            let stream_id = TurnId {
                session: session.id(),
                seq: turn,
            }
            .to_string();
            Ok((
                StatusCode::ACCEPTED,
                axum::Json(MessageAccepted {
                    stream_id,
                    session_id: session.id().to_string(),
                }),
            ))
        }
        other => {
            Err(gangway_core::Error::Storage(format!("a prompt was answered by {other:?}")).into())
        }
    }
}

/// Stop the running turn and drop the messages that wait
#[utoipa::path(post, path = "/api/sessions/{id}/stop", tag = "messages", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, body = StopResult),
    (status = 404, body = ApiError),
))]
pub async fn stop(State(app): State<Arc<App>>, Id(id): Id) -> ApiResult<axum::Json<StopResult>> {
    let receipt = open(&app, &id).await?.submit(Command::Stop).await?;
    let (stopped, dropped) = match receipt {
        Receipt::Stopped { running, dropped } => (running, dropped),
        _ => (false, 0),
    };
    Ok(axum::Json(StopResult {
        stopped,
        dropped: u32::try_from(dropped).unwrap_or(u32::MAX),
    }))
}

/// Answer a question of the agent
#[utoipa::path(post, path = "/api/sessions/{id}/answers", tag = "messages", params(("id" = String, Path, description = "The session")),
    request_body = PostAnswer, responses(
    (status = 204, description = "The agent has it, and it is on the disk"),
    (status = 400, body = ApiError),
    (status = 404, description = "No such session, or no such open question", body = ApiError),
))]
pub async fn answer(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Json(answer): Json<PostAnswer>,
) -> ApiResult<StatusCode> {
    let question = QuestionId::from(answer.question_id.as_str());
    open(&app, &id)
        .await?
        .submit(Command::Answer {
            question,
            text: answer.answer,
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
