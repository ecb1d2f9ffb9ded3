//! A server for the routes of one crate, with the real middleware of gangway-http but without the binary.

use std::{
    net::SocketAddr,
    ops::{Deref, DerefMut},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use axum::{Router, http::HeaderValue, middleware};
use gangway_core::Store;
use gangway_http::{
    Http, LimitsConfig,
    app_address::AppAddresses,
    auth::{self, AppApi, CreatedKey, Guard, GuardSettings, Keys, Logins, Panels, Signer},
    finish,
    metrics::Metrics,
    routes::Routes,
};
use reqwest::{
    Method, StatusCode,
    header::{AUTHORIZATION, HeaderMap},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_tungstenite::tungstenite::{client::IntoClientRequest, handshake::client::Request};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The data folder's token, as used by the owner's commands.
pub const LOCAL_TOKEN: &str = "local-token";

/// The parts for the state of the routes.
pub struct Parts {
    pub http: Arc<Http>,
    pub store: Store,
    pub data: PathBuf,
    pub address: SocketAddr,
}

/// A client of one server, with the data folder's token.
pub struct Client {
    pub address: SocketAddr,
    pub http: reqwest::Client,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            http: client(LOCAL_TOKEN),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The request that opens a WebSocket.
    pub fn socket(&self, path: &str) -> Request {
        socket(&self.url(path), LOCAL_TOKEN)
    }

    /// Sends a request with a JSON body; returns status and JSON.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        let mut request = self.http.request(method, self.url(path));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        (status, value)
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.call(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.call(Method::POST, path, Some(body)).await
    }
}

/// Settings of the server around the routes.
#[derive(Clone)]
pub struct Settings {
    pub limits: LimitsConfig,
    pub hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    pub embed_origins: Vec<String>,
    pub app_apis: &'static [AppApi],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: LimitsConfig {
                requests_per_second: 1_000_000,
                request_burst: 1_000_000,
                ..LimitsConfig::default()
            },
            hosts: Vec::new(),
            allowed_origins: Vec::new(),
            embed_origins: Vec::new(),
            app_apis: &[],
        }
    }
}

/// A running server in a temporary folder; stops on drop.
pub struct RouteServer {
    client: Client,
    pub services: Arc<Http>,
    folder: Option<TempDir>,
    task: JoinHandle<()>,
}

impl RouteServer {
    /// Serves the routes that `make` creates from the parts, in this folder.
    pub async fn start<F>(
        folder: TempDir,
        app_apis: &'static [AppApi],
        make: impl FnOnce(Parts) -> F,
    ) -> Self
    where
        F: Future<Output = Routes>,
    {
        let settings = Settings {
            app_apis,
            ..Settings::default()
        };
        let (listener, parts) = prepare(&folder, &settings).await;
        let http = Arc::clone(&parts.http);
        let routes = make(parts).await;
        Self::run(folder, listener, http, routes, |router| router, |all| all)
    }

    /// Serves the routes: `behind_guard` adds layers to them, `around` to the whole server.
    fn run(
        folder: TempDir,
        listener: TcpListener,
        http: Arc<Http>,
        routes: Routes,
        behind_guard: impl FnOnce(Router) -> Router,
        around: impl FnOnce(Router) -> Router,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let (router, rules) = routes.into_parts();
        let guard = (Arc::clone(&http), Arc::new(rules));
        let router = router
            .fallback(finish::not_found)
            .method_not_allowed_fallback(finish::method_not_allowed);
        let router = behind_guard(router)
            .layer(middleware::from_fn_with_state(guard, auth::guard))
            .layer(middleware::from_fn_with_state(
                Arc::clone(&http),
                finish::finish,
            ));
        let service = around(router).into_make_service_with_connect_info::<SocketAddr>();
        let stop = http.stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            let serving = axum::serve(listener, service).with_graceful_shutdown(stop);
            serving.await.unwrap();
        });
        Self {
            client: Client::new(address),
            services: http,
            folder: Some(folder),
            task,
        }
    }

    /// A new key with this scope.
    pub async fn key(&self, scope: &str) -> CreatedKey {
        self.key_for(&[scope]).await
    }

    /// A new key with these scopes.
    pub async fn key_for(&self, scopes: &[&str]) -> CreatedKey {
        let name = "key".parse().unwrap();
        let scopes = scopes.iter().map(|scope| scope.parse().unwrap()).collect();
        let created = self.services.keys.create(&name, scopes, None).await;
        created.unwrap()
    }

    /// Moves the clock forward.
    pub async fn pass(&mut self, time: Duration) {
        // Meanwhile, idle connections are closed.
        self.client.http = client(LOCAL_TOKEN);
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    }

    /// Stops like ctrl-c; returns the folder for another server.
    pub async fn stop(mut self) -> TempDir {
        self.services.stop.cancel();
        self.services.sockets.close();
        self.services.sockets.wait().await;
        // The shutdown would wait for an idle connection of a client.
        self.task.abort();
        let _ = (&mut self.task).await;
        self.folder.take().unwrap()
    }

    pub fn data(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().to_owned()
    }
}

impl Deref for RouteServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for RouteServer {
    fn drop(&mut self) {
        self.services.stop.cancel();
        self.task.abort();
    }
}

/// The service of one crate, with settings of its own.
#[allow(async_fn_in_trait, reason = "tests run on one thread")]
pub trait Service: Sized {
    type Config: Default;

    fn settings(_config: &Self::Config) -> Settings {
        Settings::default()
    }

    /// The service and its routes.
    async fn start(config: &Self::Config, parts: Parts) -> (Self, Routes);

    /// Tasks that end with the server.
    async fn stop(&self) {}

    /// Adds layers to the routes, behind the guard.
    fn behind_guard(&self, router: Router) -> Router {
        router
    }

    /// Adds layers to the whole server.
    fn around(&self, router: Router) -> Router {
        router
    }
}

/// A server with one service, which can be restarted in its folder.
pub struct ServiceServer<S: Service> {
    pub service: S,
    pub config: S::Config,
    server: RouteServer,
}

impl<S: Service> ServiceServer<S> {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut S::Config)) -> Self {
        Self::on(tempfile::tempdir().unwrap(), change).await
    }

    /// In a folder with existing data.
    pub async fn on(folder: TempDir, change: impl FnOnce(&mut S::Config)) -> Self {
        let mut config = S::Config::default();
        change(&mut config);
        Self::launch(folder, config).await
    }

    async fn launch(folder: TempDir, config: S::Config) -> Self {
        let (listener, parts) = prepare(&folder, &S::settings(&config)).await;
        let http = Arc::clone(&parts.http);
        let (service, routes) = S::start(&config, parts).await;
        let behind_guard = |router| service.behind_guard(router);
        let around = |router| service.around(router);
        let server = RouteServer::run(folder, listener, http, routes, behind_guard, around);
        Self {
            service,
            config,
            server,
        }
    }

    /// Restarts like ctrl-c and another start.
    pub async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    pub async fn restart_with(mut self, change: impl FnOnce(&mut S::Config)) -> Self {
        change(&mut self.config);
        self.server.services.stop.cancel();
        self.service.stop().await;
        let folder = self.server.stop().await;
        drop(self.service);
        Self::launch(folder, self.config).await
    }
}

impl<S: Service> Deref for ServiceServer<S> {
    type Target = RouteServer;

    fn deref(&self) -> &RouteServer {
        &self.server
    }
}

impl<S: Service> DerefMut for ServiceServer<S> {
    fn deref_mut(&mut self) -> &mut RouteServer {
        &mut self.server
    }
}

async fn prepare(folder: &TempDir, settings: &Settings) -> (TcpListener, Parts) {
    let store = Store::open(folder.path()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let parts = Parts {
        http: Arc::new(http(&store, address, settings).await),
        store,
        data: folder.path().to_owned(),
        address,
    };
    (listener, parts)
}

async fn http(store: &Store, address: SocketAddr, settings: &Settings) -> Http {
    let limits = settings.limits.clone();
    let settings = GuardSettings {
        hosts: &settings.hosts,
        allowed_origins: &settings.allowed_origins,
        embed_origins: &settings.embed_origins,
        required: true,
        limits: &limits,
        app_apis: settings.app_apis,
    };
    let own_url = format!("http://{address}");
    Http {
        guard: Guard::new(&settings, address, LOCAL_TOKEN),
        keys: Keys::load(store.clone()).await.unwrap(),
        logins: Logins::load(store.clone()).await.unwrap(),
        panels: Panels::default(),
        signer: Signer::load(store).await.unwrap(),
        addresses: AppAddresses::new(None, address).unwrap(),
        pages_url: own_url.clone(),
        own_url,
        page_policy: HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
        metrics: Metrics::new(),
        sockets: TaskTracker::new(),
        stop: CancellationToken::new(),
        limits,
    }
}

/// A client that sends this token, unless a request brings its own.
pub fn client(token: &str) -> reqwest::Client {
    client_with(HeaderMap::from_iter([(AUTHORIZATION, bearer(token))]))
}

/// A client that sends no token.
pub fn bare_client() -> reqwest::Client {
    client_with(HeaderMap::new())
}

fn client_with(headers: HeaderMap) -> reqwest::Client {
    // A second install fails because there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().default_headers(headers);
    builder.no_proxy().build().unwrap()
}

/// The request that opens a WebSocket with this token.
pub fn socket(url: &str, token: &str) -> Request {
    let url = url.replacen("http://", "ws://", 1);
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert(AUTHORIZATION, bearer(token));
    request
}

fn bearer(token: &str) -> HeaderValue {
    format!("Bearer {token}").parse().unwrap()
}
