//! Apps for agents that launch them with tools.

use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::sessions::call_tool;
use gangway_testing::weblets_client::{WebletSocket, show};

async fn tool(server: &TestServer, name: &str, arguments: Value) -> Value {
    let result = call_tool(&server.service.tools, None, name, arguments);
    result.await.unwrap().unwrap()
}

#[tokio::test]
async fn an_agent_launches_an_app_receives_and_answers_its_messages_and_sends_it_an_event() {
    let server = TestServer::start().await;
    let listed = tool(
        &server,
        "list_apps",
        json!({ "query": "please keep a note for me" }),
    )
    .await;
    assert_eq!(listed["apps"][0]["name"], "notes");
    let mut launched = tool(
        &server,
        "launch_app",
        json!({ "app": "notes", "data": { "notes": [] } }),
    )
    .await;
    show(&server, &mut launched).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    let id = launched["launchId"].clone();
    let none = tool(
        &server,
        "next_app_event",
        json!({ "launchId": id, "timeoutMs": 10 }),
    )
    .await;
    assert_eq!(none["event"], Value::Null);
    page.emit("e1", "note-added", json!({ "text": "milk" }))
        .await;
    let next = tool(&server, "next_app_event", json!({ "launchId": id })).await;
    assert_eq!(next["event"]["kind"], "event");
    assert_eq!(next["event"]["payload"], json!({ "text": "milk" }));
    assert_eq!(
        page.receive().await,
        json!({ "type": "weblet-ack", "id": "e1" })
    );
    page.request("r1", "translate", json!({ "to": "de" })).await;
    let next = tool(&server, "next_app_event", json!({ "launchId": id })).await;
    assert_eq!(next["event"]["kind"], "request");
    assert_eq!(next["event"]["requestId"], "r1");
    // It has it, and is not given it again while it thinks.
    let none = tool(
        &server,
        "next_app_event",
        json!({ "launchId": id, "timeoutMs": 10 }),
    )
    .await;
    assert_eq!(none["event"], Value::Null);
    let answer = json!({ "launchId": id, "requestId": "r1", "result": { "text": "Milch" } });
    tool(&server, "answer_app_request", answer).await;
    assert_eq!(page.receive().await["result"], json!({ "text": "Milch" }));
    page.request("r2", "translate", json!({})).await;
    tool(&server, "next_app_event", json!({ "launchId": id })).await;
    let answer = json!({ "launchId": id, "requestId": "r2", "error": { "code": "E-AGT-006", "message": "no" } });
    tool(&server, "answer_app_request", answer).await;
    assert_eq!(page.receive().await["error"]["code"], "E-AGT-006");
    let event = json!({ "launchId": id, "event": "theme-changed", "payload": { "theme": "dark" } });
    tool(&server, "send_app_event", event).await;
    assert_eq!(page.receive().await["event"], "theme-changed");
}

#[tokio::test]
async fn wrong_calls_say_what_is_wrong() {
    let server = TestServer::start().await;
    for (name, arguments) in [
        ("launch_app", json!({ "app": "nothing" })),
        ("launch_app", json!({ "app": "notes" })),
        ("next_app_event", json!({ "launchId": "x" })),
        (
            "answer_app_request",
            json!({ "launchId": "l-00000000000000000000000000000000", "requestId": "r" }),
        ),
        ("send_app_event", json!({ "launchId": "x", "event": "Bad" })),
    ] {
        let refused = call_tool(&server.service.tools, None, name, arguments);
        let refused = refused.await.unwrap();
        assert!(refused.is_err(), "{name} {refused:?}");
    }
}
