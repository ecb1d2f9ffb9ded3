//! A registry of MCP servers, on the wire of the public one.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::{RawQuery, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Semaphore};

/// What a page of it is.
#[derive(Clone)]
pub enum Page {
    /// Entries, and the cursor of the next page.
    Entries(Vec<Value>, Option<String>),
    /// Some other text.
    Text(String),
    /// A status, and what `Retry-After` says.
    Status(u16, Option<&'static str>),
}

/// A registry that is there until the test ends.
#[derive(Clone)]
pub struct Registry {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    /// Answers by turns; the last one stays.
    pages: Mutex<Vec<Page>>,
    asked: Mutex<Vec<String>>,
    gate: Semaphore,
}

impl Registry {
    /// With these pages, one after the other.
    pub async fn start(pages: Vec<Page>) -> Self {
        Self::serve(pages, "/v0.1/servers", Semaphore::MAX_PERMITS).await
    }

    /// An old one, which knows no newer version of the API.
    pub async fn old(pages: Vec<Page>) -> Self {
        Self::serve(pages, "/v0/servers", Semaphore::MAX_PERMITS).await
    }

    /// One that answers as often as it is let.
    pub async fn gated(pages: Vec<Page>) -> Self {
        Self::serve(pages, "/v0.1/servers", 0).await
    }

    async fn serve(pages: Vec<Page>, path: &str, permits: usize) -> Self {
        let shared = Arc::new(Shared {
            pages: Mutex::new(pages),
            asked: Mutex::default(),
            gate: Semaphore::new(permits),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route(path, get(answer))
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// Puts other pages in place of those that are left.
    pub fn becomes(&self, pages: Vec<Page>) {
        *self.shared.pages.lock().unwrap() = pages;
    }

    /// Lets this many requests through.
    pub fn open(&self, times: usize) {
        self.shared.gate.add_permits(times);
    }

    /// The queries of all requests.
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap().clone()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    shared.asked.lock().unwrap().push(query.unwrap_or_default());
    shared.gate.acquire().await.unwrap().forget();
    let page = {
        let mut pages = shared.pages.lock().unwrap();
        match pages.len() {
            1 => pages[0].clone(),
            _ => pages.remove(0),
        }
    };
    match page {
        Page::Entries(entries, next) => {
            let mut metadata = json!({ "count": entries.len() });
            if let Some(next) = next {
                metadata["nextCursor"] = json!(next);
            }
            axum::Json(json!({ "servers": entries, "metadata": metadata })).into_response()
        }
        Page::Text(text) => text.into_response(),
        Page::Status(status, wait) => {
            let status = StatusCode::from_u16(status).unwrap();
            match wait {
                Some(wait) => (status, [(header::RETRY_AFTER, wait)]).into_response(),
                None => status.into_response(),
            }
        }
    }
}

/// An entry with a package of npm.
pub fn entry(name: &str, description: &str) -> Value {
    listed(json!({
        "name": name, "description": description, "version": "1.0.0",
        "packages": [{ "registryType": "npm", "identifier": "some-package", "version": "1.0.0", "transport": { "type": "stdio" } }],
    }))
}

/// A server as the registry lists it.
pub fn listed(server: Value) -> Value {
    let own = json!({ "status": "active", "isLatest": true, "updatedAt": "2026-01-01T00:00:00Z" });
    json!({ "server": server, "_meta": { "io.modelcontextprotocol.registry/official": own } })
}
