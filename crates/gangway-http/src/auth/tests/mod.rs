//! The guard in front of routes that only answer who was admitted.

mod admitted;
mod app_host;
mod guard;
mod keys;
mod origins;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Extension, Router,
    body::Body as Content,
    extract::ConnectInfo,
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode},
    middleware,
    routing::get,
};
use gangway_core::Store;
use http_body_util::BodyExt;
use tempfile::TempDir;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use super::*;
use crate::{
    Http, LimitsConfig,
    access::{Body, BodyLimit, Rate, Scope, TokenKind, asset, public, scope, token},
    app_address::AppAddresses,
    metrics::Metrics,
    routes::Routes,
};

const OWN: &str = "http://localhost:3000";
const GUEST: &str = "https://tools.example";
const EMBEDDER: &str = "https://blog.example";
const APIS: &[AppApi] = &[AppApi {
    app: "cinema",
    prefix: "/api/booking",
}];

/// The settings of a server that differ between tests.
struct Setup {
    address: &'static str,
    hosts: Vec<String>,
    required: bool,
    limits: LimitsConfig,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            address: "127.0.0.1:3000",
            hosts: Vec::new(),
            required: true,
            limits: LimitsConfig::default(),
        }
    }
}

impl Setup {
    fn hosts(names: &[&str]) -> Self {
        let hosts = names.iter().map(|&name| name.to_owned()).collect();
        Self {
            hosts,
            ..Self::default()
        }
    }
}

struct Server {
    http: Arc<Http>,
    store: Store,
    router: Router,
    _folder: TempDir,
}

/// The status, the headers, and the body or the code of the error.
type Answer = (StatusCode, HeaderMap, String);

async fn server(setup: Setup) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let address: SocketAddr = setup.address.parse().unwrap();
    let settings = GuardSettings {
        hosts: &setup.hosts,
        allowed_origins: &["https://Tools.example/".to_owned()],
        embed_origins: &[EMBEDDER.to_owned()],
        required: setup.required,
        limits: &setup.limits,
        app_apis: APIS,
    };
    let http = Arc::new(Http {
        guard: Guard::new(&settings, address, "local-token"),
        keys: Keys::load(store.clone()).await.unwrap(),
        logins: Logins::load(store.clone()).await.unwrap(),
        panels: Panels::default(),
        signer: Signer::load(&store).await.unwrap(),
        addresses: AppAddresses::new(None, address).unwrap(),
        own_url: OWN.to_owned(),
        pages_url: OWN.to_owned(),
        page_policy: HeaderValue::from_static("default-src 'none'"),
        metrics: Metrics::new(),
        sockets: TaskTracker::new(),
        stop: CancellationToken::new(),
        limits: setup.limits,
    });
    let who = async |Extension(who): Extension<Admitted>| format!("{who:?}");
    let limit = async |Extension(BodyLimit(bytes)): Extension<BodyLimit>| bytes.to_string();
    let routes = Routes::<()>::new()
        .get("/chat", scope(Scope::Chat), who)
        .post("/chat", scope(Scope::Chat).json(), who)
        .get("/public", public(), who)
        .get("/token", token(TokenKind::Site), who)
        .get("/embed", scope(Scope::Agents).embeds(), who)
        .get("/url", scope(Scope::Chat).url_token(), who)
        .get("/api/sessions/{id}", scope(Scope::Chat).panel(), who)
        .get(
            "/api/sessions/{id}/messages",
            scope(Scope::Chat).panel(),
            who,
        )
        .get("/asset", asset(), who)
        .post("/asset", asset(), who)
        .post("/file", scope(Scope::Chat).body(Body::File), who)
        .post("/start", scope(Scope::Admin).rate(Rate::Starts), who)
        .get("/limit/empty", public(), limit)
        .get("/limit/small", public().body(Body::Small), limit)
        .get("/limit/json", public().json(), limit)
        .get("/limit/file", public().body(Body::File), limit)
        .map(|router| router.route("/no-rule", get(who)).fallback(who));
    let (router, rules) = routes.into_parts();
    let guard = (Arc::clone(&http), Arc::new(rules));
    Server {
        http,
        store,
        router: router.layer(middleware::from_fn_with_state(guard, super::guard)),
        _folder: folder,
    }
}

impl Server {
    async fn key(&self, scopes: &[&str]) -> String {
        self.new_key(scopes).await.key
    }

    async fn new_key(&self, scopes: &[&str]) -> CreatedKey {
        let scopes = scopes.iter().map(|scope| scope.parse().unwrap()).collect();
        let name = "test".parse().unwrap();
        self.http.keys.create(&name, scopes, None).await.unwrap()
    }

    /// Sends a request from 127.0.0.1; for localhost, unless it names another host.
    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send_from([127, 0, 0, 1], method, path, headers).await
    }

    async fn send_from(
        &self,
        peer: [u8; 4],
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost:3000");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Content::empty()).unwrap();
        let peer = SocketAddr::from((peer, 50_000));
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let error = serde_json::from_slice::<crate::error::ApiError>(&bytes);
        let text = error.map_or_else(
            |_| String::from_utf8_lossy(&bytes).into_owned(),
            |error| error.error_code,
        );
        (head.status, head.headers, text)
    }

    /// The body of an answer, or the code of its error.
    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> String {
        self.send(Method::GET, path, headers).await.2
    }

    /// The same with a key.
    async fn get_as(&self, key: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let bearer = format!("Bearer {key}");
        let headers = [&[("authorization", bearer.as_str())], headers].concat();
        self.get(path, &headers).await
    }

    /// The same for POST.
    async fn post_as(&self, key: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let bearer = format!("Bearer {key}");
        let headers = [&[("authorization", bearer.as_str())], headers].concat();
        self.send(Method::POST, path, &headers).await.2
    }
}
