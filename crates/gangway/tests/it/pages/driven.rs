//! An MCP client drives a page from its launch to its end.

use std::time::Duration;

use gangway_testing::weblets_client::{WebletSocket, show};
use serde_json::{Value, json};

use super::{add, open_applet};
use crate::{
    mcp::client::{Client, Era},
    support::eventually,
    weblets,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_launches_an_app_drives_it_and_hears_what_happens_in_it() {
    let server = weblets::server().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let request = json!({ "app": "notes", "data": { "notes": ["milk"] } });
    let mut launched = client.call("launch_app", request).await.unwrap();
    show(&server, &mut launched).await;
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    page.send_message(json!({ "type": "weblet-tools", "tools": [add()] }))
        .await;
    page.receive().await;
    // The session names its only page.
    let of_session = json!({ "sessionId": launched["sessionId"] });
    let read = client.call("read_page", of_session.clone()).await.unwrap();
    assert_eq!(read["state"]["data"]["notes"], json!(["milk"]));
    let mut none = of_session.clone();
    none["timeoutMs"] = json!(0);
    let before = client.call("next_page_event", none).await.unwrap();
    assert_eq!(before["events"], json!([]));
    for text in ["bread", "butter"] {
        page.emit(text, "note-added", json!({ "text": text })).await;
    }
    // Both came while nobody waited.
    let mut after = of_session.clone();
    after["after"] = before["last"].clone();
    let mut received = Vec::new();
    while received.len() < 2 {
        let next = client.call("next_page_event", after.clone()).await.unwrap();
        assert_eq!(next["gap"], false);
        received.extend(next["events"].as_array().unwrap().clone());
        after["after"] = next["last"].clone();
    }
    let texts: Vec<_> = received
        .iter()
        .map(|event| &event["event"]["payload"]["text"])
        .collect();
    assert_eq!(texts, ["bread", "butter"]);
    // A page that closes ends the call at once, and takes its tools with it.
    let call = client.call("page-notes__add", json!({ "a": 1, "b": 2 }));
    let close = async {
        assert_eq!(page.receive_type("tool-call").await["name"], "add");
        page.close().await;
    };
    let before = std::time::Instant::now();
    let (ended, ()) = tokio::join!(call, close);
    let error = ended.unwrap_err();
    assert!(error.contains("the page was closed"), "{error}");
    assert!(before.elapsed() < Duration::from_secs(20));
    let tools = client.tools().await;
    assert!(
        !tools.iter().any(|tool| tool.starts_with("page-")),
        "{tools:?}"
    );
    let gone = client.call("read_page", of_session).await.unwrap_err();
    assert!(gone.contains("page not found"), "{gone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_applet_changes_is_an_event_of_its_page() {
    let server = weblets::server().await;
    let session = server.session().await;
    let mut page = open_applet(&server, &session).await;
    let client = Client::new(&server, "/mcp", Era::Older).await;
    let wait = json!({ "sessionId": session, "timeoutMs": 20_000 });
    let mut now = wait.clone();
    now["timeoutMs"] = json!(0);
    let now = client.call("next_page_event", now).await.unwrap();
    page.send(&json!({ "type": "setState", "id": 1, "data": { "n": 7 } }))
        .await;
    let mut wait = wait;
    wait["after"] = now["last"].clone();
    let next = client.call("next_page_event", wait).await.unwrap();
    assert_eq!(next["events"][0]["event"]["data"], json!({ "n": 7 }));
    let read = client
        .call("read_page", json!({ "sessionId": session }))
        .await;
    assert_eq!(read.unwrap()["state"]["data"], json!({ "n": 7 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_cancels_ends_the_call_in_the_page() {
    let server = weblets::server().await;
    let session = server.session().await;
    let mut page = open_applet(&server, &session).await;
    page.send(&json!({ "type": "offerTools", "id": 1, "tools": [add()] }))
        .await;
    page.until("toolsOffered").await;
    let call = {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "page-calculator__add", "arguments": { "a": 1, "b": 2 },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
            } } });
        let request = server
            .http
            .post(server.url("/mcp"))
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "page-calculator__add")
            .json(&body);
        tokio::spawn(request.send())
    };
    let asked = page.until("toolCall").await;
    call.abort();
    let cancelled = page.until("toolCancel").await;
    assert_eq!(cancelled["call"], asked["call"]);
    // The answer comes too late for everybody.
    page.send(&json!({ "type": "toolResult", "id": 2, "call": asked["call"], "result": 3 }))
        .await;
    let message = page.until("error").await;
    assert_eq!(
        (&message["id"], &message["code"]),
        (&json!(2), &json!("call_not_found"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_the_relay_tell_mcp_clients_what_they_tell_their_agents() {
    let server = weblets::server().await;
    let mut host = gangway_testing::relay_client::Client::host(&server, "box").await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let page = json!({ "page": "page-box", "timeoutMs": 0 });
    let now = client.call("next_page_event", page).await.unwrap();
    let message = json!({ "text": "two seats, please" });
    host.push("user.message", message.clone()).await;
    let wait = json!({ "page": "page-box", "after": now["last"], "timeoutMs": 20_000 });
    let next = client.call("next_page_event", wait).await.unwrap();
    let expected: Value = json!({ "type": "user.message", "payload": message });
    assert_eq!(next["events"][0]["event"], expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_page_that_closes_ends_its_calls_at_once() {
    let server = weblets::server().await;
    let mut host = gangway_testing::relay_client::Client::host(&server, "box").await;
    let mut agent = gangway_testing::relay_client::Client::agent(&server, "box").await;
    let call = json!({ "toolName": "t", "params": {}, "reason": "to see" });
    let id = agent.send_message("tool.call", call).await;
    assert_eq!(host.receive().await["type"], "tool.call");
    host.leave().await;
    let message = agent.receive_type("error").await;
    assert_eq!(message["replyTo"], id.as_str(), "{message}");
    let text = message["payload"]["message"].as_str().unwrap();
    assert!(text.contains("closed"), "{text}");
    eventually(async || server.app.pages.all().is_empty().then_some(())).await;
}
