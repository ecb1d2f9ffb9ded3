//! Messages to an agent: send, stop, answer its questions.

use std::{path::Path, sync::Arc};

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use gangway_core::{Command, QuestionId, Receipt, Session, Source, TurnId, WhenBusy};
use gangway_files::{FileError, FilePath};
use gangway_http::{
    access::Scope,
    approval::refuse_lasting,
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::{Json, idempotency_key},
};

use super::{
    SessionPath, open,
    wire::{self, MessageAccepted, PostAnswer, PostMessage, StopResult},
};
use crate::app::App;

/// Send a message to the agent; its turn starts at once, whether or not the stream is read
#[utoipa::path(post, path = "/api/sessions/{id}/messages", tag = "messages", params(
        ("id" = String, Path, description = "The session"),
        ("Idempotency-Key" = Option<String>, Header, description = "An idempotency key: a repeated request takes effect once and gets the same response"),
    ),
    request_body = PostMessage, responses(
    (status = 202, description = "Accepted and stored", body = MessageAccepted),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
    (status = 409, description = "A turn is running, and `whenBusy` is `refuse`", body = ApiError),
    (status = 429, description = "Too many messages are queued", body = ApiError),
))]
pub async fn post(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
    headers: HeaderMap,
    Json(message): Json<PostMessage>,
) -> ApiResult<impl IntoResponse> {
    let name = idempotency_key(&headers)?.map(|name| format!("rest:{name}"));
    if message.prompt.trim().is_empty() {
        return Err(ApiError::invalid("`prompt` must not be empty"));
    }
    let when_busy = match message.when_busy {
        wire::WhenBusy::Queue => WhenBusy::Queue,
        wire::WhenBusy::Refuse => WhenBusy::Refuse,
    };
    let session = open(&app, id).await?;
    let prompt = match message.image_data.filter(|image| !image.is_empty()) {
        Some(image) => with_picture(&app, &session, message.prompt, &image).await?,
        None => message.prompt,
    };
    if let Some(patch) = message.applet_state {
        let applet = app.applets.registry.unnamed(&app.hub, session.id()).await?;
        let source = Source::Applet {
            slug: applet.to_string(),
        };
        let command = Command::SetState {
            applet,
            patch,
            source,
        };
        match &name {
            Some(name) => {
                session
                    .submit_once(command, format!("{name}:state"))
                    .await?
            }
            None => session.submit(command).await?,
        };
    }
    let command = Command::Prompt {
        prompt,
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

/// Stores an image in the session's folder and refers to it in the message.
async fn with_picture(
    app: &App,
    session: &Session,
    prompt: String,
    image: &str,
) -> ApiResult<String> {
    let wrong = || {
        let message = "`imageData` must be data:image/png;base64,… (or jpeg, gif, webp)";
        ApiError::invalid(message)
    };
    let (kind, content) = image.split_once(";base64,").ok_or_else(wrong)?;
    let kind = kind.strip_prefix("data:image/").ok_or_else(wrong)?;
    if !["png", "jpeg", "gif", "webp"].contains(&kind) {
        return Err(wrong());
    }
    let content = BASE64_STANDARD.decode(content).map_err(|_| wrong())?;
    // Named by content, so that a repeated message leaves one file.
    let hash = blake3::hash(&content).to_hex();
    let name = format!("uploads/{}.{kind}", &hash[..16]);
    let failed = |error: FileError| ApiError::invalid(format!("`imageData`: {error}"));
    let path: FilePath = name.parse().map_err(failed)?;
    let cwd = session.profile()?.cwd;
    let folder = app.workspaces.open(Path::new(&cwd)).await;
    let folder = folder.map_err(failed)?;
    folder.write(&path, content.into()).await.map_err(failed)?;
    Ok(format!("{prompt}\n\n[Attached file: {}]", path.as_str()))
}

/// Stop the running turn and drop the queued messages
#[utoipa::path(post, path = "/api/sessions/{id}/stop", tag = "messages", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, body = StopResult),
    (status = 404, body = ApiError),
))]
pub async fn stop(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
) -> ApiResult<axum::Json<StopResult>> {
    let receipt = open(&app, id).await?.submit(Command::Stop).await?;
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
    (status = 204, description = "Stored and passed to the agent"),
    (status = 400, body = ApiError),
    (status = 403, description = "The answer would apply to every chat, which needs the scope admin", body = ApiError),
    (status = 404, description = "Session or open question not found", body = ApiError),
))]
pub async fn answer(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    SessionPath(id): SessionPath,
    Json(answer): Json<PostAnswer>,
) -> ApiResult<StatusCode> {
    if !admitted.may(&app.http, Scope::Admin) {
        refuse_lasting(&answer.answer)?;
    }
    let question = QuestionId::from(answer.question_id.as_str());
    open(&app, id)
        .await?
        .submit(Command::Answer {
            question,
            text: answer.answer,
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
