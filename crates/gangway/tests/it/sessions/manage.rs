//! Making, listing, changing and deleting sessions.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::TestServer;

#[tokio::test]
async fn a_new_session_has_a_folder_of_its_own_and_the_default_agent() {
    let server = TestServer::start().await;
    let (status, session) = server.post("/api/sessions", json!({})).await;
    assert_eq!(status, 201);
    assert_eq!(session["agent"], "demo");
    assert_eq!(session["state"], "idle");
    // Its folder is created when it is first used.
    assert!(!std::path::Path::new(session["cwd"].as_str().unwrap()).exists());
    let id = session["sessionId"].as_str().unwrap();
    assert_eq!(server.get(&format!("/api/sessions/{id}")).await.1, session);
}

#[tokio::test]
async fn a_session_keeps_the_folder_model_and_title_it_was_given() {
    let server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let request = json!({ "cwd": folder, "model": "m1", "title": "Mine", "agent": "builtin" });
    let (_, session) = server.post("/api/sessions", request).await;
    let got = [
        &session["cwd"],
        &session["model"],
        &session["title"],
        &session["agent"],
    ];
    assert_eq!(
        got,
        [
            &json!(folder),
            &json!("m1"),
            &json!("Mine"),
            &json!("builtin")
        ]
    );
}

#[tokio::test]
async fn a_folder_that_does_not_exist_is_refused() {
    let server = TestServer::start().await;
    for folder in ["/no/such/folder", "relative", "", "/etc/passwd"] {
        let (status, error) = server.post("/api/sessions", json!({ "cwd": folder })).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (400, &json!("folder_not_found")),
            "{folder}"
        );
    }
}

#[tokio::test]
async fn a_session_that_is_refused_leaves_no_folder() {
    let server = TestServer::start().await;
    let wishes = [
        json!({ "agent": "nobody" }),
        json!({ "title": "" }),
        json!({ "cwd": "/no/such/folder" }),
    ];
    for request in wishes {
        assert_eq!(server.post("/api/sessions", request).await.0, 400);
    }
    let left = std::fs::read_dir(server.data().join("workspaces")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn sessions_are_listed_newest_first_page_by_page() {
    let server = TestServer::start().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(server.session().await);
    }
    made.reverse();
    let mut seen: Vec<String> = Vec::new();
    let mut path = "/api/sessions?limit=2".to_owned();
    loop {
        let (_, page) = server.get(&path).await;
        seen.extend(
            page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["sessionId"].as_str().unwrap().to_owned()),
        );
        match &page["next"] {
            Value::Null => break,
            next => path = format!("/api/sessions?limit=2&before={}", next.as_str().unwrap()),
        }
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn a_list_that_ends_on_a_full_page_has_no_next() {
    let server = TestServer::start().await;
    server.session().await;
    server.session().await;
    let (_, page) = server.get("/api/sessions?limit=2").await;
    assert_eq!(page["next"], Value::Null);
}

#[tokio::test]
async fn the_first_message_names_a_session_that_has_no_title() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server
        .ask(&session, "\n  What is a gangway?  \nTell me all")
        .await;
    let (_, named) = server.get(&format!("/api/sessions/{session}")).await;
    assert_eq!(named["title"], "What is a gangway?");
    server.ask(&session, "Another thing").await;
    let (_, still) = server.get(&format!("/api/sessions/{session}")).await;
    assert_eq!(still["title"], "What is a gangway?");
}

#[tokio::test]
async fn a_change_is_seen_at_once_and_leaves_the_rest() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}");
    let (status, changed) = server
        .call(
            Method::PATCH,
            &path,
            Some(json!({ "title": "New", "agent": "builtin" })),
        )
        .await;
    assert_eq!(
        (status.as_u16(), &changed["title"], &changed["agent"]),
        (200, &json!("New"), &json!("builtin"))
    );
    let (_, again) = server
        .call(Method::PATCH, &path, Some(json!({ "model": "m2" })))
        .await;
    assert_eq!(
        (&again["title"], &again["model"]),
        (&json!("New"), &json!("m2"))
    );
    let (status, error) = server
        .call(Method::PATCH, &path, Some(json!({ "agent": "nobody" })))
        .await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (400, &json!("agent_not_found"))
    );
}

#[tokio::test]
async fn a_deleted_session_is_gone_with_its_folder_and_its_readers() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (_, shown) = server.get(&format!("/api/sessions/{session}")).await;
    let stream = server.send_message(&session, "tell me a long story").await;
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    feed.until("snapshot").await;
    let (status, _) = server
        .call(Method::DELETE, &format!("/api/sessions/{session}"), None)
        .await;
    assert_eq!(status, 204);
    assert_eq!(feed.until("closing").await.data["reason"], "deleted");
    assert_eq!(feed.next().await, None);
    for path in [
        format!("/api/sessions/{session}"),
        format!("/api/stream/{stream}"),
        format!("/api/history?session={session}"),
    ] {
        assert_eq!(server.get(&path).await.0, 404, "{path}");
    }
    assert_eq!(server.get("/api/sessions").await.1["sessions"], json!([]));
    assert!(!std::path::Path::new(shown["cwd"].as_str().unwrap()).exists());
}

#[tokio::test]
async fn deleting_a_session_leaves_a_folder_that_the_caller_named() {
    let server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (_, session) = server
        .post("/api/sessions", json!({ "cwd": folder.path() }))
        .await;
    let path = format!("/api/sessions/{}", session["sessionId"].as_str().unwrap());
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    assert!(folder.path().is_dir());
}

#[tokio::test]
async fn the_agents_are_listed_with_whether_they_are_ready() {
    let server = TestServer::start().await;
    let (_, list) = server.get("/api/agents").await;
    assert_eq!(list["default"], "demo");
    let ready: Vec<_> = list["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| (a["name"].as_str().unwrap(), a["ready"].as_bool().unwrap()))
        .collect();
    assert_eq!(ready, [("builtin", false), ("demo", true)]);
    assert!(
        list["agents"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("No model")
    );
}
