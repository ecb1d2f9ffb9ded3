//! What Gangway does for an app, with the person's word.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Line, opened, server};
use crate::support::{TestServer, eventually};

/// Answers the one question that is open.
async fn answer(server: &TestServer, action: &str, content: Value) -> Value {
    let question = eventually(async || {
        let (_, list) = server.call(Method::GET, "/api/mcp/questions", None).await;
        list["questions"].get(0).cloned()
    })
    .await;
    let path = format!("/api/mcp/questions/{}", question["id"].as_str().unwrap());
    let wish = json!({ "action": action, "content": content });
    let (status, told) = server.call(Method::POST, &path, Some(wish)).await;
    assert!(status.is_success(), "{told}");
    question
}

#[tokio::test]
async fn a_file_is_saved_in_the_sessions_folder_once_the_person_agrees() {
    let server = server().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = Line::page(&server, &launched, "").await;
    page.request(
        "r1",
        "save-file",
        json!({ "filename": "report.csv", "content": "a,b\n" }),
    )
    .await;
    let question = answer(&server, "accept", json!({ "always": true })).await;
    assert!(
        question["message"]
            .as_str()
            .unwrap()
            .contains("The app My notes (notes) wants to save report.csv"),
        "{question}"
    );
    let heard = page.hear().await;
    assert_eq!(
        heard["result"],
        json!({ "saved": true, "path": "report.csv", "bytes": 4 })
    );
    let session = launched["sessionId"].as_str().unwrap();
    let file = server
        .folder
        .path()
        .join("workspaces")
        .join(session)
        .join("report.csv");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "a,b\n");
    // Always means without asking again, until it is taken back.
    page.request(
        "r2",
        "save-file",
        json!({ "filename": "b.json", "content": { "a": 1 } }),
    )
    .await;
    assert_eq!(page.hear().await["success"], true);
    let (_, shown) = server.call(Method::GET, "/api/apps/notes", None).await;
    assert_eq!(shown["grants"], json!(["save-file"]));
    let (status, _) = server
        .call(Method::DELETE, "/api/apps/notes/grants/save-file", None)
        .await;
    assert_eq!(status, 204);
    page.request(
        "r3",
        "save-file",
        json!({ "filename": "c.txt", "content": "c" }),
    )
    .await;
    answer(&server, "decline", Value::Null).await;
    let error = json!({ "code": "E-AGT-004", "message": "the person said no" });
    assert_eq!(page.hear().await["error"], error);
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_before_anyone_is_asked() {
    let server = server().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = Line::page(&server, &launched, "").await;
    for (n, (action, params)) in [
        ("save-file", json!({ "filename": "../x", "content": "a" })),
        (
            "save-file",
            json!({ "filename": "//etc/x", "content": "a" }),
        ),
        ("save-file", json!({ "content": "a" })),
        (
            "save-file",
            json!({ "filename": "a", "content": "?", "encoding": "base64" }),
        ),
        ("open-url", json!({ "url": "javascript:alert(1)" })),
        ("open-url", json!({ "url": "file:///etc/passwd" })),
        ("call-tool", json!({ "tool": "no-slash" })),
        ("prompt", json!({ "text": " " })),
        ("notify", json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        page.request(&format!("r{n}"), action, params.clone()).await;
        let heard = page.hear().await;
        assert_eq!(
            heard["error"]["code"], "E-AGT-004",
            "{action} {params} {heard}"
        );
    }
    let (_, list) = server.call(Method::GET, "/api/mcp/questions", None).await;
    assert_eq!(list["questions"], json!([]));
}

#[tokio::test]
async fn an_app_speaks_to_the_agent_once_the_person_lets_it() {
    let server = server().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = Line::page(&server, &launched, "").await;
    page.request("r1", "prompt", json!({ "text": "hello" }))
        .await;
    let session = launched["sessionId"].as_str().unwrap();
    let path = format!("/api/sessions/{session}/applets");
    eventually(async || {
        let (_, speakers) = server.call(Method::GET, &path, None).await;
        let speaker = &speakers["applets"][0];
        assert!(
            speaker.is_null() || speaker["name"] == "My notes",
            "{speaker}"
        );
        (speaker["asking"]["prompt"] == "hello").then_some(())
    })
    .await;
    let decided = server
        .call(
            Method::PUT,
            &format!("{path}/notes"),
            Some(json!({ "speak": "allow" })),
        )
        .await;
    assert!(decided.0.is_success(), "{}", decided.1);
    let heard = page.hear().await;
    assert_eq!(heard["success"], true, "{heard}");
    assert!(!heard["result"]["text"].as_str().unwrap().is_empty());
    // An event that asks for a turn makes one now.
    page.emit("e1", "help-wanted", json!({ "with": "taxes" }))
        .await;
    assert_eq!(page.hear().await["type"], "weblet-ack");
    let history = format!("/api/history?session={session}");
    eventually(async || {
        let (_, told) = server.call(Method::GET, &history, None).await;
        let said = "event help-wanted {\"with\":\"taxes\"}";
        let entries = told["entries"].as_array().unwrap();
        let mut from = entries.iter().filter(|entry| entry["role"] == "user");
        from.any(|entry| entry["content"] == said).then_some(())
    })
    .await;
}

#[tokio::test]
async fn one_app_does_not_take_all_the_persons_attention() {
    let server = server().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = Line::page(&server, &launched, "").await;
    for n in 0..4 {
        let params = json!({ "filename": format!("{n}.txt"), "content": "x" });
        page.request(&format!("r{n}"), "save-file", params).await;
    }
    let heard = page.hear().await;
    assert_eq!(heard["error"]["code"], "E-AGT-004", "{heard}");
    let (_, list) = server.call(Method::GET, "/api/mcp/questions", None).await;
    assert_eq!(list["questions"].as_array().unwrap().len(), 3);
}
