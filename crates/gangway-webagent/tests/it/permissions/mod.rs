//! What pages of other origins may do: asked for, kept, revoked, logged.

mod asking;
mod audit;
mod expiry;
mod flood;
mod http;
mod kept;
mod once;
mod tools;
mod watching;

use std::sync::Arc;

use gangway_core::{AskBody, Asker, Grant, Origin, Scope, Tool, asks::PermissionRequest};
use gangway_webagent::permissions::{AskId, Outcome, PermissionQuery, Permissions, TabId, TooMany};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::server::TestServer;

const SHOP: &str = "https://shop.example";

fn origin(text: &str) -> Origin {
    text.parse().unwrap()
}

fn tab(number: u8) -> TabId {
    format!("{number:032x}").parse().unwrap()
}

fn query(from: &str, scopes: &[Scope]) -> PermissionQuery {
    PermissionQuery {
        origin: origin(from),
        tab: tab(1),
        embedder: None,
        scopes: scopes.to_vec(),
        reason: String::new(),
        tools: None,
        offered: Vec::new(),
        server: None,
        hidden: false,
        session: None,
    }
}

fn tool(name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        name: name.parse().unwrap(),
        description: format!("What {name} does"),
        input_schema: json!({ "type": "object" }),
    })
}

fn grant(permissions: &Permissions, scope: Scope) -> Grant {
    permissions.standing(&origin(SHOP)).of(scope)
}

/// The permission requests that the person is shown.
fn requests(server: &TestServer) -> Vec<(Origin, PermissionRequest)> {
    let list = server.service.asks.list();
    let request = |ask: &Arc<gangway_core::Ask>| match (&ask.asker, &ask.body) {
        (Asker::Site(origin), AskBody::Permission(request)) => (origin.clone(), request.clone()),
        other => panic!("{other:?}"),
    };
    list.iter().map(request).collect()
}

/// One permission request.
fn details(server: &TestServer, id: &AskId) -> PermissionRequest {
    match &server.service.asks.get(id).unwrap().body {
        AskBody::Permission(request) => request.clone(),
        other => panic!("{other:?}"),
    }
}

/// A query that is being asked for.
struct Asking {
    shown: mpsc::Receiver<AskId>,
    task: JoinHandle<Result<Outcome, TooMany>>,
}

impl Asking {
    fn begin(permissions: &Arc<Permissions>, query: PermissionQuery) -> Self {
        let (tell, shown) = mpsc::channel(1);
        let permissions = Arc::clone(permissions);
        let task = tokio::spawn(async move {
            let message = move |id: &AskId| tell.try_send(id.clone()).unwrap();
            permissions.request(query, message).await
        });
        Self { shown, task }
    }

    /// The question, once the person can see it.
    async fn id(&mut self) -> AskId {
        self.shown.recv().await.expect("it was never shown")
    }

    async fn outcome(self) -> Outcome {
        self.task.await.unwrap().unwrap()
    }
}

/// A change as one of our own pages makes it.
async fn change(
    server: &TestServer,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let request = server.http.request(method, server.url(path));
    let mut request = request.header("origin", format!("http://{}", server.address));
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

async fn patch(server: &TestServer, body: Value) -> (StatusCode, Value) {
    change(server, Method::PATCH, "/api/permissions", Some(body)).await
}

async fn answer(server: &TestServer, id: &AskId, body: Value) -> (StatusCode, Value) {
    let path = format!("/api/asks/{id}");
    change(server, Method::POST, &path, Some(body)).await
}
