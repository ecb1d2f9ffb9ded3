//! Storage for apps whose browser provides none: strings by key, in the data folder.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use axum::{
    body::to_bytes,
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use gangway_core::atomic_file;
use gangway_files::make_private_folder;
use gangway_http::error::{ApiError, ApiResult};

use super::{after, token};
use crate::{Weblets, token::PageAccess};

pub(super) const PATH: &str = "/__gangway/storage";

/// Size limit per app as JSON; similar to browsers.
const MOST: usize = 10 << 20;

type Texts = BTreeMap<String, String>;

/// Reads or changes the storage of a launch's app; `null` removes a key.
pub(super) async fn answer(
    weblets: &Arc<Weblets>,
    found: &gangway_apps::App,
    request: Request,
) -> ApiResult<Response> {
    let ended = || {
        let message = "this launch has ended; launch the app again";
        ApiError::new(StatusCode::GONE, "launch_ended", message)
    };
    let (parts, body) = request.into_parts();
    let token = token(&parts.uri).flatten().ok_or_else(ended)?;
    let proof = after(&parts.uri, "proof").unwrap_or_default();
    match weblets.launches.shown(&token, proof).await? {
        PageAccess::Page(launch) if launch.app == found.name => {}
        _ => return Err(ended()),
    }
    let file = weblets.apps.folders.storage(&found.name);
    if parts.method == Method::GET {
        let texts = blocking(move || read(&file)).await?;
        return Ok(axum::Json(texts).into_response());
    }
    if parts.method != Method::POST {
        let message = "use GET to read storage and POST to change it";
        let code = "method_not_allowed";
        return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, code, message));
    }
    let too_large = || {
        let message = format!("an app can store at most {MOST} bytes");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "storage_full", message)
    };
    let body = to_bytes(body, MOST).await.map_err(|_| too_large())?;
    let changes: BTreeMap<String, Option<String>> =
        serde_json::from_slice(&body).map_err(|error| {
            ApiError::invalid(format!("the body must be an object of strings: {error}"))
        })?;
    let _alone = weblets.storing.lock().await;
    let stored = blocking(move || {
        let mut texts = read(&file)?;
        for (key, text) in changes {
            match text {
                Some(text) => texts.insert(key, text),
                None => texts.remove(&key),
            };
        }
        let json = serde_json::to_vec(&texts)?;
        if json.len() > MOST {
            return Ok(false);
        }
        if let Some(folder) = file.parent() {
            make_private_folder(folder)?;
        }
        atomic_file::write(&file, &json)?;
        Ok(true)
    });
    match stored.await? {
        true => Ok(StatusCode::NO_CONTENT.into_response()),
        false => Err(too_large()),
    }
}

fn read(file: &Path) -> std::io::Result<Texts> {
    match std::fs::read(file) {
        Ok(json) => Ok(serde_json::from_slice(&json)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Texts::new()),
        Err(error) => Err(error),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> ApiResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(std::io::Error::other)
        .flatten()
        .map_err(|error| {
            tracing::error!(%error, "cannot access the storage of an app");
            let message = "cannot access the storage of this app; see the server's log";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
        })
}
