//! REST routes of apps: list, show, grants, trusted folders.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use gangway_apps::rank::rank;
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{self, Query},
};
use serde::Deserialize;

use crate::{
    Weblets,
    wire::{AppDetails, AppEventInfo, AppInfo, AppList, TrustFolder, UntrustedFolder},
};

/// Length limit of a query.
const SENTENCE: usize = 1000;

#[derive(Deserialize)]
pub(super) struct AppsQuery {
    query: Option<String>,
}

fn info(weblets: &Weblets, one: &gangway_apps::App) -> AppInfo {
    let manifest = &one.manifest;
    let agent = &manifest.agent;
    let events = agent.events.iter().map(|event| AppEventInfo {
        name: event.name.clone(),
        description: event.description.clone(),
    });
    AppInfo {
        name: one.name.to_string(),
        title: manifest.title.clone(),
        icon: one.icon.clone(),
        description: manifest.description.clone(),
        version: manifest.version.clone(),
        category: manifest.category.clone(),
        tags: manifest.tags.clone(),
        triggers: agent.triggers.clone(),
        provides: agent.provides.clone(),
        discoverable: agent.discoverable,
        launchable: agent.launchable,
        origin: one.origin.as_str().to_owned(),
        url: weblets.http.addresses.url(&one.name),
        problems: one.problems.clone(),
        events: events.collect(),
        delivery: agent.delivery,
    }
}

/// List the apps
#[utoipa::path(get, path = "/api/apps", tag = "apps", params(
    ("query" = Option<String>, Query, description = "A sentence; returns matching apps, best first"),
), responses((status = 200, body = AppList), (status = 400, body = ApiError)))]
pub(super) async fn list(
    State(weblets): State<Arc<Weblets>>,
    Query(which): Query<AppsQuery>,
) -> ApiResult<Json<AppList>> {
    let all = weblets.apps.list().await;
    let found = match which.query {
        None => all,
        Some(query) if query.chars().count() > SENTENCE => {
            let message = format!("`query` must be at most {SENTENCE} characters");
            return Err(ApiError::invalid(message));
        }
        Some(query) => rank(Some(&query), &all)
            .into_iter()
            .map(|(_, app)| app)
            .collect(),
    };
    let apps = found.iter().map(|one| info(&weblets, one)).collect();
    let untrusted = weblets.apps.untrusted().await;
    let untrusted = untrusted.into_iter().map(|one| UntrustedFolder {
        folder: one.folder.display().to_string(),
        apps: one.apps,
    });
    Ok(Json(AppList {
        apps,
        untrusted: untrusted.collect(),
    }))
}

/// Trust or untrust a folder of apps
#[utoipa::path(put, path = "/api/app-folders", tag = "apps", request_body = TrustFolder, responses(
    (status = 204),
    (status = 400, body = ApiError),
))]
pub(super) async fn trust(
    State(weblets): State<Arc<Weblets>>,
    extract::Json(request): extract::Json<TrustFolder>,
) -> ApiResult<StatusCode> {
    let folders = weblets.apps.folders.clone();
    let (folder, trusted) = (std::path::PathBuf::from(&request.folder), request.trusted);
    if !folder.is_absolute() {
        return Err(ApiError::invalid("`folder` must be an absolute path"));
    }
    let work = tokio::task::spawn_blocking(move || folders.trust(&folder, trusted));
    let done = work.await.map_err(std::io::Error::other);
    done.flatten()
        .map_err(|error| ApiError::invalid(format!("`folder` cannot be trusted: {error}")))?;
    weblets.apps.forget();
    Ok(StatusCode::NO_CONTENT)
}

/// Get an app
#[utoipa::path(get, path = "/api/apps/{name}", tag = "apps", params(("name" = String, Path, description = "The app")), responses(
    (status = 200, body = AppDetails),
    (status = 404, body = ApiError),
))]
pub(super) async fn show(
    State(weblets): State<Arc<Weblets>>,
    Path(name): Path<String>,
) -> ApiResult<Json<AppDetails>> {
    let one = weblets.launches.find_app(&name).await?;
    Ok(Json(AppDetails {
        app: info(&weblets, &one),
        context: one.manifest.agent.context.clone(),
        about: one.manifest.about.clone(),
        grants: weblets.hub.app_grants(&one.name).await?,
    }))
}

/// Revoke a grant of an app
#[utoipa::path(delete, path = "/api/apps/{name}/grants/{action}", tag = "apps", params(
    ("name" = String, Path, description = "The app"),
    ("action" = String, Path, description = "One of the app's `grants`"),
), responses((status = 204), (status = 404, body = ApiError)))]
pub(super) async fn revoke(
    State(weblets): State<Arc<Weblets>>,
    Path((name, action)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let one = weblets.launches.find_app(&name).await?;
    if !weblets.hub.app_granted(&one.name, &action).await? {
        let message = "grant not found; GET /api/apps/NAME lists the app's grants";
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "grant_not_found",
            message,
        ));
    }
    weblets.hub.grant_app(&one.name, &action, false).await?;
    Ok(StatusCode::NO_CONTENT)
}
