//! Access to the files of an app: for a browser that is logged in, or that opened a launch of the app.
//!
//! An app has its own host, where the login of our pages is not available. A browser without access is redirected to a
//! page of ours, which is logged in and redirects back with a signed code; the code becomes a cookie of the app's
//! host.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use gangway_core::Launch;
use gangway_http::{
    access::Scope,
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Json,
};
use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{
    after,
    cookies::{cookies, set_cookie},
};
use crate::{
    Weblets,
    wire::{AppAddress, EnterApp},
};

/// Lifetime of a code in seconds.
const CODE: i64 = 60;

/// Lifetime of access with an API key, which has no login that ends.
const DAY: i64 = 24 * 60 * 60;

/// Open an app in a logged-in browser
#[utoipa::path(post, path = "/api/apps/{name}/entry", tag = "apps", params(("name" = String, Path, description = "The app")), request_body = EnterApp, responses(
    (status = 200, body = AppAddress),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
pub(crate) async fn entry(
    State(weblets): State<Arc<Weblets>>,
    Extension(admitted): Extension<Admitted>,
    Path(name): Path<String>,
    Json(request): Json<EnterApp>,
) -> ApiResult<axum::Json<AppAddress>> {
    if !is_path(&request.path) {
        return Err(ApiError::invalid("`path` must begin with a single /"));
    }
    let found = weblets.launches.find_app(&name).await?;
    let until = Timestamp::now().as_second() + CODE;
    let what = format!("{}.{until}", subject(&admitted));
    let code = signed(&weblets, "app-entry", &found, &what);
    let url = format!(
        "{}/__gangway/enter?code={code}&to={}",
        weblets.http.addresses.server(&found.name),
        utf8_percent_encode(&request.path, NON_ALPHANUMERIC)
    );
    Ok(axum::Json(AppAddress { url }))
}

/// Exchanges a code for a cookie, and redirects.
pub(super) fn enter(
    weblets: &Weblets,
    found: &gangway_apps::App,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<Response> {
    let code = after(uri, "code")?;
    let what = checked(weblets, "app-entry", found, code)?;
    let (subject, until) = what.rsplit_once('.')?;
    if until.parse::<i64>().ok()? < Timestamp::now().as_second() {
        return None;
    }
    let to = percent_decode_str(after(uri, "to")?).decode_utf8().ok()?;
    if !is_path(&to) {
        return None;
    }
    let name = weblets.http.addresses.files_cookie();
    let value = signed(weblets, "app-files", found, subject);
    let cookie = set_cookie(weblets, name, &found.name, &value, headers);
    let answer = [
        (header::LOCATION, HeaderValue::from_str(&to).ok()?),
        (header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Some((StatusCode::SEE_OTHER, answer).into_response())
}

/// The cookie value for the files of an app, for a browser that opened a launch.
pub(super) fn for_launch(weblets: &Weblets, found: &gangway_apps::App, launch: &Launch) -> String {
    let until = format!("until-{}", launch.expires_at.as_second());
    signed(weblets, "app-files", found, &until)
}

/// Whether a request may load files of an app.
pub(super) fn may_load(weblets: &Weblets, found: &gangway_apps::App, headers: &HeaderMap) -> bool {
    if !weblets.http.guard.required() || weblets.http.addresses.shared() {
        return true;
    }
    let shown = weblets.http.guard.knows(&weblets.http, headers);
    if shown.is_some_and(|admitted| admitted.may(&weblets.http, Scope::Apps)) {
        return true;
    }
    let subjects = subjects(weblets, found, headers);
    subjects.iter().any(|subject| lasts(weblets, subject))
}

/// Whose access a signed code or cookie is, and how long it lasts.
pub(super) fn subject(admitted: &Admitted) -> String {
    match admitted {
        Admitted::Login(login, _) => format!("login-{login}"),
        Admitted::Key(key) => format!("key-{key}"),
        _ => format!("until-{}", Timestamp::now().as_second() + DAY),
    }
}

/// Whether the login or API key of a subject is still valid, or its time is not over.
pub(super) fn lasts(weblets: &Weblets, subject: &str) -> bool {
    if let Some(key) = subject.strip_prefix("key-") {
        return key
            .parse()
            .is_ok_and(|key| weblets.http.keys.may(&key, Scope::Apps));
    }
    if let Some(until) = subject.strip_prefix("until-") {
        return until
            .parse()
            .is_ok_and(|until| Timestamp::now().as_second() < until);
    }
    is_login(weblets, subject)
}

/// Whether it is a login that has not ended, of the person or of a key with the scope.
fn is_login(weblets: &Weblets, subject: &str) -> bool {
    let login = subject.strip_prefix("login-").map(str::parse);
    let Some(Ok(login)) = login else { return false };
    let key = weblets.http.logins.get(&login);
    key.is_some_and(|key| key.is_none_or(|key| weblets.http.keys.may(&key, Scope::Apps)))
}

/// Whether the browser is logged in and opened the app by its address.
pub(super) fn is_logged_in(
    weblets: &Weblets,
    found: &gangway_apps::App,
    headers: &HeaderMap,
) -> bool {
    let subjects = subjects(weblets, found, headers);
    subjects.iter().any(|subject| is_login(weblets, subject))
}

/// The contents of the validly signed cookies for the files of an app.
fn subjects(weblets: &Weblets, found: &gangway_apps::App, headers: &HeaderMap) -> Vec<String> {
    let all = cookies(headers, weblets.http.addresses.files_cookie());
    all.iter()
        .filter_map(|cookie| checked(weblets, "app-files", found, cookie))
        .collect()
}

/// The response without access: a page of ours for a navigation, otherwise an error.
pub(super) fn turned_away(
    weblets: &Weblets,
    found: &gangway_apps::App,
    uri: &Uri,
    opens: bool,
) -> Response {
    if !opens {
        let message = "the files of an app need a login: open the app's address in a browser that is logged in (gangway open), or send an API key with the scope apps";
        return ApiError::new(StatusCode::UNAUTHORIZED, "missing_key", message).into_response();
    }
    let to = uri.path_and_query().map_or("/", |path| path.as_str());
    let url = format!(
        "{}/open-app?app={}&to={}",
        weblets.http.pages_url,
        found.name,
        utf8_percent_encode(to, NON_ALPHANUMERIC)
    );
    let answer = [
        (header::LOCATION, url),
        (header::CACHE_CONTROL, "no-store".into()),
    ];
    (StatusCode::SEE_OTHER, answer).into_response()
}

/// A path on the same host: `//` would be another one.
fn is_path(text: &str) -> bool {
    let rest = text.strip_prefix('/');
    let plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    rest.is_some_and(|rest| !rest.starts_with('/') && plain(rest) && rest.len() < 4096)
}

pub(super) fn signed(
    weblets: &Weblets,
    purpose: &str,
    found: &gangway_apps::App,
    what: &str,
) -> String {
    let signature = weblets
        .http
        .signer
        .sign(purpose, &format!("{} {what}", found.identity()));
    format!("{what}.{signature}")
}

pub(super) fn checked(
    weblets: &Weblets,
    purpose: &str,
    found: &gangway_apps::App,
    text: &str,
) -> Option<String> {
    let (what, signature) = text.rsplit_once('.')?;
    let signed = format!("{} {what}", found.identity());
    weblets
        .http
        .signer
        .fits(purpose, &signed, signature)
        .then(|| what.to_owned())
}
