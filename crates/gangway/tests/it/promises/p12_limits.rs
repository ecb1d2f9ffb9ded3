//! P12: a client that exceeds a limit gets a clean error, and others are unaffected.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt, future::join_all};
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use super::{
    raw, scale,
    wire::{self, Wire},
};
use crate::support::TestServer;

/// As commands of the owner show it.
const BEARER: &str = "Bearer local-token";

async fn post(server: &TestServer, path: &str, body: &[u8]) -> raw::Answer {
    let host = server.address.to_string();
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", BEARER),
        ("Content-Type", "application/json"),
    ];
    let request = raw::request("POST", path, &headers, body);
    raw::send(server.address, &request)
        .await
        .expect("an answer, not a dropped socket")
}

/// P12
#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let server = TestServer::with(|config| config.limits.body_bytes = 1000).await;
    let body = |size: usize| {
        let title = json!({ "title": "x" }).to_string();
        title + &" ".repeat(size - 13)
    };
    assert_eq!(body(1000).len(), 1000);
    assert_eq!(
        post(&server, "/api/sessions", body(1000).as_bytes())
            .await
            .status,
        201
    );
    let answer = post(&server, "/api/sessions", body(1001).as_bytes()).await;
    answer.assert_error(413, "body_too_large");
}

/// P12
#[tokio::test]
async fn a_hundred_megabytes_are_refused_without_being_read() {
    let server = TestServer::start().await;
    let body = vec![b'['; 100 << 20];
    let answer = post(&server, "/api/sessions", &body).await;
    answer.assert_error(413, "body_too_large");

    let host = server.address.to_string();
    let mut request = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {host}\r\nAuthorization: {BEARER}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n6400000\r\n"
    )
    .into_bytes();
    request.extend_from_slice(&body);
    let answer = raw::send(server.address, &request).await.unwrap();
    answer.assert_error(413, "body_too_large");
}

/// P12
#[tokio::test]
async fn a_body_that_is_announced_as_too_large_is_not_asked_for() {
    let server = TestServer::start().await;
    let host = server.address.to_string();
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {host}\r\nAuthorization: {BEARER}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 104857600\r\n\r\n"
    );
    let answer = raw::send(server.address, head.as_bytes()).await.unwrap();
    answer.assert_error(413, "body_too_large");
}

/// P12
#[tokio::test]
async fn junk_in_a_body_is_reported_from_json_that_does_not_fit() {
    let server = TestServer::start().await;
    let deep = |n: usize| format!("{{\"title\":{}1{}}}", "[".repeat(n), "]".repeat(n));
    let objects = "{\"a\":".repeat(100_000);
    let cases: [(Vec<u8>, &str); 10] = [
        (b" []".to_vec(), "invalid_request"),
        (vec![b'['; 1_000_000], "invalid_request"),
        (deep(100_000).into_bytes(), "invalid_request"),
        (objects.into_bytes(), "invalid_request"),
        (b"{\"title\":\"\xff\xfe\"}".to_vec(), "malformed_json"),
        (b"{\"title\":\"\\ud800\"}".to_vec(), "malformed_json"),
        (b"{\"title\":".to_vec(), "malformed_json"),
        (b"".to_vec(), "malformed_json"),
        (b"{\"title\":7}".to_vec(), "invalid_request"),
        (
            b"{\"title\":\"a\",\"title\":\"b\"}".to_vec(),
            "invalid_request",
        ),
    ];
    for (body, code) in &cases {
        let answer = post(&server, "/api/sessions", body).await;
        println!("{}", String::from_utf8_lossy(&body[..body.len().min(40)]));
        answer.assert_error(400, code);
    }
    assert_eq!(server.get("/api/sessions").await.1["sessions"], json!([]));
}

/// P12
#[tokio::test]
async fn headers_may_be_as_large_as_the_limit_and_no_larger() {
    let server = TestServer::with(|config| config.limits.header_bytes = 600).await;
    let host = server.address.to_string();
    // As the guard counts: each name and value, and four bytes for what stands between them.
    let bearer = "authorization".len() + BEARER.len() + 4;
    let rest = 600 - ("host".len() + host.len() + 4) - bearer - ("x-a".len() + 4);
    for (more, status) in [(0, 200), (1, 431)] {
        let value = "v".repeat(rest + more);
        let request = raw::request(
            "GET",
            "/api/sessions",
            &[("Host", &host), ("Authorization", BEARER), ("X-A", &value)],
            b"",
        );
        let answer = raw::send(server.address, &request).await.unwrap();
        assert_eq!(answer.status, status);
        if status == 431 {
            answer.assert_error(431, "headers_too_large");
        }
    }
    let answer = many_headers(&server, 101).await;
    answer.assert_error(431, "headers_too_large");
    // Beyond this the head is not even read, so there is no telling what it asks.
    assert_eq!(many_headers(&server, 300).await.status, 431);
    let value = "v".repeat(100_000);
    let request = raw::request(
        "GET",
        "/api/sessions",
        &[("Host", &host), ("X-A", &value)],
        b"",
    );
    let answer = raw::send(server.address, &request).await.unwrap();
    assert_eq!(answer.status, 431);
}

async fn many_headers(server: &TestServer, count: usize) -> raw::Answer {
    let host = server.address.to_string();
    let mut headers = vec![("Host", host.as_str())];
    headers.resize(count, ("a", "b"));
    let request = raw::request("GET", "/api/sessions", &headers, b"");
    raw::send(server.address, &request).await.unwrap()
}

/// P12
#[tokio::test]
async fn a_websocket_message_over_the_limit_is_answered_by_1009() {
    let server = TestServer::with(|config| config.limits.frame_bytes = 2000).await;
    let session = server.session().await;
    let feed = server.socket(&format!("/api/sessions/{session}/events"));
    let (mut socket, _) = connect_async(feed).await.unwrap();
    assert!(socket.next().await.unwrap().unwrap().is_text());
    socket.send(Message::text("x".repeat(2000))).await.unwrap();
    socket
        .send(Message::Ping("still there".into()))
        .await
        .unwrap();
    assert!(socket.next().await.unwrap().unwrap().is_pong());
    socket.send(Message::text("x".repeat(2001))).await.unwrap();
    match socket.next().await.unwrap().unwrap() {
        Message::Close(Some(frame)) => assert_eq!(u16::from(frame.code), 1009),
        other => panic!("{other:?}"),
    }
}

/// P12
#[tokio::test]
async fn one_connection_too_many_is_notified_and_one_that_leaves_makes_room() {
    let server = TestServer::with(|config| config.limits.connections = 3).await;
    let host = server.address.to_string();
    let request = raw::request("GET", "/healthz", &[("Host", &host)], b"");
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(&request).await.unwrap();
        assert_eq!(raw::read(&mut stream).await.unwrap().status, 200);
        open.push(stream);
    }
    for _ in 0..20 {
        let answer = raw::send(server.address, &request)
            .await
            .expect("an answer, not a reset");
        answer.assert_error(503, "too_many_connections");
    }
    drop(open.pop());
    let started = Instant::now();
    while raw::send(server.address, &request).await.unwrap().status != 200 {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "no room was made"
        );
    }
}

/// P12
#[tokio::test]
async fn websockets_count_as_connections_for_as_long_as_they_are_open() {
    let server = TestServer::with(|config| config.limits.connections = 2).await;
    let session = server.session().await;
    // The client that made the session keeps its connection for a while.
    let server = server.restart().await;
    let host = server.address.to_string();
    let request = raw::request("GET", "/healthz", &[("Host", &host)], b"");
    let feed = Wire::open(server.address, &format!("/api/sessions/{session}/events")).await;
    let channel = Wire::open(server.address, &format!("/ws/applet?session={session}")).await;
    let answer = raw::send(server.address, &request).await.unwrap();
    answer.assert_error(503, "too_many_connections");
    drop(feed);
    let started = Instant::now();
    while raw::send(server.address, &request).await.unwrap().status != 200 {
        let late = started.elapsed() > Duration::from_secs(5);
        assert!(!late, "no room was made");
    }
    drop(channel);
}

/// P12
#[tokio::test]
async fn requests_over_the_rate_are_rejected_with_a_delay() {
    let server = TestServer::with(|config| {
        config.limits.requests_per_second = 1;
        config.limits.request_burst = 5;
    })
    .await;
    let host = server.address.to_string();
    let request = raw::request(
        "GET",
        "/api/sessions",
        &[("Host", &host), ("Authorization", BEARER)],
        b"",
    );
    for _ in 0..5 {
        assert_eq!(
            raw::send(server.address, &request).await.unwrap().status,
            200
        );
    }
    let answer = raw::send(server.address, &request).await.unwrap();
    answer.assert_error(429, "rate_limited");
}

/// P12
#[tokio::test]
async fn prompts_over_the_queue_are_rejected_with_a_delay() {
    let script = "turns: [{steps: [{ask: {question: 'on?'}}]}]";
    let server =
        TestServer::scripted_with(script, |config| config.sessions.queued_prompts = 2).await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/messages");
    for _ in 0..3 {
        assert_eq!(
            post(&server, &path, br#"{"prompt":"go"}"#).await.status,
            202
        );
    }
    let answer = post(&server, &path, br#"{"prompt":"go"}"#).await;
    answer.assert_error(429, "queue_full");
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let message = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["role"] == "user");
    assert_eq!(message.count(), 3);
}

/// Sends requests from this many clients at once, this often each; the 99th percentile of the latency.
async fn healthy(server: &TestServer, clients: usize, requests: usize) -> Duration {
    let client = async |_| {
        let mut times = Vec::new();
        for _ in 0..requests {
            let started = Instant::now();
            assert_eq!(server.get("/api/sessions").await.0, 200);
            times.push(started.elapsed());
        }
        times
    };
    let mut times: Vec<_> = join_all((0..clients).map(client)).await.concat();
    times.sort();
    times[times.len() * 99 / 100]
}

/// P12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_sockets_do_not_slow_the_healthy_ones() {
    let server = TestServer::start().await;
    let (clients, requests) = (scale(8, 50), scale(20, 100));
    healthy(&server, clients, requests).await;
    let alone = healthy(&server, clients, requests).await;
    let mut slow = Vec::new();
    let mut halves = Vec::new();
    let session = server.session().await;
    for n in 0..scale(60, 500) {
        if n % 4 == 3 {
            let path = [
                format!("/api/sessions/{session}/events"),
                format!("/ws/applet?session={session}&applet=slow"),
            ];
            let mut wire = Wire::open(server.address, &path[n / 4 % 2]).await;
            let frame = wire::frame(wire::END | wire::TEXT, &[b' '; 5000]);
            wire.send(&frame[..2000], usize::MAX).await;
            halves.push(wire);
            continue;
        }
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let part: &[u8] = match n % 4 {
            0 => b"GET /api/sess",
            1 => b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"title\"",
            _ => b"",
        };
        stream.write_all(part).await.unwrap();
        slow.push(stream);
    }
    let beside = healthy(&server, clients, requests).await;
    println!(
        "p99 alone {alone:?}, beside {} slow sockets {beside:?}",
        slow.len() + halves.len()
    );
    // A few milliseconds are noise; a server that waits for a slow socket waits for seconds.
    let bar = alone * 2 + Duration::from_millis(scale(500, 20));
    assert!(beside <= bar, "{beside:?} is more than {bar:?}");
}
