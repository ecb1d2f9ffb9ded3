//! The page of an app in a replay: its files and the data of its launch, without an origin, a login, a channel or the network.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use gangway_apps::serve::AppFileRequest;
use gangway_core::{Launch, LaunchId};
use gangway_http::{
    access::Scope,
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Json,
};
use jiff::Timestamp;

use super::{
    OURS,
    entry::{checked, lasts, signed, subject},
    inject::recorded,
    notice::notice,
    opens_a_page,
    ours::script,
};
use crate::{
    Weblets,
    routes::launch::find,
    wire::{AppAddress, ReplayApp},
};

/// Prefix of the addresses of replayed pages; a code and the path of a file follow.
pub(super) const PATH: &str = "replay/";

/// Lifetime of an address in seconds: a replay may be open for long, and its page is loaded again when one steps back.
const LIFETIME: i64 = 24 * 60 * 60;

/// Written instead of a launch where there is none.
const NO_LAUNCH: &str = "none";

/// Get the address of an app's page for a replay
#[utoipa::path(post, path = "/api/apps/{name}/replay", tag = "apps", params(("name" = String, Path, description = "The app")), request_body = ReplayApp, responses(
    (status = 200, body = AppAddress),
    (status = 403, body = ApiError),
    (status = 404, body = ApiError),
))]
pub(crate) async fn address(
    State(weblets): State<Arc<Weblets>>,
    Extension(admitted): Extension<Admitted>,
    Path(name): Path<String>,
    Json(request): Json<ReplayApp>,
) -> ApiResult<axum::Json<AppAddress>> {
    let found = weblets.launches.find_app(&name).await?;
    let launch = match request.launch_id {
        None => NO_LAUNCH.to_owned(),
        Some(id) => {
            if !admitted.may(&weblets.http, Scope::Chat) {
                let message = "a launch in a replay requires the scope chat, as its session does";
                let status = StatusCode::FORBIDDEN;
                return Err(ApiError::new(status, "scope_required", message));
            }
            let launch = find(&weblets, &id).await?;
            if launch.app != found.name {
                let message = "launch not found";
                let code = "launch_not_found";
                return Err(ApiError::new(StatusCode::NOT_FOUND, code, message));
            }
            admitted
                .check_session(&weblets.http, &weblets.hub, launch.session)
                .await?;
            launch.id.to_string()
        }
    };
    let until = Timestamp::now().as_second() + LIFETIME;
    let what = format!("{}.{launch}.{until}", subject(&admitted));
    let code = signed(&weblets, "app-replay", &found, &what);
    let url = base(&weblets, &found, &code);
    Ok(axum::Json(AppAddress { url }))
}

/// Where the files of a replayed page are.
fn base(weblets: &Weblets, found: &gangway_apps::App, code: &str) -> String {
    let addresses = &weblets.http.addresses;
    let (server, prefix) = (addresses.server(&found.name), addresses.prefix(&found.name));
    format!("{server}{prefix}{OURS}{PATH}{code}/")
}

/// A file of a replayed page, or the page itself; `rest` is a code and a path.
pub(super) async fn file(
    weblets: &Arc<Weblets>,
    found: &Arc<gangway_apps::App>,
    rest: &str,
    parts: Parts,
) -> ApiResult<Response> {
    let (code, path) = rest.split_once('/').unwrap_or((rest, ""));
    let Some(launch) = replayed(weblets, found, code).await? else {
        let message = "The address of this page has expired. Reload the replay.";
        return Ok(notice(StatusCode::GONE, "Not available", message, None));
    };
    if let Some(name) = path.strip_prefix("__gangway/")
        && !name.starts_with("vendor/")
    {
        return script(weblets, name, &parts.headers).ok_or_else(|| {
            let message = "a replayed page has no such route";
            ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
        });
    }
    let path = format!("/{path}");
    let opens = parts.method == Method::GET && opens_a_page(&path, &parts.headers);
    let framed = parts.headers.get("sec-fetch-dest");
    if opens && framed.is_some_and(|dest| dest == "document") {
        let message = "This page is shown inside a replay.";
        return Ok(notice(
            StatusCode::FORBIDDEN,
            "Not available",
            message,
            None,
        ));
    }
    let injection = match opens {
        true => Some(recorded(found, launch.as_ref())?),
        false => None,
    };
    let wanted = AppFileRequest {
        method: &parts.method,
        path: &path,
        query: parts.uri.query(),
        headers: &parts.headers,
        opaque: true,
    };
    let mut response = weblets.pages.serve(found, wanted, injection.as_ref()).await;
    let (policy, reachable) = confined(weblets, found, code);
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        // In addition to the app's own: all policies apply.
        headers.append(header::CONTENT_SECURITY_POLICY, policy);
    }
    if let Ok(reachable) = HeaderValue::from_str(&reachable) {
        let name = HeaderName::from_static("connection-allowlist");
        headers.insert(name, reachable);
    }
    for (name, value) in [
        (header::X_DNS_PREFETCH_CONTROL, "off"),
        // Its address is a secret of the person.
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The launch that a valid code is for, if it is for one; `None` if the code is not valid (any more).
async fn replayed(
    weblets: &Weblets,
    found: &gangway_apps::App,
    code: &str,
) -> ApiResult<Option<Option<Launch>>> {
    let what = checked(weblets, "app-replay", found, code);
    let mut parts = what.as_deref().unwrap_or_default().rsplitn(3, '.');
    let (Some(until), Some(launch), Some(subject)) = (parts.next(), parts.next(), parts.next())
    else {
        return Ok(None);
    };
    let in_time = until
        .parse()
        .is_ok_and(|until| Timestamp::now().as_second() < until);
    match launch.parse::<LaunchId>() {
        _ if !in_time || !lasts(weblets, subject) => Ok(None),
        Err(_) => Ok((launch == NO_LAUNCH).then_some(None)),
        // It is deleted with its session.
        Ok(_) => match find(weblets, launch).await {
            Ok(launch) => Ok(Some(Some(launch))),
            Err(error) if error.status == StatusCode::NOT_FOUND.as_u16() => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// The policy of the page, which admits the files of the app, our scripts and nothing that acts, and the same as an
/// allowlist, which covers WebRTC and navigations in browsers that support it.
fn confined(weblets: &Weblets, found: &gangway_apps::App, code: &str) -> (String, String) {
    let files = base(weblets, found, code);
    let addresses = &weblets.http.addresses;
    let (server, prefix) = (addresses.server(&found.name), addresses.prefix(&found.name));
    let ours = format!("{server}{prefix}{OURS}");
    // Content security policies do not support IPv6 addresses.
    let own = weblets.http.guard.own_origins();
    let parents: Vec<String> = own.filter(|origin| !origin.contains('[')).collect();
    let policy = format!(
        "default-src {files} data: blob: 'unsafe-inline'; \
         script-src {files} {ours} blob: 'unsafe-inline' 'unsafe-eval'; \
         connect-src {files} data: blob:; frame-src 'none'; object-src 'none'; form-action 'none'; webrtc 'block'; \
         frame-ancestors {}; sandbox allow-scripts",
        parents.join(" ")
    );
    (policy, format!("(\"{files}*\" \"{ours}*\")"))
}
