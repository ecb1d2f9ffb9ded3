//! Messages to an agent: send, answer its questions, stop, read the history.

use std::{path::Path, sync::Arc};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use gangway_core::{Command, QuestionId, Receipt, Source, TurnId, WhenBusy};
use gangway_files::FilePath;
use gangway_http::{
    approval::refuse_lasting,
    error::{ApiError, ApiResult},
    extract::{Json, Query, idempotency_key},
    feed::{self, wire::History},
};
use serde::Deserialize;

use super::{caller::Caller, upload::folder_of};
use crate::{
    RemoteState,
    wire::{AcceptedByAgent, AnswerToAgent, EmptyBody, PostToAgent},
};

/// Attachments per message.
const ATTACHMENTS: usize = 20;

/// Send a message to an agent
#[utoipa::path(post, path = "/api/remote_agents/{id}/messages", tag = "agents", params(
    ("id" = String, Path, description = "The agent"),
    ("Idempotency-Key" = Option<String>, Header, description = "An idempotency key: a repeated request takes effect once"),
), request_body = PostToAgent, responses(
    (status = 202, body = AcceptedByAgent),
    (status = 400, body = ApiError),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
    (status = 409, description = "`agent_ended`", body = ApiError),
    (status = 429, description = "Too many messages are queued", body = ApiError),
))]
pub async fn messages(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    headers: HeaderMap,
    Json(message): Json<PostToAgent>,
) -> ApiResult<impl IntoResponse> {
    caller.alive()?;
    let name = idempotency_key(&headers)?;
    let prompt = prompt(&state, &caller, message).await?;
    let session = state.remote.hub.open(caller.session).await?;
    let command = Command::Prompt {
        prompt,
        source: Source::Person,
        shown: true,
        when_busy: WhenBusy::Queue,
    };
    let receipt = match name {
        Some(name) => session.submit_once(command, format!("remote:{name}")).await,
        None => session.submit(command).await,
    };
    let receipt = receipt.map_err(refused)?;
    let Receipt::Accepted { turn } = receipt else {
        let text = format!("a message was answered by {receipt:?}");
        return Err(gangway_core::Error::Storage(text).into());
    };
    let turn = TurnId {
        session: session.id(),
        seq: turn,
    };
    let stream_id = turn.to_string();
    Ok((
        StatusCode::ACCEPTED,
        axum::Json(AcceptedByAgent { stream_id }),
    ))
}

/// Errors in terms of the agent: its visitors know no sessions.
fn refused(error: gangway_core::Error) -> ApiError {
    use gangway_core::Error::{QueueFull, QueueTooLong};
    let limit = match &error {
        QueueFull { limit } => format!("at most {limit} messages (sessions.queued_prompts)"),
        QueueTooLong { limit } => format!("at most {limit} bytes of messages"),
        _ => return error.into(),
    };
    let mut refused = ApiError::from(error);
    refused.message =
        format!("this agent queues {limit}; try again after it has answered one of them");
    refused.error = refused.message.as_str().into();
    refused
}

/// The message for the agent: the text and the paths of its attachments.
async fn prompt(state: &RemoteState, caller: &Caller, message: PostToAgent) -> ApiResult<String> {
    let PostToAgent {
        mut text,
        attachments,
    } = message;
    if text.trim().is_empty() && attachments.is_empty() {
        return Err(ApiError::invalid("`text` must not be empty"));
    }
    if attachments.is_empty() {
        return Ok(text);
    }
    if attachments.len() > ATTACHMENTS {
        let reason = format!(
            "a message can have at most {ATTACHMENTS} attachments; send the others with another message"
        );
        return Err(ApiError::invalid(reason));
    }
    let record = caller.record();
    let folder = state
        .remote
        .workspaces
        .open(Path::new(&record.folder))
        .await;
    let folder = folder.map_err(|error| ApiError::invalid(error.to_string()))?;
    let own = folder_of(&caller.id);
    for path in attachments {
        let wrong = || {
            let shown: String = path.chars().take(200).collect();
            ApiError::invalid(format!("{shown:?} is not an upload of this agent"))
        };
        let parsed: FilePath = path.parse().map_err(|_| wrong())?;
        let ours = parsed.as_str().strip_prefix(&own);
        if !ours.is_some_and(|rest| rest.starts_with('/')) {
            return Err(wrong());
        }
        folder.stat(&parsed).await.map_err(|_| wrong())?;
        text.push_str(&format!("\n\n[Attached file: {}]", parsed.as_str()));
    }
    Ok(text.trim_start().to_owned())
}

/// Answer a question of an agent
#[utoipa::path(post, path = "/api/remote_agents/{id}/answer", tag = "agents", params(("id" = String, Path, description = "The agent")),
    request_body = AnswerToAgent, responses(
    (status = 200, description = "Stored and passed to the agent", body = EmptyBody),
    (status = 400, body = ApiError),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found` or `question_not_found`", body = ApiError),
    (status = 409, description = "`agent_ended`", body = ApiError),
))]
pub async fn answer(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    Json(answer): Json<AnswerToAgent>,
) -> ApiResult<axum::Json<EmptyBody>> {
    caller.alive()?;
    // Visitors decide about this agent only, not about the owner's other chats.
    refuse_lasting(&answer.answer)?;
    let session = state.remote.hub.open(caller.session).await?;
    let command = Command::Answer {
        question: QuestionId::from(answer.question_id.as_str()),
        text: answer.answer,
    };
    session.submit(command).await?;
    Ok(axum::Json(EmptyBody {}))
}

/// Stop an agent's turn and drop the queued messages
#[utoipa::path(post, path = "/api/remote_agents/{id}/stop", tag = "agents", params(("id" = String, Path, description = "The agent")), responses(
    (status = 200, body = EmptyBody),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
    (status = 409, description = "`agent_ended`", body = ApiError),
))]
pub async fn stop(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
) -> ApiResult<axum::Json<EmptyBody>> {
    caller.alive()?;
    let session = state.remote.hub.open(caller.session).await?;
    session.submit(Command::Stop).await?;
    Ok(axum::Json(EmptyBody {}))
}

#[derive(Deserialize)]
pub struct HistoryQuery {
    before: Option<u64>,
    limit: Option<usize>,
}

/// Read the history of an agent, oldest line first
#[utoipa::path(get, path = "/api/remote_agents/{id}/history", tag = "agents", params(
    ("id" = String, Path, description = "The agent"),
    ("before" = Option<u64>, Query, description = "Only lines that began before this number"),
    ("limit" = Option<usize>, Query, description = "Number of events to read, 1 to 2000; default 400"),
), responses(
    (status = 200, body = History),
    (status = 400, body = ApiError),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
))]
pub async fn history(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    Query(part): Query<HistoryQuery>,
) -> ApiResult<axum::Json<History>> {
    let page = feed::page(
        state.remote.hub.store(),
        caller.session,
        part.before,
        part.limit,
    );
    Ok(axum::Json(page.await?))
}
