//! The log of the process, and what is never in it.

use std::path::Path;

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::support::{Gangway, socket};

/// Says something on a server that logs at this level, with a reader on either kind of feed; the log.
async fn log_of_a_conversation(folder: &Path, level: &str, prompt: &str) -> String {
    let log = folder.join("log");
    let mut command = Gangway::command(&folder.join("data"));
    let format = ["--log-format", "json", "--log-level", level];
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(format);
    let server = Gangway::spawn_logging(command, std::fs::File::create(&log).unwrap());
    let http = &server.http;
    let sessions = format!("{}/api/sessions", server.url);
    let request = json!({ "agent": "demo" });
    let made = http.post(&sessions).json(&request).send().await.unwrap();
    let session: Value = made.json().await.unwrap();
    let id = session["sessionId"].as_str().unwrap();
    let feed = format!("{sessions}/{id}/events");
    let _stream = http.get(&feed).send().await.unwrap();
    let socket = socket(&feed, &server.token);
    let (mut socket, _) = tokio_tungstenite::connect_async(socket).await.unwrap();
    let text = http
        .post(format!("{sessions}/{id}/messages"))
        .json(&json!({ "prompt": prompt }))
        .send()
        .await
        .unwrap();
    assert_eq!(text.status(), 202);
    loop {
        let message = socket.next().await.unwrap().unwrap();
        if message.to_text().unwrap().contains(prompt) {
            break;
        }
    }
    server.kill();
    std::fs::read_to_string(log).unwrap()
}

#[tokio::test]
async fn log_lines_are_json_when_asked_and_never_hold_what_was_said() {
    for level in ["trace", "info,tungstenite::protocol=trace,hyper=trace"] {
        let folder = tempfile::tempdir().unwrap();
        let log = log_of_a_conversation(folder.path(), level, "my-secret-words").await;
        assert!(!log.contains("my-secret-words"), "the log holds a prompt");
        assert!(level != "trace" || log.contains("answered"), "{log}");
        for line in log.lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        }
    }
}
