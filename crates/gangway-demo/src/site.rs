//! A site on another origin, which asks for a permission and reads the list.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use gangway_core::Origin;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::task::AbortOnDropHandle;

use super::stage::{Played, failed};

const PAGE: &str = include_str!("site/index.html");
const SCRIPT: &str = include_str!("site/script.js");
const STYLE: &str = include_str!("site/style.css");

/// Served until this is dropped.
pub(super) struct Site {
    pub(super) origin: Origin,
    /// Whether its page belongs to the session; the page waits for it.
    connected: watch::Sender<bool>,
    _serving: AbortOnDropHandle<()>,
}

impl Site {
    /// Listens on this machine only. Its page includes the script of the server at this URL.
    pub(super) async fn open(server: &str) -> Played<Self> {
        let wrong = |error: std::io::Error| failed(format!("The site could not start: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(wrong)?;
        let port = listener.local_addr().map_err(wrong)?.port();
        // Another name than Gangway's, so that not even cookies are shared.
        let origin: Origin = format!("http://localhost:{port}")
            .parse()
            .map_err(|_| failed("invalid origin"))?;
        let (connected, ready) = watch::channel(false);
        let page = PAGE.replace("{{gangway}}", server);
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
            _serving: AbortOnDropHandle::new(serving),
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

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        reason = "a test that cannot go on should say where"
    )]

    use std::{pin::pin, time::Duration};

    use gangway_testing::server::bare_client;

    use super::*;

    #[tokio::test]
    async fn the_page_includes_the_script_of_its_server() {
        let site = Site::open("http://127.0.0.1:4000").await.unwrap();
        let client = bare_client();
        let url = |path: &str| format!("{}{path}", site.origin.as_str());
        let page = client.get(url("/")).send().await.unwrap();
        assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
        let page = page.text().await.unwrap();
        assert!(page.contains("src=\"http://127.0.0.1:4000/gangway.js\""));
        assert!(!page.contains("{{"), "{page}");
        site.begin();
        let ready = client.get(url("/ready")).send().await.unwrap();
        assert_eq!(ready.status(), 204);
    }

    #[tokio::test]
    async fn the_page_waits_until_it_may_begin_or_the_demo_is_over() {
        for begins in [true, false] {
            let site = Site::open("http://127.0.0.1:4000").await.unwrap();
            let mut answer = pin!(wait(State(site.connected.subscribe())));
            tokio::select! {
                biased;
                _ = &mut answer => panic!("it was not told to begin"),
                () = async {} => {}
            }
            if begins {
                site.begin();
            }
            drop(site);
            let status = answer.await.into_response().status();
            assert_eq!(status, if begins { 204 } else { 410 });
        }
    }

    #[tokio::test]
    async fn nothing_is_served_after_the_demo() {
        let site = Site::open("http://127.0.0.1:4000").await.unwrap();
        let url = site.origin.as_str().to_owned();
        assert_eq!(bare_client().get(&url).send().await.unwrap().status(), 200);
        let serving = site._serving.abort_handle();
        drop(site);
        let ended = async {
            while !serving.is_finished() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), ended)
            .await
            .unwrap();
        assert!(bare_client().get(&url).send().await.is_err());
    }
}
