//! The origins of apps: their files, their context where an agent launched them, and nothing else of this server.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Request, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use gangway_core::Launch;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    notice::notice,
    open::{Since, page, turn_away},
    own_api,
    quote::push_text,
    reach,
};
use crate::{
    applets::open_to_all,
    apps::{
        self,
        serve::{Asked as Wanted, Injection},
    },
    assets,
    auth::Admitted,
    error::{ApiError, ApiResult},
    launches::{Admission, Asked, Opened, Shown, Token, seen},
    relay,
    server::App,
    sites,
    socket::Ending,
};

/// Bytes of data that stand in the page itself; more would hold up the page, and are fetched when they are first used.
const INLINE: usize = 64 << 10;

/// Seconds that a browser is known: 400 days, longer than any launch lasts and as long as browsers keep a cookie.
const KNOWN_FOR: u64 = 400 * 24 * 3600;

/// Cookies of a request that are looked at.
const COOKIES: usize = 4;

/// What is ours on the host of an app.
const OURS: &str = "/__gangway/";

/// The file that makes the context of a page; it is called with what it needs.
const RUNTIME: &str = "context.js";

/// What the script in a launched page is told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Boot<'a> {
    launch_id: String,
    app: &'a str,
    agent: gangway_core::AppAgent,
    config: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_url: Option<String>,
    socket: String,
    seq: u64,
    parent_origin: Option<&'a str>,
    reload: bool,
}

/// Answers what is asked of an app's host; everything else goes on.
pub async fn on_app_host(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(host) = crate::auth::host(request.headers()) else {
        return next.run(request).await;
    };
    if !app.addresses.is_ours(&host) {
        return next.run(request).await;
    }
    let Some(asked) = app.addresses.asked(&host, request.uri().path()) else {
        return notice(
            StatusCode::NOT_FOUND,
            "There is no app here",
            "The address names no app.",
            None,
        );
    };
    let Some(found) = app.apps.find(&asked.app).await else {
        let words = format!("There is no app {} on this Gangway.", asked.app);
        return notice(StatusCode::NOT_FOUND, "There is no such app", &words, None);
    };
    if asked.path == relay::SOCKET && !app.addresses.shared() {
        return reach::to_relay(&app, &found, request, next).await;
    }
    if own_api::is_asked(&app, &found, &asked) {
        let (headers, path) = (request.headers(), &asked.path);
        return match own_api::admitted(&app, &found, headers, path).await {
            Ok(admitted) => {
                request.extensions_mut().insert(admitted);
                next.run(request).await
            }
            Err(error) => error.into_response(),
        };
    }
    let (parts, _) = request.into_parts();
    match asked.path.strip_prefix(OURS) {
        // What apps share is the business of whoever serves files.
        Some(name) if !name.starts_with("vendor/") => {
            let answer = ours(&app, &found, name.to_owned(), parts).await;
            let mut response = answer.into_response();
            if app.addresses.shared() {
                // Pages without an origin load even this from elsewhere.
                for (name, value) in open_to_all() {
                    let value = HeaderValue::from_static(value);
                    response.headers_mut().insert(name, value);
                }
            }
            response
        }
        _ => file(&app, &found, &asked, parts).await,
    }
}

/// What follows `launch=` in an address.
pub(super) fn token(uri: &Uri) -> Option<Option<Token>> {
    after(uri, "launch").map(|text| text.parse().ok())
}

/// What follows another name in an address.
fn after<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(found, _)| *found == name)
        .map(|(_, text)| text)
}

fn since(uri: &Uri) -> Since {
    Since {
        since: after(uri, "since").map(str::to_owned),
    }
}

async fn ours(
    app: &Arc<App>,
    found: &Arc<apps::App>,
    name: String,
    mut parts: Parts,
) -> ApiResult<Response> {
    let missing = || {
        let message = "there is nothing at this address";
        ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
    };
    match name.as_str() {
        "gangway.js" => sites::script_for_apps(app).ok_or_else(missing),
        "agent.js" | "agent.global.js" | "host.js" | "host.global.js" => {
            assets::file(&name, &parts.headers).ok_or_else(missing)
        }
        "data" | "ws" => {
            let token = token(&parts.uri).flatten().ok_or_else(missing)?;
            let proof = after(&parts.uri, "proof").unwrap_or_default();
            let (launch, why) = match app.shown(&token, proof).await? {
                Shown::Page(launch) if launch.app == found.name => (Some(*launch), Ending::Gone),
                Shown::Page(_) | Shown::Unknown => (None, Ending::Gone),
                Shown::Ended => (None, Ending::Expired),
            };
            if name == "data" {
                let launch = launch.ok_or_else(|| {
                    let message = "this launch has ended; launch the app again";
                    ApiError::new(StatusCode::GONE, "launch_ended", message)
                })?;
                let kind = [(header::CONTENT_TYPE, "application/json")];
                let json = serde_json::to_vec(&launch.data).unwrap_or_default();
                return Ok((kind, json).into_response());
            }
            let since = since(&parts.uri);
            let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, app).await;
            let app = Arc::clone(app);
            match launch {
                Some(launch) => page(app, launch, since, Admitted(None), upgrade).await,
                None => turn_away(app, upgrade, why),
            }
        }
        _ => Err(missing()),
    }
}

async fn file(app: &Arc<App>, found: &Arc<apps::App>, asked: &Asked, parts: Parts) -> Response {
    let back = app.addresses.url(&found.name);
    // An address is used up by a page alone, not by what only looks whether it is there or what a page loads.
    let opens = parts.method == Method::GET && opens_a_page(&asked.path, &parts.headers);
    let opened = match token(&parts.uri).filter(|_| opens) {
        None => None,
        Some(token) => match admitted(app, found, token, &parts.headers).await {
            Ok((opened, token)) => Some((opened, token)),
            Err((status, title, words)) => return notice(status, title, words, Some(&back)),
        },
    };
    let mut ancestors = vec!["'self'".to_owned()];
    ancestors.extend(app.guard.own_origins());
    let mut kept = Vec::new();
    let injection = match &opened {
        None => None,
        Some((opened, token)) => {
            ancestors.extend(opened.embed_origin.clone());
            let mut keep = |name, value: &str| {
                kept.push(set_cookie(app, name, &opened.launch, value, &parts.headers));
            };
            if let Some(secret) = &opened.cookie {
                keep(app.addresses.cookie(), secret);
            }
            if own_api::has(found) {
                keep(app.addresses.launch_cookie(), &token.to_string());
            }
            match injection(app, opened, token).await {
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
        opaque: app.addresses.shared(),
    };
    let mut response = app.pages.serve(found, wanted, injection.as_ref()).await;
    let sandbox = match app.addresses.shared() {
        true => "; sandbox allow-scripts allow-forms allow-modals allow-downloads allow-popups",
        false => "",
    };
    let frames = format!("frame-ancestors {}{sandbox}", ancestors.join(" "));
    let headers = response.headers_mut();
    if let Ok(frames) = HeaderValue::from_str(&frames) {
        // Beside the app's own: all policies hold.
        headers.append(header::CONTENT_SECURITY_POLICY, frames);
    }
    // Says the same in an older word, which knows no lists.
    headers.insert(
        header::X_FRAME_OPTIONS,
        HeaderValue::from_static("SAMEORIGIN"),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin-allow-popups"),
    );
    for cookie in kept.iter().flat_map(|cookie| HeaderValue::from_str(cookie)) {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}

/// Whether somebody goes to a page, as far as can be told before it is looked for.
fn opens_a_page(path: &str, headers: &HeaderMap) -> bool {
    if let Some(dest) = headers.get("sec-fetch-dest") {
        return ["document", "iframe", "frame"]
            .iter()
            .any(|page| dest == page);
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    !name.contains('.') || name.ends_with(".html") || name.ends_with(".htm")
}

type Turned = (StatusCode, &'static str, &'static str);

async fn admitted(
    app: &Arc<App>,
    found: &apps::App,
    token: Option<Token>,
    headers: &HeaderMap,
) -> Result<(Opened, Token), Turned> {
    let unknown = (
        StatusCode::NOT_FOUND,
        "This launch is not known",
        "The address is not complete, or its session was deleted.",
    );
    let token = token.ok_or(unknown)?;
    let cookies = cookies(headers, app.addresses.cookie());
    match app.admit(&token, &found.name, &cookies).await {
        Ok(Admission::Opened(opened)) => Ok((*opened, token)),
        Ok(Admission::Expired) => Err((
            StatusCode::GONE,
            "This launch has ended",
            "Its time is over. Ask the agent to open the app again.",
        )),
        Ok(Admission::Used) => Err((
            StatusCode::GONE,
            "This launch was opened in another browser",
            "An address of a launch is good for the first browser that opens it. Open the app from the chat again.",
        )),
        Ok(Admission::Unknown) => Err(unknown),
        Err(error) => {
            let error = ApiError::from(error);
            tracing::error!(code = error.error_code, "a launch could not be looked up");
            Err((
                StatusCode::SERVICE_UNAVAILABLE,
                "The app cannot be opened now",
                "Try again in a moment.",
            ))
        }
    }
}

/// Cookies of this name; in a frame there may be that of the frame beside that of the browser.
pub(super) fn cookies(headers: &HeaderMap, name: &str) -> Vec<String> {
    let all = headers.get_all(header::COOKIE).iter();
    let pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let values = pairs.filter(|(found, _)| *found == name);
    values
        .map(|(_, value)| value.to_owned())
        .take(COOKIES)
        .collect()
}

fn set_cookie(app: &App, name: &str, launch: &Launch, value: &str, headers: &HeaderMap) -> String {
    let path = format!("{}/", app.addresses.prefix(&launch.app));
    let framed = headers
        .get("sec-fetch-dest")
        .is_some_and(|dest| dest == "iframe");
    let kind = match (framed, app.addresses.is_secure()) {
        // In a frame of another site a cookie must be told apart by that site, or browsers drop it.
        (true, _) => "; SameSite=None; Secure; Partitioned",
        (false, true) => "; SameSite=Lax; Secure",
        (false, false) => "; SameSite=Lax",
    };
    format!("{name}={value}; Path={path}; Max-Age={KNOWN_FOR}; HttpOnly{kind}")
}

/// The script that makes the context, with all it needs.
async fn injection(app: &Arc<App>, opened: &Opened, token: &Token) -> ApiResult<Injection> {
    let launch = &opened.launch;
    let runtime = assets::text(RUNTIME).ok_or_else(|| {
        let message = "this build has no pages in it; build them with `make web` and start again";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_built", message)
    })?;
    let session = app.hub.open(launch.session).await?;
    let server = app.addresses.server(&launch.app);
    let prefix = app.addresses.prefix(&launch.app);
    let inline = opened.data.len() <= INLINE;
    let sockets = server.replacen("http", "ws", 1);
    let boot = Boot {
        launch_id: launch.id.to_string(),
        app: launch.app.as_str(),
        agent: seen(&launch.agent),
        config: &launch.config,
        data_url: (!inline).then(|| {
            format!(
                "{server}{prefix}{OURS}data?launch={token}&proof={}",
                opened.proof
            )
        }),
        socket: format!(
            "{sockets}{prefix}{OURS}ws?launch={token}&proof={}",
            opened.proof
        ),
        seq: session.head(),
        parent_origin: opened.embed_origin.as_deref(),
        reload: launch.reload,
    };
    let boot = serde_json::to_string(&boot).unwrap_or_default();
    // As texts that the script reads: written out as objects, a key `__proto__` would be no key.
    let mut script =
        String::with_capacity(runtime.len() + 2 * (boot.len() + opened.data.len().min(INLINE)));
    script.push('(');
    script.push_str(runtime.trim_end().trim_end_matches(';'));
    script.push_str(")(");
    push_text(&mut script, &boot);
    if inline {
        script.push(',');
        push_text(&mut script, &opened.data);
    }
    script.push(')');
    Ok(Injection {
        script,
        connect: vec![server, sockets],
    })
}
