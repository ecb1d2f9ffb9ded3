//! REST routes of launches.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{Path, State},
    http::StatusCode,
};
use gangway_apps::manifest::is_event_name;
use gangway_core::{Launch, LaunchId, SessionId, Source};
use gangway_http::{
    access::Scope,
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract,
};

use crate::{
    Side, Weblets,
    launch::{LaunchRequest, checked_origin},
    wire::{
        LaunchApp, LaunchInfo, LaunchedApp, OpenLaunch, OpenedLaunch, SendAppEvent, SentAppEvent,
    },
};

pub(crate) async fn find(weblets: &Weblets, id: &str) -> ApiResult<Launch> {
    let id: LaunchId = id.parse().map_err(|_| {
        let message = "launch not found";
        ApiError::new(StatusCode::NOT_FOUND, "launch_not_found", message)
    })?;
    Ok(weblets.hub.launch(id).await?)
}

/// Launch an app for an agent
#[utoipa::path(post, path = "/api/apps/{name}/launch", tag = "apps", params(("name" = String, Path, description = "The app")),
    request_body = LaunchApp, responses(
    (status = 201, body = LaunchedApp),
    (status = 400, body = ApiError),
    (status = 403, body = ApiError),
    (status = 404, body = ApiError),
    (status = 409, body = ApiError),
    (status = 413, body = ApiError),
))]
pub(super) async fn launch(
    State(weblets): State<Arc<Weblets>>,
    Extension(admitted): Extension<Admitted>,
    Path(name): Path<String>,
    extract::Json(request): extract::Json<LaunchApp>,
) -> ApiResult<(StatusCode, Json<LaunchedApp>)> {
    let session = request.session.as_deref().map(str::parse::<SessionId>);
    let session = session.transpose();
    let session =
        session.map_err(|_| ApiError::no_session(request.session.as_deref().unwrap_or("")))?;
    if let Some(session) = session {
        if !admitted.may(&weblets.http, Scope::Chat) {
            let message = "launching an app in a chat with `session` requires the scope chat";
            let status = StatusCode::FORBIDDEN;
            return Err(ApiError::new(status, "scope_required", message));
        }
        admitted
            .check_session(&weblets.http, &weblets.hub, session)
            .await?;
    }
    let request = LaunchRequest {
        agent: request.agent.map(Into::into),
        data: request.data,
        config: request.config,
        session,
        embed_origin: request.embed_origin,
        reload: request.reload,
        outside: false,
    };
    let launched = weblets.launches.launch(&name, request).await?;
    let answer = LaunchedApp {
        launch_id: launched.launch.id.to_string(),
        url: launched.url,
        expires_at: launched.launch.expires_at,
        session_id: launched.launch.session.to_string(),
        warnings: launched.warnings,
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Get a launch
#[utoipa::path(get, path = "/api/launches/{id}", tag = "apps", params(("id" = String, Path, description = "The launch")), responses(
    (status = 200, body = LaunchInfo),
    (status = 404, body = ApiError),
))]
pub(super) async fn show(
    State(weblets): State<Arc<Weblets>>,
    Path(id): Path<String>,
) -> ApiResult<Json<LaunchInfo>> {
    let launch = find(&weblets, &id).await?;
    Ok(Json(LaunchInfo {
        launch_id: launch.id.to_string(),
        app: launch.app.to_string(),
        session_id: launch.session.to_string(),
        agent: launch.agent.name.clone(),
        created_at: launch.created_at,
        expires_at: launch.expires_at,
        open: weblets.launches.presence.count(launch.id, Side::Page),
        attached: launch.in_house || weblets.launches.presence.has_agent(&launch),
    }))
}

/// Create another address for a launch
#[utoipa::path(post, path = "/api/launches/{id}/open", tag = "apps", params(("id" = String, Path, description = "The launch")),
    request_body = OpenLaunch, responses(
    (status = 200, body = OpenedLaunch),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
    (status = 410, body = ApiError),
))]
pub(super) async fn open(
    State(weblets): State<Arc<Weblets>>,
    Path(id): Path<String>,
    extract::Json(request): extract::Json<OpenLaunch>,
) -> ApiResult<Json<OpenedLaunch>> {
    let launch = find(&weblets, &id).await?;
    let embed_origin = request.embed_origin.as_deref().map(checked_origin);
    let embed_origin = embed_origin.transpose()?;
    if launch.expires_at <= jiff::Timestamp::now() {
        let message = "this launch has ended; launch the app again";
        return Err(ApiError::new(StatusCode::GONE, "launch_ended", message));
    }
    let url = weblets.launches.new_address(&launch, embed_origin).await?;
    Ok(Json(OpenedLaunch {
        url,
        expires_at: launch.expires_at,
    }))
}

/// Send an event to an app
#[utoipa::path(post, path = "/api/launches/{id}/events", tag = "apps", params(("id" = String, Path, description = "The launch")),
    request_body = SendAppEvent, responses(
    (status = 200, body = SentAppEvent),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
pub(super) async fn tell(
    State(weblets): State<Arc<Weblets>>,
    Path(id): Path<String>,
    extract::Json(request): extract::Json<SendAppEvent>,
) -> ApiResult<Json<SentAppEvent>> {
    let launch = find(&weblets, &id).await?;
    if !is_event_name(&request.event) {
        let message =
            "`event` must be lowercase letters, digits and hyphens, beginning with a letter";
        return Err(ApiError::invalid(message));
    }
    let session = weblets.hub.open(launch.session).await?;
    let source = Source::Agent {
        name: launch.agent.name.clone(),
    };
    let outgoing = weblets.launches.send_event(
        &session,
        &launch,
        request.event,
        request.payload,
        source,
        None,
    );
    Ok(Json(SentAppEvent {
        seq: outgoing.await?,
    }))
}
