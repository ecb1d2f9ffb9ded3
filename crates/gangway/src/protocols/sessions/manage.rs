//! Creating, listing, reading, changing and deleting sessions.

use std::{path::PathBuf, sync::Arc};

use axum::{Extension, extract::State, http::StatusCode, response::IntoResponse};
use gangway_core::last_used_session;
use gangway_core::{Command, NewSession, Readiness};
use gangway_http::{
    access::Scope,
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::{Json, Query},
    feed::wire::Session,
};
use serde::Deserialize;

use super::{
    SessionPath, open,
    wire::{AgentInfo, AgentList, CreateSession, SessionList, UpdateSession},
};
use crate::app::App;

/// Maximum and default page size.
const MOST: usize = 200;
const USUAL: usize = 50;

/// Length limit of titles and names, in characters.
const NAME_CHARS: usize = 200;

#[derive(Deserialize)]
pub struct Page {
    limit: Option<usize>,
    before: Option<String>,
}

/// List sessions, newest first
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(
    ("limit" = Option<usize>, Query, description = "1 to 200; default 50"),
    ("before" = Option<String>, Query, description = "`next` of the previous page"),
), responses((status = 200, body = SessionList), (status = 400, body = ApiError)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    Query(page): Query<Page>,
) -> ApiResult<axum::Json<SessionList>> {
    let limit = page.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(ApiError::invalid(format!("`limit` must be 1 to {MOST}")));
    }
    let before = page
        .before
        .map(|id| {
            id.parse()
                .map_err(|_| ApiError::invalid("`before` must be the `next` of a page"))
        })
        .transpose()?;
    let listing = app.hub.list(before, limit).await?;
    let sessions = listing
        .sessions
        .into_iter()
        // A relay session in which nothing happened is nothing to look at.
        .filter(|(_, profile, _)| !gangway_relay::is_unused(profile))
        .filter(|(_, profile, _)| admitted.may_use_session_of(&app.http, &app.hub, profile))
        .map(|(id, profile, running)| Session::new(id, profile, running))
        .collect();
    Ok(axum::Json(SessionList {
        sessions,
        next: listing.next.map(|id| id.to_string()),
    }))
}

/// Create a session
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = CreateSession, responses(
    (status = 201, body = Session),
    (status = 400, body = ApiError),
))]
pub async fn create(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    Json(request): Json<CreateSession>,
) -> ApiResult<impl IntoResponse> {
    check_names(&[
        ("title", &request.title),
        ("model", &request.model),
        ("agent", &request.agent),
    ])?;
    let cwd = match request.cwd {
        Some(_) if !admitted.may(&app.http, Scope::Admin) => {
            let message = "choosing a folder with `cwd` needs the scope admin: its files could then be read and changed";
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "scope_required",
                message,
            ));
        }
        Some(folder) => workspace(&app, folder).await?,
        None => String::new(),
    };
    if let Some(agent) = &request.agent {
        app.hub.agents().chosen(agent)?;
    }
    let new = NewSession {
        title: request.title,
        cwd,
        model: request.model,
        agent: request.agent,
        ephemeral: false,
    };
    let (id, profile) = app.sessions.create(new).await?;
    Ok((
        StatusCode::CREATED,
        axum::Json(Session::new(id, profile, false)),
    ))
}

/// Get the most recently used session
#[utoipa::path(get, path = "/api/session", tag = "sessions", responses(
    (status = 200, body = Session),
    (status = 404, description = "There is no session yet", body = ApiError),
))]
pub async fn last(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
) -> ApiResult<axum::Json<Session>> {
    let last = last_used_session(&app.hub).await?.ok_or_else(|| {
        let message = "there is no session yet; create one with POST /api/sessions";
        ApiError::new(StatusCode::NOT_FOUND, "session_not_found", message)
    })?;
    admitted.check_session(&app.http, &app.hub, last).await?;
    let (profile, running) = app.hub.describe(last).await?;
    Ok(axum::Json(Session::new(last, profile, running)))
}

/// Get a session
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, body = Session),
    (status = 404, body = ApiError),
))]
pub async fn show(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
) -> ApiResult<axum::Json<Session>> {
    let (profile, running) = app.hub.describe(id).await?;
    Ok(axum::Json(Session::new(id, profile, running)))
}

/// Change title, model or agent
#[utoipa::path(patch, path = "/api/sessions/{id}", tag = "sessions", params(("id" = String, Path, description = "The session")),
    request_body = UpdateSession, responses(
    (status = 200, body = Session),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
pub async fn update(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
    Json(request): Json<UpdateSession>,
) -> ApiResult<axum::Json<Session>> {
    check_names(&[
        ("title", &request.title),
        ("model", &request.model),
        ("agent", &request.agent),
    ])?;
    let session = open(&app, id).await?;
    session
        .submit(Command::Change {
            title: request.title,
            model: request.model,
            agent: request.agent,
        })
        .await?;
    Ok(axum::Json(Session::new(
        session.id(),
        session.profile()?,
        session.is_running(),
    )))
}

/// Delete a session and its log
#[utoipa::path(delete, path = "/api/sessions/{id}", tag = "sessions", params(("id" = String, Path, description = "The session")), responses(
    (status = 204, description = "Deleted; its streams have ended"),
    (status = 404, body = ApiError),
))]
pub async fn delete(
    State(app): State<Arc<App>>,
    SessionPath(id): SessionPath,
) -> ApiResult<StatusCode> {
    let session = open(&app, id).await?;
    if let Some(agent) = app.remote.of_session(session.id()) {
        // First, while the process can still be found by its session.
        let because = "its session was deleted";
        app.remote.end(&agent, because).await?;
    }
    session.submit(Command::Delete).await?;
    app.sessions.remove_folder(session.id()).await;
    Ok(StatusCode::NO_CONTENT)
}

/// List the agents that can take turns
#[utoipa::path(get, path = "/api/agents", tag = "sessions", responses((status = 200, body = AgentList)))]
pub async fn agents(State(app): State<Arc<App>>) -> axum::Json<AgentList> {
    let agents = app.hub.agents();
    let info = |(name, agent): (&String, &Arc<dyn gangway_core::Agent>)| {
        let reason = match agent.readiness() {
            Readiness::Ready => None,
            Readiness::NotReady(reason) => Some(reason),
        };
        AgentInfo {
            name: name.clone(),
            description: agent.description(),
            ready: reason.is_none(),
            reason,
        }
    };
    axum::Json(AgentList {
        default: agents.default_name().to_owned(),
        agents: agents
            .iter()
            .filter(|(_, agent)| agent.is_for_choosing())
            .map(info)
            .collect(),
    })
}

fn check_names(names: &[(&str, &Option<String>)]) -> ApiResult<()> {
    for (field, name) in names {
        if let Some(name) = name
            && (name.trim().is_empty()
                || name.chars().count() > NAME_CHARS
                || name.chars().any(char::is_control))
        {
            return Err(ApiError::invalid(format!(
                "`{field}` must have 1 to {NAME_CHARS} printable characters"
            )));
        }
    }
    Ok(())
}

async fn workspace(app: &Arc<App>, folder: String) -> ApiResult<String> {
    let checking = {
        let (app, path) = (Arc::clone(app), PathBuf::from(&folder));
        move || {
            app.workspaces.make_if_default(&path).ok()?;
            (path.is_absolute() && path.is_dir()).then(|| app.workspaces.check(&path))
        }
    };
    let shown: String = folder.chars().take(200).collect();
    match tokio::task::spawn_blocking(checking).await {
        Ok(Some(Ok(true))) => return Ok(folder),
        Ok(Some(Ok(false))) => {
            return Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "folder_not_allowed",
                format!(
                    "`cwd` must be outside of Gangway's data folder and not contain it; {shown:?} is not"
                ),
            ));
        }
        _ => {}
    }
    Err(ApiError::new(
        StatusCode::BAD_REQUEST,
        "folder_not_found",
        format!("`cwd` must be the absolute path of an existing folder; {shown:?} is not"),
    ))
}
