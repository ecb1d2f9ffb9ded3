//! What tokens of agents open beside agents, and where tokens and words are not.

use std::{os::unix::fs::PermissionsExt, path::Path};

use gangway_runner::wire::Ticket;
use reqwest::Method;
use serde_json::json;

use super::{TestAgent, Yard, answered, create_request, model::Model, process::Dock};

#[tokio::test]
async fn a_token_of_an_agent_opens_nothing_else() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    let (_, frame) = remote.post(&made, "exchange", json!({})).await;
    let frame = frame["frame_token"].as_str().unwrap();
    let document = serde_json::to_value(gangway::openapi::openapi()).unwrap();
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let open = [
            "/api/login",
            "/api/logout",
            "/api/panel",
            "/api/panel/{id}",
            "/api/health",
            "/health",
            "/healthz",
        ];
        if path.starts_with("/api/remote_agents/{id}/")
            || open.contains(&path.as_str())
            || !path.starts_with("/api/")
        {
            continue;
        }
        let path = path
            .replace("{id}", &made.session)
            .replace("{streamId}", &made.session);
        for method in methods.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            for token in [frame, &made.token] {
                let url = format!("{}{path}", remote.base);
                let request = remote.http.request(method.clone(), url).bearer_auth(token);
                let (status, message) = answered(request.json(&json!({}))).await;
                assert_eq!(status, 401, "{method} {path}: {message}");
                asked += 1;
            }
        }
    }
    assert!(asked > 50, "{asked}");
}

fn modes(folder: &Path, found: &mut Vec<(String, u32)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        found.push((entry.path().display().to_string(), mode));
        if entry.path().is_dir() {
            modes(&entry.path(), found);
        }
    }
}

/// P18: tokens and messages do not leak, and other users of the machine have no access.
#[tokio::test]
async fn neither_tokens_nor_words_are_in_the_log_and_no_token_is_on_the_disk() {
    let mut dock = Dock::new(Model::says(&["ANSWERED-WORDS"]), json!({})).await;
    dock.start().await;
    let request = dock
        .request(Method::POST, "/create")
        .json(&create_request("PLANTED-WORDS"));
    let (_, made) = answered(request.header("idempotency-key", "once")).await;
    let made = TestAgent::of(&made);
    dock.until_state(&made, "complete").await;
    let (_, frame) = dock.post(&made, "exchange", json!({})).await;
    let frame = frame["frame_token"].as_str().unwrap().to_owned();
    dock.post(&made, "messages", json!({ "text": "PLANTED-WORDS too" }))
        .await;
    let page = format!("{}/embed/{}?token={}", dock.base, made.id, made.token);
    assert_eq!(dock.http.get(page).send().await.unwrap().status(), 200);
    dock.stream(&made, None).await.until("agent.state").await;
    let wrong = format!("/{}/alive?token=WRONG-TOKEN", made.id);
    assert_eq!(answered(dock.request(Method::GET, &wrong)).await.0, 401);
    let (_, rotated) = dock.post(&made, "token", json!({})).await;
    let rotated = rotated["session_token"].as_str().unwrap().to_owned();
    let mut found = Vec::new();
    modes(&dock.folder.path().join("agents"), &mut found);
    assert!(found.len() >= 4, "{found:?}");
    for (path, mode) in &found {
        assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
    }
    let ticket = dock.folder.path().join("agents").join(&made.id);
    let ticket = std::fs::read(ticket.join("ticket.json")).unwrap();
    let ticket: Ticket = serde_json::from_slice(&ticket).unwrap();
    let new = TestAgent {
        token: rotated.clone(),
        ..made.clone()
    };
    dock.crash().await;
    dock.until_state(&new, "complete").await;
    dock.post(&new, "shutdown", json!({})).await;
    dock.until_ended(&new).await;
    dock.server.take().unwrap().kill();

    let log = std::fs::read_to_string(dock.folder.path().join("log")).unwrap();
    assert!(log.len() > 1000, "the log is off");
    let tokens = [made.token, frame, rotated, ticket.token];
    for secret in tokens
        .iter()
        .map(String::as_str)
        .chain(["PLANTED", "ANSWERED", "WRONG-TOKEN"])
    {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    let entries = std::fs::read_dir(dock.folder.path()).unwrap().flatten();
    for file in entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
    {
        let content = std::fs::read(&file).unwrap();
        let content = String::from_utf8_lossy(&content);
        for token in &tokens {
            assert!(
                !content.contains(token.trim_start_matches("gwa_")),
                "{file:?}"
            );
        }
    }
}
