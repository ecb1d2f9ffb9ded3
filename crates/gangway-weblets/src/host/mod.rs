//! The hosts of apps: files, the context of launched pages, and routes of our own.

mod cookies;
pub(crate) mod entry;
mod inject;
mod notice;
mod other_routes;
mod ours;
mod own_api;
mod quote;
pub(crate) mod replay;
mod storage;

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use gangway_apps::serve::AppFileRequest as Wanted;
use gangway_http::{app_address::AppRequest, cors::open_to_all, error::ApiError};

use self::{
    cookies::{cookies, set_cookie},
    inject::injection,
    notice::notice,
};
use crate::{
    Weblets,
    socket::ChannelQuery,
    token::{Admission, OpenedPage, Token},
};

pub use other_routes::{AppHostRoutes, AppPage};

/// Prefix of our own routes on an app's host.
pub(super) const OURS: &str = "/__gangway/";

/// Handles requests to an app's host; others are passed on.
pub async fn on_app_host(
    State(weblets): State<Arc<Weblets>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(host) = gangway_http::auth::host(request.headers()) else {
        return next.run(request).await;
    };
    if !weblets.http.addresses.is_ours(&host) {
        return next.run(request).await;
    }
    let Some(asked) = weblets.http.addresses.asked(&host, request.uri().path()) else {
        return notice(
            StatusCode::NOT_FOUND,
            "App not found",
            "This address does not belong to an app.",
            None,
        );
    };
    let Some(found) = weblets.apps.called(&asked.app).await else {
        let text = format!("There is no app {} on this Gangway.", asked.app);
        return notice(StatusCode::NOT_FOUND, "App not found", &text, None);
    };
    if found.name != asked.app {
        return elsewhere(&weblets, &found, &asked, &request);
    }
    // A service worker would outlive the page, and serve the app in place of its files.
    let worker = request.headers().get("service-worker");
    if worker.is_some_and(|kind| kind == "script") && !found.manifest.service_worker {
        let message = format!(
            "{} has no service worker; set `service_worker: true` in its APP.md",
            found.name
        );
        let code = "service_worker_not_allowed";
        return ApiError::new(StatusCode::FORBIDDEN, code, message).into_response();
    }
    if asked.path == weblets.other_routes.socket_path() && !weblets.http.addresses.shared() {
        return other_routes::to_socket(&weblets, &found, request, next).await;
    }
    if own_api::is_asked(&weblets, &found, &asked) {
        return match own_api::admitted(&weblets, &found, request.headers()).await {
            Ok(admitted) => {
                request.extensions_mut().insert(admitted);
                next.run(request).await
            }
            Err(error) => error.into_response(),
        };
    }
    if asked.path == storage::PATH && !weblets.http.addresses.shared() {
        let answer = storage::answer(&weblets, &found, request).await;
        return answer.into_response();
    }
    let (parts, _) = request.into_parts();
    match asked.path.strip_prefix(OURS) {
        // Shared packages are served with the files.
        Some(name) if !name.starts_with("vendor/") => {
            let is_replay = name.starts_with(replay::PATH);
            let answer = ours::answer(&weblets, &found, name.to_owned(), parts).await;
            let mut response = answer.into_response();
            if weblets.http.addresses.shared() || is_replay {
                // Pages without an origin load even this cross-origin.
                for (name, value) in open_to_all() {
                    let value = HeaderValue::from_static(value);
                    response.headers_mut().insert(name, value);
                }
            }
            response
        }
        _ => file(&weblets, &found, &asked, parts).await,
    }
}

/// Redirects from the host of another app of this name that is not here. Nothing is served on that host.
fn elsewhere(
    weblets: &Weblets,
    found: &gangway_apps::App,
    asked: &AppRequest,
    request: &Request,
) -> Response {
    let path = asked.path.trim_start_matches('/');
    if request.method() != Method::GET || !opens_a_page(&asked.path, request.headers()) {
        let message = format!("the name of this app is {}", found.name);
        return ApiError::new(StatusCode::NOT_FOUND, "not_found", message).into_response();
    }
    let location = format!("{}{path}", weblets.http.addresses.url(&found.name));
    let answer = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (StatusCode::TEMPORARY_REDIRECT, answer).into_response()
}

/// The query parameter `launch`.
pub(super) fn token(uri: &Uri) -> Option<Option<Token>> {
    after(uri, "launch").map(|text| text.parse().ok())
}

/// A query parameter.
pub(super) fn after<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(found, _)| *found == name)
        .map(|(_, text)| text)
}

fn since(uri: &Uri) -> ChannelQuery {
    ChannelQuery {
        since: after(uri, "since").map(str::to_owned),
        page: after(uri, "page").map(str::to_owned),
    }
}

async fn file(
    weblets: &Arc<Weblets>,
    found: &Arc<gangway_apps::App>,
    asked: &AppRequest,
    parts: Parts,
) -> Response {
    let back = weblets.http.addresses.url(&found.name);
    // Only loading the page uses up an address, not a HEAD request or a subresource.
    let opens = parts.method == Method::GET && opens_a_page(&asked.path, &parts.headers);
    let opened = match token(&parts.uri).filter(|_| opens) {
        None => None,
        Some(token) => match admitted(weblets, found, token, &parts.headers).await {
            Ok((opened, token)) => Some((opened, token)),
            Err((status, title, message)) => return notice(status, title, message, Some(&back)),
        },
    };
    if opened.is_none() && opens {
        // Links and forms inside a launched page lead to addresses without its launch.
        if let Some(location) = followed(weblets, found, &parts).await {
            let answer = [
                (header::LOCATION, location),
                (header::CACHE_CONTROL, "no-store".to_owned()),
            ];
            return (StatusCode::TEMPORARY_REDIRECT, answer).into_response();
        }
    }
    if opened.is_none() && !entry::may_load(weblets, found, &parts.headers) {
        let opens = opens && !parts.headers.contains_key(header::UPGRADE);
        return entry::turned_away(weblets, found, &parts.uri, opens);
    }
    let mut ancestors = vec!["'self'".to_owned()];
    // Content security policies do not support IPv6 addresses; browsers would log an error for each.
    let own = weblets.http.guard.own_origins();
    ancestors.extend(own.filter(|origin| !origin.contains('[')));
    let mut stored = Vec::new();
    let injection = match &opened {
        None => None,
        Some((opened, token)) => {
            ancestors.extend(opened.embed_origin.clone());
            let mut keep = |name, value: &str| {
                stored.push(set_cookie(
                    weblets,
                    name,
                    &found.name,
                    value,
                    &parts.headers,
                ));
            };
            if let Some(secret) = &opened.cookie {
                keep(weblets.http.addresses.cookie(), secret);
            }
            if !entry::may_load(weblets, found, &parts.headers) {
                let value = entry::for_launch(weblets, found, &opened.launch);
                keep(weblets.http.addresses.files_cookie(), &value);
            }
            if own_api::has(weblets, found) {
                keep(weblets.http.addresses.launch_cookie(), &token.to_string());
            }
            match injection(weblets, opened, token).await {
                Ok(injection) => Some(injection),
                Err(error) => return error.into_response(),
            }
        }
    };
    let wanted = Wanted {
        method: &parts.method,
        path: &asked.path,
        query: parts.uri.query(),
        headers: &parts.headers,
        opaque: weblets.http.addresses.shared(),
    };
    let mut response = weblets.pages.serve(found, wanted, injection.as_ref()).await;
    let sandbox = match weblets.http.addresses.shared() {
        true => "; sandbox allow-scripts allow-forms allow-modals allow-downloads allow-popups",
        false => "",
    };
    let frames = format!("frame-ancestors {}{sandbox}", ancestors.join(" "));
    let headers = response.headers_mut();
    if let Ok(frames) = HeaderValue::from_str(&frames) {
        // In addition to the app's own: all policies apply.
        headers.append(header::CONTENT_SECURITY_POLICY, frames);
    }
    // For browsers without `frame-ancestors`; has no lists.
    headers.insert(
        header::X_FRAME_OPTIONS,
        HeaderValue::from_static("SAMEORIGIN"),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin-allow-popups"),
    );
    for cookie in stored
        .iter()
        .flat_map(|cookie| HeaderValue::from_str(cookie))
    {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}

/// Redirects a request from a launched page of the same app to the same URL with that launch.
async fn followed(
    weblets: &Arc<Weblets>,
    found: &gangway_apps::App,
    parts: &Parts,
) -> Option<String> {
    if token(&parts.uri).is_some() {
        return None;
    }
    let text = |name: HeaderName| parts.headers.get(name)?.to_str().ok();
    let from: Uri = text(header::REFERER)?.parse().ok()?;
    // A page of another origin says nothing about this browser's intent.
    let same = from.authority()?.as_str() == text(header::HOST)?;
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if !same || site.is_some_and(|site| site != "same-origin") {
        return None;
    }
    let launch = token(&from)??;
    let cookies = cookies(&parts.headers, weblets.http.addresses.cookie());
    let Ok(Admission::Opened(opened)) =
        weblets.launches.admit(&launch, &found.name, &cookies).await
    else {
        return None;
    };
    // With a cookie to set, this is not the browser that opened it.
    if opened.cookie.is_some() {
        return None;
    }
    let query = parts.uri.query().filter(|query| !query.is_empty());
    let query = query.map_or_else(String::new, |query| format!("{query}&"));
    Some(format!("{}?{query}launch={launch}", parts.uri.path()))
}

/// Whether a request is a navigation, as far as the headers tell.
fn opens_a_page(path: &str, headers: &HeaderMap) -> bool {
    if let Some(dest) = headers.get("sec-fetch-dest") {
        return ["document", "iframe", "frame"]
            .iter()
            .any(|page| dest == page);
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    !name.contains('.') || name.ends_with(".html") || name.ends_with(".htm")
}

type StorageRefusal = (StatusCode, &'static str, &'static str);

async fn admitted(
    weblets: &Arc<Weblets>,
    found: &gangway_apps::App,
    token: Option<Token>,
    headers: &HeaderMap,
) -> Result<(OpenedPage, Token), StorageRefusal> {
    let unknown = (
        StatusCode::NOT_FOUND,
        "Launch not found",
        "The address is incomplete, or its session was deleted.",
    );
    let token = token.ok_or(unknown)?;
    let cookies = cookies(headers, weblets.http.addresses.cookie());
    match weblets.launches.admit(&token, &found.name, &cookies).await {
        Ok(Admission::Opened(opened)) => Ok((*opened, token)),
        Ok(Admission::Expired) => Err((
            StatusCode::GONE,
            "This launch has ended",
            "It has expired. Ask the agent to open the app again.",
        )),
        Ok(Admission::Used) => Err((
            StatusCode::GONE,
            "This launch was opened in another browser",
            "The address of a launch is valid only in the first browser that opens it. Open the app from the chat again.",
        )),
        Ok(Admission::Unknown) => Err(unknown),
        Err(error) => {
            let error = ApiError::from(error);
            tracing::error!(code = error.error_code, "cannot look up a launch");
            Err((
                StatusCode::SERVICE_UNAVAILABLE,
                "The app cannot be opened right now",
                "Try again in a moment.",
            ))
        }
    }
}
