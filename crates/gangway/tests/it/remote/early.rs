//! Answers that come before the body of their request was read: the connection closes after them, and they say so.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::Yard;
use crate::support::LOCAL_TOKEN;

/// Sends a head and the beginning of a body; the whole answer, once the server closes.
async fn refused(server: SocketAddr, head: &str, length: &str) -> String {
    let mut socket = TcpStream::connect(server).await.unwrap();
    let request = format!("{head}\r\nHost: localhost\r\n{length}\r\n\r\nabc");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap().to_ascii_lowercase()
}

fn assert_closes(answer: &str, status: u16) {
    let begin = format!("http/1.1 {status} ");
    assert!(answer.starts_with(&begin), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn an_upload_that_is_refused_before_it_is_read_says_that_the_connection_closes() {
    let remote = Yard::with(super::model::Model::says(&["Hi."]), |config| {
        config.remote_agents.upload_bytes = 1000;
        config.remote_agents.embed_defaults.file_upload = true;
    })
    .await;
    let made = remote.agent("Hi.").await;
    let mut off = super::create_request("Hi.");
    off["feature_flags"] = serde_json::json!({ "file_upload": false });
    let off = remote.made(off).await;
    let long = "Content-Length: 900000";
    for (id, token, kind, length, status) in [
        (&made.id, "gwa_wrong", "text/plain", long, 401),
        (&off.id, off.token.as_str(), "text/plain", long, 403),
        (&made.id, made.token.as_str(), "text/plain", long, 413),
        (&made.id, made.token.as_str(), "video/mp4", long, 415),
        // How much is to come is not said, or not sent before the server asks for it.
        (
            &made.id,
            "gwa_wrong",
            "text/plain",
            "Transfer-Encoding: chunked",
            401,
        ),
        (
            &made.id,
            "gwa_wrong",
            "text/plain",
            "Expect: 100-continue\r\nContent-Length: 100",
            401,
        ),
    ] {
        let head = format!(
            "POST /api/remote_agents/{id}/uploads?name=a.txt HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}"
        );
        assert_closes(&refused(remote.server.address, &head, length).await, status);
    }
}

#[tokio::test]
async fn other_routes_report_it_too() {
    let remote = Yard::open().await;
    let json = "Content-Type: application/json";
    let key = format!("Authorization: Bearer {LOCAL_TOKEN}");
    let long = "Content-Length: 900000000";
    for (path, head, status) in [
        ("/api/sessions", json.to_owned(), 401),
        ("/api/sessions", format!("{json}\r\n{key}"), 413),
        ("/v1/chat/completions", format!("{json}\r\n{key}"), 413),
        ("/api/nothing", format!("{json}\r\n{key}"), 404),
        (
            "/api/sessions",
            format!("Content-Type: text/plain\r\n{key}"),
            415,
        ),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\n{head}");
        assert_closes(&refused(remote.server.address, &head, long).await, status);
    }
}

#[tokio::test]
async fn a_small_body_that_was_not_read_does_not_cost_the_connection() {
    let remote = Yard::open().await;
    let mut socket = TcpStream::connect(remote.server.address).await.unwrap();
    let body = "x".repeat(10_000);
    for _ in 0..3 {
        let request = format!(
            "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let read = socket.read_buf(&mut answer).await.unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
        }
        let answer = String::from_utf8(answer).unwrap().to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 401 "), "{answer}");
        assert!(!answer.contains("\r\nconnection: close\r\n"), "{answer}");
    }
}
