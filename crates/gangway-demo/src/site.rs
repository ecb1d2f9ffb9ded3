//! A site on another origin, which asks for a permission and reads the list.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use gangway_core::Origin;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use super::stage::{Played, Stage, failed};

const PAGE: &str = include_str!("site/index.html");
const SCRIPT: &str = include_str!("site/script.js");
const STYLE: &str = include_str!("site/style.css");

/// Served until this is dropped.
pub(super) struct Site {
    pub(super) origin: Origin,
    /// Whether its page belongs to the session; the page waits for it.
    connected: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Site {
    /// Listens on this machine only.
    pub(super) async fn open(stage: &Stage) -> Played<Self> {
        let wrong = |error: std::io::Error| failed(format!("The site could not start: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(wrong)?;
        let port = listener.local_addr().map_err(wrong)?.port();
        // Another name than Gangway's, so that not even cookies are shared.
        let origin: Origin = format!("http://localhost:{port}")
            .parse()
            .map_err(|_| failed("invalid origin"))?;
        let (connected, ready) = watch::channel(false);
        let page = PAGE.replace("{{gangway}}", &stage.services.http.own_url);
        let file = |kind: &'static str, text: String| {
            get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
        };
        let router = Router::new()
            .route("/", file("text/html; charset=utf-8", page))
            .route("/script.js", file("text/javascript", SCRIPT.to_owned()))
            .route("/style.css", file("text/css", STYLE.to_owned()))
            .route("/ready", get(wait).with_state(ready));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the site of the demo failed");
            }
        });
        Ok(Self {
            origin,
            connected,
            serving,
        })
    }

    /// Its page may begin.
    pub(super) fn begin(&self) {
        self.connected.send_replace(true);
    }
}

async fn wait(State(mut ready): State<watch::Receiver<bool>>) -> impl IntoResponse {
    match ready.wait_for(|ready| *ready).await {
        Ok(_) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::GONE,
    }
}
