//! The agents in `examples`, on pages that are in the middle of something and on pages that they do not know.

use std::{path::Path, process::Output};

use serde_json::{Value, json};

use super::{
    lamp::{Flaw, Page},
    wire::Wire,
};
use crate::support::{LOCAL_TOKEN, TestServer};

async fn run(
    server: &TestServer,
    language: &str,
    session: &str,
    request: &str,
) -> (Option<i32>, String) {
    let python = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/python-agent/agent.py"
    );
    let rust = Path::new(env!("CARGO_BIN_EXE_gangway")).with_file_name("examples");
    let mut command = match language {
        "python" => tokio::process::Command::new("python3"),
        _ => tokio::process::Command::new(rust.join("agent")),
    };
    if language == "python" {
        command.arg(python);
    }
    command
        .arg(request)
        .env("GANGWAY_URL", server.url("").trim_end_matches('/'))
        .env("GANGWAY_KEY", LOCAL_TOKEN)
        .env("GANGWAY_SESSION", session)
        .kill_on_drop(true);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().await.unwrap();
    let message = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
    (status.code(), message)
}

/// A booking in progress: two seats are chosen, and one ticket of two. Returns the calls.
fn half_booked(mut host: Wire) -> tokio::task::JoinHandle<Vec<Value>> {
    tokio::spawn(async move {
        let (mut stage, mut adults, mut code) = ("ticket", 1, None);
        let mut called = Vec::new();
        while let Some(asked) = host.receive().await {
            let call = &asked["payload"];
            if asked["type"] == "tool.call" {
                called.push(json!([call["toolName"], call["params"]]));
                match (call["toolName"].as_str(), stage) {
                    (Some("setQuantity"), _) => {
                        adults = call["params"]["quantity"].as_u64().unwrap()
                    }
                    (Some("next"), "ticket") if adults == 2 => stage = "confirm",
                    (Some("next"), "confirm") => code = Some("K7"),
                    _ => {}
                }
            }
            let named = |id: &str| json!({ "id": id, "value": id });
            let mut booking = json!({
                "status": if code.is_some() { "booked" } else { "open" },
                "movie": named("m1"), "seats": [named("B1"), named("B2")],
            });
            if let Some(code) = code {
                booking["code"] = json!(code);
            }
            let spec = json!({
                "stage": stage, "title": "Tickets", "items": [{ "id": "adult", "name": "Adult" }],
                "visibleItems": [named("adult")],
                "state": { "booking": booking, "quantities": [{ "item": named("adult"), "count": adults }] },
            });
            let state =
                json!({ "ok": true, "uiSpec": spec, "messageHistory": [], "toolSchema": [] });
            let kind = match asked["type"].as_str() {
                Some("snapshot.get") => "snapshot.state",
                Some("tool.call") => "tool.result",
                _ => continue,
            };
            let reply =
                json!({ "v": "mvp-0.2", "type": kind, "replyTo": asked["id"], "payload": state });
            host.send(&reply).await;
        }
        called
    })
}

async fn goes_on_with_a_booking_and_leaves_a_finished_one(language: &str) {
    let server = TestServer::start().await;
    let page = half_booked(Wire::join(&server.url(""), "host", "box").await);
    let request = "five seats for a comedy";
    let (code, message) = run(&server, language, "box", request).await;
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("Booked: K7"), "{message}");
    let (code, message) = run(&server, language, "box", request).await;
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("Already booked: K7"), "{message}");
    // Another page takes its place.
    drop(Wire::join(&server.url(""), "host", "box").await);
    let count = |n: u8| json!(["setQuantity", { "typeId": "adult", "quantity": n }]);
    let next = json!(["next", {}]);
    assert_eq!(
        page.await.unwrap(),
        [count(0), count(2), next.clone(), next]
    );
}

async fn uses_a_tool_of_a_page_that_it_does_not_know(language: &str) {
    let server = TestServer::start().await;
    let _page = Page::open(&server.url(""), "lamp", Flaw::Nothing).await;
    let (code, message) = run(&server, language, "lamp", r#"switch {"on": true}"#).await;
    assert_eq!(code, Some(0), "{message}");
    let mut agent = Wire::join(&server.url(""), "agent", "lamp").await;
    let shown = agent.ask("snapshot.get", json!({})).await.unwrap();
    assert_eq!(shown["payload"]["uiSpec"]["state"]["on"], true, "{message}");
    for (request, code, text) in [
        (r#"switch {"on": 7}"#, Some(1), "INVALID_PARAMS"),
        ("switch on", Some(1), ""),
        (
            "two seats for a comedy",
            Some(2),
            "switch (on): Switches the lamp.",
        ),
    ] {
        let (ended, message) = run(&server, language, "lamp", request).await;
        assert_eq!(ended, code, "{request}: {message}");
        assert!(message.contains(text), "{request}: {message}");
        assert!(
            !message.contains("Traceback") && !message.contains("panicked"),
            "{message}"
        );
    }
    let shown = agent.ask("snapshot.get", json!({})).await.unwrap();
    let history = shown["payload"]["messageHistory"].to_string();
    // What it said came before it said goodbye, and both were answered.
    assert!(history.contains("no booking on this page"), "{history}");
}

#[tokio::test]
async fn the_agent_in_python_continues_with_a_booking_and_leaves_a_finished_one() {
    goes_on_with_a_booking_and_leaves_a_finished_one("python").await;
}

#[tokio::test]
async fn the_agent_in_rust_continues_with_a_booking_and_leaves_a_finished_one() {
    goes_on_with_a_booking_and_leaves_a_finished_one("rust").await;
}

#[tokio::test]
async fn the_agent_in_python_uses_a_tool_of_a_page_that_it_does_not_know() {
    uses_a_tool_of_a_page_that_it_does_not_know("python").await;
}

#[tokio::test]
async fn the_agent_in_rust_uses_a_tool_of_a_page_that_it_does_not_know() {
    uses_a_tool_of_a_page_that_it_does_not_know("rust").await;
}
