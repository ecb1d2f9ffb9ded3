//! Serves the files of apps, and injects the script of a launch into its page.

mod answer;
mod csp;
mod depth;
mod file;
mod html;
mod imports;
mod packages;
mod script;
mod stream;

use std::{borrow::Cow, sync::Arc};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};

pub use csp::Csp;
pub use script::is_module;

use self::{
    answer::{finish, plain},
    file::{Files, ServedFile},
};
use super::{App, folder::AppFolder};
use gangway_files::{FileError, FilePath};

/// What a launch injects into its page.
#[derive(Debug, Clone, Default)]
pub struct Injection {
    pub script: String,
    /// Where the page connects to, as CSP sources.
    pub connect: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub struct AppFileRequest<'a> {
    pub method: &'a Method,
    /// The path below the app, percent-encoded.
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub headers: &'a HeaderMap,
    /// Whether the page has an opaque origin, so that even its own files are cross-origin.
    pub opaque: bool,
}

pub struct Pages {
    files: Arc<Files>,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            files: Arc::new(Files::new()),
        }
    }
}

enum Resolved {
    File(Arc<ServedFile>),
    /// A file that is too large to cache.
    Large(FilePath),
    Elsewhere(String),
    Nothing(FileError),
}

impl Pages {
    /// Responds to a request for a file or page of an app; pages get the injection.
    pub async fn serve(
        &self,
        app: &App,
        asked: AppFileRequest<'_>,
        injection: Option<&Injection>,
    ) -> Response {
        if *asked.method != Method::GET && *asked.method != Method::HEAD {
            let allow = [(header::ALLOW, "GET, HEAD")];
            return (
                StatusCode::METHOD_NOT_ALLOWED,
                allow,
                "Only GET and HEAD are supported.",
            )
                .into_response();
        }
        let mut answer = match self.find(app, asked).await {
            Resolved::File(sent) => {
                let map = import_map(app, &sent, asked.path).await;
                match (&sent.plan, injection, map) {
                    (Some(_), Some(injection), map) => injected(app, &sent, injection, map),
                    (Some(plan), None, Some(map)) => mapped(app, &sent, plan, &map),
                    _ => whole(app, &sent, asked.headers),
                }
            }
            Resolved::Large(path) => stream::answer(&app.folder, &path, asked.headers).await,
            Resolved::Elsewhere(to) => elsewhere(&to, asked.query),
            Resolved::Nothing(error) => missing(app, &error),
        };
        finish(&mut answer, asked.opaque);
        if *asked.method == Method::HEAD {
            answer::headless(&mut answer);
        }
        answer
    }

    async fn find(&self, app: &App, asked: AppFileRequest<'_>) -> Resolved {
        let path = match path(asked.path) {
            Ok(path) => path,
            Err(error) => return Resolved::Nothing(error),
        };
        let page = wants_page(asked.headers);
        let folder = &app.folder;
        if let Some(rest) = path.as_str().strip_prefix(imports::SHARED) {
            let shared = imports::shared(folder);
            let (Some(shared), Ok(rest)) = (shared, rest.parse()) else {
                return Resolved::Nothing(FileError::NotFound { path });
            };
            return match self.files.get(folder, &shared, &rest, false).await {
                Ok(sent) => Resolved::File(sent),
                Err(error) => Resolved::Nothing(error),
            };
        }
        let entry = &app.manifest.entry;
        if path.is_root() {
            // If the page is in a subfolder, its relative URLs are there, too.
            return match entry.as_str().contains('/') {
                true => Resolved::Elsewhere(format!("./{}", entry.as_str())),
                false => self.file(folder, entry).await,
            };
        }
        let error = match self.files.get(folder, folder, &path, page).await {
            Ok(sent) => return Resolved::File(sent),
            Err(FileError::TooLarge { .. }) => return Resolved::Large(path),
            Err(error) => error,
        };
        // A server would use the folder of the page as its root.
        if app.manifest.server.is_some()
            && let Some(root) = entry.parent().filter(|root| !root.is_root())
            && let Ok(inside) = root.join(path.as_str())
            && let Ok(sent) = self.files.get(folder, folder, &inside, page).await
        {
            return Resolved::File(sent);
        }
        let index = path.join("index.html");
        if matches!(error, FileError::NotAFile { .. })
            && let Ok(index) = index
            && let Resolved::File(sent) = self.file(folder, &index).await
        {
            let name = path.name().unwrap_or_default();
            return match asked.path.ends_with('/') {
                true => Resolved::File(sent),
                false => Resolved::Elsewhere(format!("./{}/", answer::encoded(name))),
            };
        }
        // An app with client-side routing has URLs that are not files.
        let named = path.name().is_some_and(|name| name.contains('.'));
        let nothing = matches!(
            error,
            FileError::NotFound { .. } | FileError::NotAFolder { .. } | FileError::NotAFile { .. }
        );
        match page
            && !named
            && nothing
            && path.as_str() != "__gangway"
            && !path.as_str().starts_with("__gangway/")
        {
            true => self.file(folder, entry).await,
            false => Resolved::Nothing(error),
        }
    }

    async fn file(&self, folder: &AppFolder, path: &FilePath) -> Resolved {
        match self.files.get(folder, folder, path, true).await {
            Ok(sent) => Resolved::File(sent),
            Err(FileError::TooLarge { .. }) => Resolved::Large(path.clone()),
            Err(error) => Resolved::Nothing(error),
        }
    }
}

/// The path of a request; hidden files are not found.
fn path(text: &str) -> Result<FilePath, FileError> {
    let bad = || FileError::BadPath {
        path: text.chars().take(80).collect(),
        why: "it is not a valid URL path",
    };
    // The leading slash is the app's folder.
    let decoded = answer::decoded(text).ok_or_else(bad)?;
    let path: FilePath = decoded.strip_prefix('/').unwrap_or(&decoded).parse()?;
    match path.as_str().split('/').any(|name| name.starts_with('.')) {
        true => Err(FileError::NotFound { path }),
        false => Ok(path),
    }
}

/// Whether the request is a navigation.
fn wants_page(headers: &HeaderMap) -> bool {
    if let Some(kind) = headers.get("sec-fetch-dest") {
        return ["document", "iframe", "frame", "embed", "object"]
            .iter()
            .any(|page| kind.as_bytes() == page.as_bytes());
    }
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|text| text.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// The import map for the dependencies of an app, if a page has none; scripts in files need none.
async fn import_map(app: &App, sent: &ServedFile, path: &str) -> Option<String> {
    let needs = app.manifest.dependencies.iter();
    let packages: Vec<String> = needs.map(|need| need.name.clone()).collect();
    if packages.is_empty() || sent.plan.as_ref().is_none_or(|plan| plan.has_import_map) {
        return None;
    }
    let folder = app.folder.clone();
    let depth = path.strip_prefix('/').unwrap_or(path).matches('/').count();
    let found = move || imports::import_map(&folder, &packages, depth);
    tokio::task::spawn_blocking(found).await.ok().flatten()
}

fn import_map_tag(map: &str, nonce: &str) -> String {
    // Escaped, so that it cannot end the element or start a comment.
    let map = answer::ascii(map).replace('<', "\\u003c");
    format!("<script type=\"importmap\" nonce=\"{nonce}\">{map}</script>")
}

/// A page with an import map, not cached.
fn mapped(app: &App, sent: &ServedFile, plan: &html::InjectionPlan, map: &str) -> Response {
    let nonce = BASE64_STANDARD.encode(rand::random::<[u8; 16]>());
    let body = plan.insert(&sent.body, &import_map_tag(map, &nonce));
    let headers = [
        (header::CONTENT_TYPE, sent.kind),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let mut answer = (headers, body).into_response();
    policy(app, answer.headers_mut(), |csp| csp.admit_script(&nonce));
    features(app, answer.headers_mut());
    answer
}

fn whole(app: &App, sent: &ServedFile, asked: &HeaderMap) -> Response {
    let tag = sent.tag.as_str();
    let cache = if sent.fault { "no-store" } else { "no-cache" };
    let mut answer = match answer::is_current(asked, tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => answer::part(sent.body.clone(), asked, tag),
    };
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(sent.kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    if sent.plan.is_some() {
        policy(app, headers, |_| {});
        features(app, headers);
    }
    answer
}

/// A page with the script of a launch, not cached.
fn injected(app: &App, sent: &ServedFile, injection: &Injection, map: Option<String>) -> Response {
    let nonce = BASE64_STANDARD.encode(rand::random::<[u8; 16]>());
    let script = match sent.kind == "text/html" {
        // ASCII is the same in almost all encodings of the page.
        true => Cow::Owned(answer::ascii(&injection.script)),
        false => Cow::Borrowed(injection.script.as_str()),
    };
    let script = answer::unclosed(&script);
    let map = map.map_or(String::new(), |map| import_map_tag(&map, &nonce));
    let script = format!("<script nonce=\"{nonce}\">{script}</script>{map}");
    let body = match &sent.plan {
        Some(plan) => plan.apply(&sent.body, &script, &injection.connect),
        None => sent.body.to_vec(),
    };
    let headers = [
        (header::CONTENT_TYPE, sent.kind),
        // It contains data for this user only, and its URL a token.
        (header::CACHE_CONTROL, "no-store"),
        // Links inside the app need the launch in the referrer; no other origin sees it.
        (header::REFERRER_POLICY, "same-origin"),
    ];
    let mut answer = (headers, body).into_response();
    policy(app, answer.headers_mut(), |csp| {
        csp.admit_script(&nonce);
        csp.admit_connections(&injection.connect);
    });
    features(app, answer.headers_mut());
    answer
}

/// Browser features by the names in `capabilities` and in Permissions-Policy.
const FEATURES: [(&str, &[&str]); 11] = [
    ("bluetooth", &["bluetooth"]),
    ("camera", &["camera"]),
    ("clipboard-read", &["clipboard", "clipboard-read"]),
    ("clipboard-write", &["clipboard", "clipboard-write"]),
    ("display-capture", &["display-capture", "screen-capture"]),
    ("fullscreen", &["fullscreen"]),
    ("geolocation", &["geolocation", "location"]),
    ("microphone", &["microphone", "audio-capture"]),
    ("midi", &["midi"]),
    ("serial", &["serial"]),
    ("usb", &["usb"]),
];

/// Disables features that are not declared, if any are declared.
fn features(app: &App, headers: &mut HeaderMap) {
    let Some(named) = &app.manifest.capabilities else {
        return;
    };
    let uses = |names: &[&str]| names.iter().any(|name| named.iter().any(|one| one == name));
    let closed: Vec<String> = FEATURES
        .iter()
        .filter(|(_, names)| !uses(names))
        .map(|(feature, _)| format!("{feature}=()"))
        .collect();
    if let Ok(value) = HeaderValue::from_str(&closed.join(", ")) {
        headers.insert(HeaderName::from_static("permissions-policy"), value);
    }
}

/// Sets the app's own policy, if it has one.
fn policy(app: &App, headers: &mut HeaderMap, change: impl FnOnce(&mut Csp)) {
    let Some(text) = &app.manifest.csp else {
        return;
    };
    let mut csp = Csp::parse(text);
    change(&mut csp);
    if let Ok(value) = HeaderValue::from_str(&csp.to_string()) {
        headers.append(header::CONTENT_SECURITY_POLICY, value);
    }
}

fn elsewhere(to: &str, query: Option<&str>) -> Response {
    let to = match query {
        Some(query) => format!("{to}?{query}"),
        None => to.to_owned(),
    };
    let headers = [
        (header::LOCATION, to.as_str()),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (StatusCode::TEMPORARY_REDIRECT, headers).into_response()
}

fn missing(app: &App, error: &FileError) -> Response {
    let status = match error {
        FileError::Io(_) | FileError::Denied { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        FileError::BadPath { .. } => StatusCode::BAD_REQUEST,
        _ => StatusCode::NOT_FOUND,
    };
    let why = match app.broken() {
        Some(problem) => format!("The app {} has an error. {problem}", app.name),
        None => format!("The app {} does not have this file.", app.name),
    };
    plain(status, why)
}
