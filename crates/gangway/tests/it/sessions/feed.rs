//! The feed of a whole session, on SSE and on WebSocket.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use crate::support::TestServer;

type Socket =
    tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

async fn connect(server: &TestServer, path: &str) -> Socket {
    connect_async(server.socket(path)).await.unwrap().0
}

async fn next(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_feed_begins_with_a_snapshot_and_continues_from_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "code").await;
    let mut socket = connect(&server, &format!("/api/sessions/{session}/events")).await;
    let opening = next(&mut socket).await;
    assert_eq!(opening["type"], "snapshot");
    let roles: Vec<_> = opening["snapshot"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["user", "assistant"]);
    server.send_message(&session, "more code").await;
    let message = next(&mut socket).await;
    assert_eq!(
        (&message["type"], &message["seq"]),
        (
            &json!("user.message"),
            &json!(opening["snapshot"]["seq"].as_u64().unwrap() + 1)
        )
    );
}

#[tokio::test]
async fn a_snapshot_in_the_middle_of_an_answer_holds_what_was_said_so_far() {
    let server =
        TestServer::scripted("turns: [{steps: [{say: 'one two three '}, {pause_ms: 60000}]}]")
            .await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    for _ in 0..3 {
        reader.until("assistant.message_delta").await;
    }
    let waiting = server.send_message(&session, "next").await;
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    let snapshot = feed.next().await.unwrap().data["snapshot"].clone();
    let answer = &snapshot["entries"][1];
    assert_eq!(
        (&answer["content"], &answer["streaming"]),
        (&json!("one two three "), &json!(true))
    );
    assert_eq!(
        (&snapshot["running"], &snapshot["queued"]),
        (&json!(stream), &json!([waiting]))
    );
    assert_eq!(snapshot["session"]["state"], "running");
}

#[tokio::test]
async fn websocket_and_sse_say_the_same() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "code").await;
    let path = format!("/api/sessions/{session}/events?since=0");
    let mut socket = connect(&server, &path).await;
    let mut feed = server.sse(&path, None).await;
    loop {
        let frame = feed.next().await.unwrap();
        if frame.event == "session.idle" {
            continue;
        }
        let same = next(&mut socket).await;
        assert_eq!(frame.data, same);
        if same["type"] == "done" {
            break;
        }
    }
}

#[tokio::test]
async fn what_a_client_says_on_a_feed_is_ignored_and_the_socket_lives_on() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut socket = connect(&server, &format!("/api/sessions/{session}/events")).await;
    next(&mut socket).await;
    socket.send(Message::text("junk")).await.unwrap();
    socket.send(Message::binary(vec![0; 100])).await.unwrap();
    server.send_message(&session, "code").await;
    assert_eq!(next(&mut socket).await["type"], "session.changed");
}

#[tokio::test]
async fn a_feed_of_an_unknown_session_is_refused_before_the_upgrade() {
    let server = TestServer::start().await;
    let path = "/api/sessions/01a1ddec-0d83-7088-92bb-e43a6be77561/events";
    let error = connect_async(server.socket(path)).await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
}

#[tokio::test]
async fn a_stopping_server_closes_its_connections_with_a_reason() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut socket = connect(&server, &format!("/api/sessions/{session}/events")).await;
    next(&mut socket).await;
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    feed.until("snapshot").await;
    let restarted = tokio::spawn(server.restart());
    let closing = next(&mut socket).await;
    assert_eq!(
        (&closing["type"], &closing["reason"]),
        (&json!("closing"), &json!("shutdown"))
    );
    match socket.next().await.unwrap().unwrap() {
        Message::Close(Some(frame)) => assert_eq!(u16::from(frame.code), 1001),
        other => panic!("{other:?}"),
    }
    assert_eq!(feed.until("closing").await.data["reason"], "shutdown");
    assert_eq!(feed.next().await, None);
    drop(socket);
    restarted.await.unwrap();
}

#[tokio::test]
async fn a_snapshot_holds_every_change_that_its_number_covers() {
    let server = TestServer::start().await;
    for _ in 0..30 {
        let session = server.session().await;
        let path = format!("/api/sessions/{session}/events");
        let (_, mut feed) = tokio::join!(
            server.send_message(&session, "code"),
            server.sse(&path, None)
        );
        let mut title = feed.next().await.unwrap().data["snapshot"]["session"]["title"].clone();
        while title.is_null() {
            let frame = feed.next().await.unwrap();
            assert_ne!(frame.event, "assistant.turn_start", "the title never came");
            title = frame.data["title"].clone();
        }
    }
}
