//! The log of the process, and what is never in it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::support::Gangway;

/// Says something on a server that logs at this level, with a reader on either kind of feed; the log.
async fn log_of_a_conversation(folder: &Path, level: &str, prompt: &str) -> String {
    let log = folder.join("log");
    let mut command = Gangway::command(&folder.join("data"));
    let format = ["--log-format", "json", "--log-level", level];
    let mut child = command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(format)
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let words = line.split_whitespace();
    let address = words.into_iter().find_map(|w| w.strip_prefix("http://"));
    let address = address.unwrap();
    let http = gangway_models::http_client();
    let sessions = format!("http://{address}/api/sessions");
    let wish = json!({ "agent": "demo" });
    let made = http.post(&sessions).json(&wish).send().await.unwrap();
    let session: Value = made.json().await.unwrap();
    let id = session["sessionId"].as_str().unwrap();
    let feed = format!("{sessions}/{id}/events");
    let _stream = http.get(&feed).send().await.unwrap();
    let socket = feed.replacen("http", "ws", 1);
    let (mut socket, _) = tokio_tungstenite::connect_async(socket).await.unwrap();
    let said = http
        .post(format!("{sessions}/{id}/messages"))
        .json(&json!({ "prompt": prompt }))
        .send()
        .await
        .unwrap();
    assert_eq!(said.status(), 202);
    loop {
        let message = socket.next().await.unwrap().unwrap();
        if message.to_text().unwrap().contains(prompt) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
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
