//! What else a key or a visitor might do with a remote agent's session: nothing.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Yard, answered};
use crate::mcp::client::{Client, Era};

async fn key(remote: &Yard, scopes: Value) -> String {
    let request = json!({ "name": "program", "scopes": scopes });
    let (status, made) = remote.server.post("/api/keys", request).await;
    assert_eq!(status, 201, "{made}");
    made["key"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_chats_opens_no_session_of_a_remote_agent() {
    let remote = Yard::open().await;
    let made = remote.agent("Good day").await;
    let chat = key(&remote, json!(["chat", "apps"])).await;
    let session = format!("/api/sessions/{}", made.session);
    let history = format!("/api/history?session={}", made.session);
    let prompt = json!({ "prompt": "id > pwned" });
    for (method, path, body) in [
        (Method::GET, session.clone(), json!({})),
        (Method::PATCH, session.clone(), json!({ "agent": "demo" })),
        (Method::DELETE, session.clone(), json!({})),
        (Method::GET, format!("{session}/events"), json!({})),
        (Method::GET, format!("{session}/export"), json!({})),
        (Method::POST, format!("{session}/messages"), prompt),
        (Method::POST, format!("{session}/stop"), json!({})),
        (
            Method::POST,
            format!("{session}/answers"),
            json!({ "questionId": "q", "answer": "Deny" }),
        ),
        (Method::GET, history, json!({})),
        (
            Method::POST,
            "/api/apps/calculator/launch".into(),
            json!({ "session": made.session }),
        ),
    ] {
        let request = remote
            .http
            .request(method.clone(), remote.server.url(&path));
        let request = request.bearer_auth(&chat);
        let request = match method {
            Method::GET => request,
            _ => request.json(&body),
        };
        let (status, answer) = answered(request).await;
        assert_eq!(
            (status, &answer["error_code"]),
            (403, &json!("scope_required")),
            "{method} {path}"
        );
    }
    let listed = remote.http.get(remote.server.url("/api/sessions"));
    let (_, listed) = answered(listed.bearer_auth(&chat)).await;
    assert!(!listed.to_string().contains(&made.session), "{listed}");
    // The owner sees it, but cannot give it another agent either.
    let (status, _) = remote.server.get(&session).await;
    assert_eq!(status, 200);
    let change = Some(json!({ "agent": "demo" }));
    let (status, answer) = remote.server.call(Method::PATCH, &session, change).await;
    assert_eq!(
        (status.as_u16(), &answer["error_code"]),
        (409, &json!("agent_fixed"))
    );
    let (status, answer) = remote
        .server
        .post("/api/sessions", json!({ "agent": "remote" }))
        .await;
    assert_eq!(
        (status.as_u16(), &answer["error_code"]),
        (400, &json!("agent_not_found"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tool_of_gangway_reaches_a_remote_agents_session_by_a_key_for_chats() {
    let remote = Yard::open().await;
    let made = remote.agent("Good day").await;
    let key = key(&remote, json!(["chat", "apps", "tools:gangway/*"])).await;
    let client = Client::with_key(&remote.server, "/mcp", Era::Current, Some(&key)).await;
    for (tool, mut arguments) in [
        ("read_session", json!({})),
        ("send_message", json!({ "prompt": "id > pwned" })),
        ("get_applet_state", json!({ "applet": "notebook" })),
        (
            "set_applet_state",
            json!({ "applet": "notebook", "patch": { "a": 1 } }),
        ),
        ("launch_app", json!({ "app": "calculator" })),
    ] {
        arguments["sessionId"] = json!(made.session);
        let refused = client.call(tool, arguments).await.unwrap_err();
        assert!(refused.contains("scope admin"), "{tool}: {refused}");
    }
    // Without a name a chat is meant, of which there is none yet.
    let none = client.call("read_session", json!({})).await.unwrap_err();
    assert!(none.contains("no session exists"), "{none}");
}
