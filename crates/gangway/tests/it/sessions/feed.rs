//! The feed of a whole session, on SSE and on WebSocket.

use gangway_testing::socket::TestSocket;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::support::TestServer;

async fn connect(server: &TestServer, path: &str) -> TestSocket {
    TestSocket::open(server.socket(path)).await.unwrap()
}

#[tokio::test]
async fn a_feed_begins_with_a_snapshot_and_continues_from_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "code").await;
    let mut socket = connect(&server, &format!("/api/sessions/{session}/events")).await;
    let opening = socket.receive().await;
    assert_eq!(opening["type"], "snapshot");
    let roles: Vec<_> = opening["snapshot"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["user", "assistant"]);
    server.send_message(&session, "more code").await;
    let message = socket.receive().await;
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
        let same = socket.receive().await;
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
    socket.receive().await;
    socket.send_raw(Message::text("junk")).await;
    socket.send_raw(Message::binary(vec![0; 100])).await;
    server.send_message(&session, "code").await;
    assert_eq!(socket.receive().await["type"], "session.changed");
}

#[tokio::test]
async fn a_feed_of_an_unknown_session_is_refused_before_the_upgrade() {
    let server = TestServer::start().await;
    let path = "/api/sessions/01a1ddec-0d83-7088-92bb-e43a6be77561/events";
    let refused = TestSocket::open(server.socket(path)).await.err();
    assert_eq!(refused.unwrap(), 404);
}

#[tokio::test]
async fn a_stopping_server_closes_its_connections_with_a_reason() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut socket = connect(&server, &format!("/api/sessions/{session}/events")).await;
    socket.receive().await;
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    feed.until("snapshot").await;
    let restarted = tokio::spawn(server.restart());
    let (code, closing) = socket.closed().await.unwrap();
    assert_eq!(
        (code, &closing["type"], &closing["reason"]),
        (1001, &json!("closing"), &json!("shutdown"))
    );
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
