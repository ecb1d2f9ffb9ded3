//! An app to launch, its page, and its agent.

use std::path::{Path, PathBuf};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::{server::Client, socket::TestSocket};

const MANIFEST: &str = "---
name: notes
title: My notes
description: Keeps notes.
agent:
  triggers: [user wants to keep a note]
  context:
    data:
      notes: { type: array, required: true }
      day: { type: date }
    config:
      theme: { type: string, enum: [light, dark], default: light }
  events:
    - name: note-added
      description: A note was added
    - name: help-wanted
      deliver: turn
---
";

const PAGE: &str = "<!doctype html><html><head><title>Notes</title></head><body><script src=\"app.js\"></script></body></html>";

/// Adds the app `notes` to a data folder if necessary; returns its folder.
pub fn put_notes(data: &Path) -> PathBuf {
    let apps = data.join("my-apps");
    if !apps.exists() {
        let files = [
            ("APP.md", MANIFEST),
            ("index.html", PAGE),
            ("app.js", "let started = true;\n"),
        ];
        std::fs::create_dir_all(apps.join("notes")).unwrap();
        for (name, text) in files {
            std::fs::write(apps.join("notes").join(name), text).unwrap();
        }
    }
    apps
}

pub async fn launch(server: &Client, agent: Value) -> Value {
    let request = json!({ "agent": agent, "data": { "notes": ["a"] } });
    let (status, launched) = server
        .call(Method::POST, "/api/apps/notes/launch", Some(request))
        .await;
    assert_eq!(status, StatusCode::CREATED, "{launched}");
    launched
}

/// A socket of an app's page or agent.
pub struct WebletSocket(TestSocket);

impl WebletSocket {
    /// The agent of a launch.
    pub async fn agent(server: &Client, launched: &Value) -> Self {
        let path = format!("/ws/launches/{}", launched["launchId"].as_str().unwrap());
        let mut socket = Self::open(server, &server.address.to_string(), &path, None)
            .await
            .unwrap();
        assert_eq!(socket.receive().await["type"], "welcome");
        socket
    }

    /// The page of a launch that was already opened in a browser.
    pub async fn page(server: &Client, launched: &Value, more: &str) -> Self {
        let mut socket = Self::try_page(server, launched, more).await.unwrap();
        let first = socket.receive().await;
        assert_eq!(first["type"], "welcome", "{first}");
        socket
    }

    pub async fn try_page(server: &Client, launched: &Value, more: &str) -> Result<Self, u16> {
        let host = app_host(server);
        let proof = launched["proof"].as_str().unwrap_or("none");
        let path = format!(
            "/__gangway/ws?launch={}&proof={proof}{more}",
            token(launched)
        );
        Self::open(server, &host, &path, Some(&format!("http://{host}"))).await
    }

    pub async fn open(
        server: &Client,
        host: &str,
        path: &str,
        origin: Option<&str>,
    ) -> Result<Self, u16> {
        // Pages of apps have only their launch.
        let url = format!("ws://{host}{path}");
        let mut request = match host == server.address.to_string() {
            true => server.socket(path),
            false => url.into_client_request().unwrap(),
        };
        if let Some(origin) = origin {
            request
                .headers_mut()
                .insert("origin", origin.parse().unwrap());
        }
        let socket = TestSocket::connect(server.address, request).await;
        socket.map(Self).map_err(|status| status.as_u16())
    }

    pub async fn send_message(&mut self, message: Value) {
        self.0.send(&message).await;
    }

    pub async fn receive(&mut self) -> Value {
        self.0.receive().await
    }

    /// The next message of this type.
    pub async fn receive_type(&mut self, kind: &str) -> Value {
        self.0.until(kind).await
    }

    /// Closes the page.
    pub async fn close(&mut self) {
        self.0.close().await;
    }

    /// The server's close code, and the reason in its last message.
    pub async fn closed(&mut self) -> (u16, String) {
        let (code, last) = self.0.closed().await.unwrap();
        (code, last["reason"].as_str().unwrap_or_default().to_owned())
    }

    /// Whether no message arrives for a while.
    pub async fn is_silent(&mut self) -> bool {
        self.0.is_silent().await
    }

    pub async fn emit(&mut self, id: &str, event: &str, payload: Value) {
        self.send_message(json!({
            "type": "weblet-event", "id": id, "event": event, "payload": payload,
            "timestamp": 1, "weblet": "notes",
        }))
        .await;
    }

    pub async fn request(&mut self, id: &str, action: &str, params: Value) {
        self.send_message(json!({
            "type": "weblet-request", "requestId": id, "action": action, "params": params, "timestamp": 1,
        }))
        .await;
    }
}

pub fn app_host(server: &Client) -> String {
    format!("notes.localhost:{}", server.address.port())
}

/// The `launch` parameter in the URL of a launch.
pub fn token(launched: &Value) -> String {
    let url = launched["url"].as_str().unwrap();
    url.split_once("launch=").unwrap().1.to_owned()
}

/// Opens a URL of an app like a browser, with cookies and headers.
pub async fn get(
    server: &Client,
    path: &str,
    headers: &[(&'static str, &str)],
) -> reqwest::Response {
    let mut request = server
        .http
        .get(server.url(path))
        .header("host", app_host(server));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

/// Opens the page of a launch, and returns its secret.
pub async fn show(server: &Client, launched: &mut Value) {
    let page = get(server, &format!("/?launch={}", token(launched)), &[]).await;
    assert_eq!(page.status(), 200);
    let page = page.text().await.unwrap();
    let (_, rest) = page.split_once("proof=").unwrap();
    let proof: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    launched["proof"] = json!(proof);
}

/// A launch whose page was opened, so that its channel is open too.
pub async fn opened(server: &Client, agent: Value) -> Value {
    let mut launched = launch(server, agent).await;
    show(server, &mut launched).await;
    launched
}
