//! The catalog of servers and the installer: a registry on its real wire, real package managers, real servers.

mod failing;
mod fetching;
mod installing;
mod searching;

use std::{path::PathBuf, time::Duration};

use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::server::TestServer;

/// A request as a command of the same user makes it.
pub async fn ask(
    server: &TestServer,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let mut request = server.http.request(method, server.url(path));
    request = request.bearer_auth("local-token");
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Asks until the answer is as wanted.
pub async fn until(server: &TestServer, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    // Far longer than anything here takes, so that only a fault ends it.
    for _ in 0..2400 {
        let (_, answer) = ask(server, Method::GET, path, None).await;
        if wanted(&answer) {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{path} does not become what it should");
}

/// Begins an install and waits for its end.
pub async fn install(server: &TestServer, request: Value) -> Value {
    let (status, begun) = ask(server, Method::POST, "/api/mcp/installs", Some(request)).await;
    assert_eq!(status, 202, "{begun}");
    let path = format!("/api/mcp/installs/{}", begun["install"].as_str().unwrap());
    until(server, &path, |install| {
        !["fetching", "starting"].contains(&install["state"].as_str().unwrap_or("fetching"))
    })
    .await
}

/// The files below a folder that hold a text.
pub fn holders(folder: &std::path::Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(holders(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        {
            found.push(path);
        }
    }
    found
}
