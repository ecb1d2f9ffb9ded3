//! A server that is not as ours is: the bridge bounds what it takes, and the browser never gets more than it can.

use axum::{
    Router,
    body::Body,
    extract::{WebSocketUpgrade, ws::Message},
    http::StatusCode,
    routing::get,
};
use futures_util::stream;
use gangway_client::{DataFolder, ServerNote};
use serde_json::json;

use super::{alone, pipe::Pipe};

/// A text that no message may be as long as.
fn huge() -> String {
    json!({ "type": "asks", "x": "x".repeat(33 << 20) }).to_string()
}

/// Any program that listens on the server's port.
fn strange() -> Router {
    let endless = || async {
        let spaces = vec![b' '; 1 << 20];
        Body::from_stream(stream::repeat_with(move || {
            Ok::<_, std::convert::Infallible>(spaces.clone())
        }))
    };
    let watched = |upgrade: WebSocketUpgrade| async {
        upgrade.on_upgrade(|mut socket| async move { while socket.recv().await.is_some() {} })
    };
    let shouted = |upgrade: WebSocketUpgrade| async {
        upgrade.on_upgrade(|mut socket| async move {
            let _ = socket.send(Message::text("{}")).await;
            let _ = socket.send(Message::text(huge())).await;
            while socket.recv().await.is_some() {}
        })
    };
    let long = |upgrade: WebSocketUpgrade| async {
        upgrade.on_upgrade(|mut socket| async move {
            let _ = socket.send(Message::text("this is no JSON")).await;
            let _ = socket.send(Message::text(huge())).await;
            while socket.recv().await.is_some() {}
        })
    };
    Router::new()
        .route("/ws/asks", get(watched))
        .route("/ws/web-agent", get(shouted))
        .route("/api/sessions/{id}/events", get(long))
        .route("/api/mcp/servers", get(endless))
        .route("/api/agents", get(|| async { "this is no JSON" }))
        .route("/api/tools", get(|| async { vec![b'"', 0xff, b'"'] }))
        .route("/api/mcp/installs", get(|| async { "[]" }))
        .route("/api/permissions", get(|| async { "" }))
        .fallback(|| async { (StatusCode::IM_A_TEAPOT, "short and stout") })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_server_answers_is_too_much_or_passed_on_half() {
    let folder = alone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, strange()).await });
    let mut taken = DataFolder::take(folder.path()).unwrap();
    let note = ServerNote {
        pid: 1,
        url,
        token: "x".into(),
        for_browser: false,
    };
    taken.announce(&note).unwrap();
    let mut pipe = Pipe::start(folder.path());
    pipe.hello();
    for (kind, code, status) in [
        ("list_servers", "too_large", 0),
        ("list_agents", "internal", 0),
        ("mcp_list_tools", "internal", 0),
        ("list_installed", "internal", 0),
        ("llm_list_models", "internal", 418),
    ] {
        assert_eq!(
            pipe.refused(kind, json!({})),
            (code.into(), status),
            "{kind}"
        );
    }
    assert_eq!(pipe.get("permission_list", json!({})), json!(null));
    pipe.page("v1", "https://shop.example");
    assert_eq!(pipe.answer("v1").unwrap()["code"], 1009);
    let (code, _) = pipe.refused("chat_follow", json!({ "session_id": "a" }));
    assert_eq!(code, "too_large");
    assert_eq!(pipe.get("ping", json!({ "data": 1 })), 1);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_ends_as_soon_as_its_output_is_closed_even_if_idle() {
    use std::process::Stdio;

    let folder = alone();
    let mut command = crate::support::Gangway::command(folder.path());
    command.arg("bridge").stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let from = child.stdin.take();
    drop(child.stdout.take());
    let ended = tokio::task::spawn_blocking(move || child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
    drop(from);
}
