//! OpenAI's API on a model server that speaks the real protocol.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod bad_input;
mod chat;
mod clients;
mod faithful;
mod server;

use gangway_testing::{fake::Fake, wires::Wire};
use serde_json::{Value, json};

use crate::server::TestServer;

/// What OpenAI streams for some text.
fn says(chunks: &[&str]) -> Fake {
    let mut events: Vec<String> = chunks.iter().map(|text| Wire::OpenAi.text(text)).collect();
    events.extend([
        event(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] })),
        event(json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } })),
    ]);
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    Fake::streams(&events)
}

fn event(value: Value) -> String {
    format!("data: {value}\n\n")
}

async fn server(fake: &Fake) -> TestServer {
    let url = fake.start().await;
    TestServer::with(|config| config.base_url = Some(url)).await
}

fn hello() -> Value {
    json!({ "model": "openai/big", "messages": [{ "role": "user", "content": "hi" }] })
}

/// A request with some fields changed.
fn with(fields: Value) -> Value {
    let mut request = hello();
    for (name, value) in fields.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

/// The events of a streamed answer as JSON, and whether it ended with the end marker.
async fn streamed(server: &TestServer, request: Value) -> (Vec<Value>, bool) {
    let response = server
        .http
        .post(server.url("/v1/chat/completions"))
        .json(&request)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    let kind = response.headers()["content-type"].to_str().unwrap();
    assert!(kind.starts_with("text/event-stream"), "{kind}");
    let text = response.text().await.unwrap();
    let mut data: Vec<&str> = text
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("data: "))
        .collect();
    let done = data.last() == Some(&"[DONE]");
    data.retain(|data| *data != "[DONE]");
    let events = data.iter().map(|data| serde_json::from_str(data).unwrap());
    (events.collect(), done)
}
