//! P8: a tab that stops reading harms only itself, gets the reason when it is disconnected, and can resume.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use tokio_tungstenite::client_async;

use super::{
    feed::{Feed, ReceivedFrame, Way},
    process::Vitals,
    scale,
};
use crate::support::{Gangway, TestServer, current_token, socket};

const STALLED: usize = 4;
const HEALTHY: usize = 8;

/// A turn that streams this many megabytes as fast as possible, once as deltas and once as complete messages.
fn flood(megabytes: usize) -> String {
    let piece = "x".repeat(16 << 10);
    let mut steps = String::new();
    for _ in 0..megabytes * 2 {
        steps += &format!("{{delta: {piece}, times: 16}}, {{tool: {{name: a/b}}}}, ");
    }
    format!("turns: [{{steps: [{steps}]}}]")
}

/// A connection with a small receive buffer, so that it is full soon.
async fn narrow(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16 << 10).unwrap();
    socket.connect(address).await.unwrap()
}

/// Opens a feed and reads nothing of it.
async fn stall(way: Way, address: SocketAddr, session: &str) -> TcpStream {
    let mut stream = narrow(address).await;
    let path = format!("/api/sessions/{session}/events?since=0");
    match way {
        Way::Sse => {
            let token = current_token();
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            stream
        }
        Way::WebSocket => {
            let request = socket(&format!("ws://{address}{path}"), &current_token());
            let (socket, _) = client_async(request, stream).await.unwrap();
            socket.into_inner()
        }
    }
}

/// Reads what lies in a connection until it ends.
async fn drain(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut bytes));
    // A connection that was given up may end in a reset; what came before it counts.
    let _ = ended.await.expect("the connection stays open");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last whole event in what a stalled reader got.
fn last_seen(text: &str) -> u64 {
    let starts: Vec<_> = text.match_indices("{\"seq\":").map(|(at, _)| at).collect();
    let whole = |at: &&usize| text[**at..].contains("\"}");
    let at = *starts.iter().rev().find(whole).unwrap();
    let received = ReceivedFrame {
        text: text[at..].into(),
    };
    received.seq().unwrap()
}

/// Reads a session to the end of its turn, resuming after disconnects; returns the number of events and bytes.
async fn read(
    way: Way,
    http: &reqwest::Client,
    url: &str,
    session: &str,
    after: u64,
) -> (u64, usize) {
    let (mut last, mut bytes) = (after, 0);
    loop {
        let since = last.to_string();
        let mut feed = Feed::open(way, http, url, session, Some(&since))
            .await
            .unwrap();
        while let Some(received) = feed.next().await {
            let Some(seq) = received.seq() else {
                assert!(
                    received.text.contains("\"reason\":\"slow\""),
                    "{}",
                    received.text
                );
                break;
            };
            assert_eq!(seq, last + 1, "a healthy reader lost something");
            last = seq;
            bytes += received.text.len();
            if received.is("done") {
                return (last, bytes);
            }
        }
    }
}

/// Floods a new session that has this many stalled readers, and waits until the healthy ones have everything.
async fn flooded(server: &Gangway, http: &reqwest::Client, stalled: usize) -> Vec<(u64, usize)> {
    let url = &server.url;
    let made = http.post(format!("{url}/api/sessions")).json(&json!({}));
    let made: Value = made.send().await.unwrap().json().await.unwrap();
    let session = made["sessionId"].as_str().unwrap();
    let address = url.trim_start_matches("http://").parse().unwrap();
    let mut held = Vec::new();
    for n in 0..stalled {
        held.push(stall(Way::nth(n), address, session).await);
    }
    let reading = (0..HEALTHY).map(|n| {
        let (http, url, session) = (http.clone(), url.clone(), session.to_owned());
        tokio::spawn(async move { read(Way::nth(n), &http, &url, &session, 0).await })
    });
    let reading: Vec<_> = reading.collect();
    let path = format!("{url}/api/sessions/{session}/messages");
    let message = http.post(path).json(&json!({ "prompt": "go" })).send();
    assert_eq!(message.await.unwrap().status(), 202);
    let read = futures_util::future::join_all(reading).await;
    let gone = http.delete(format!("{url}/api/sessions/{session}")).send();
    assert_eq!(gone.await.unwrap().status(), 204);
    read.into_iter().map(Result::unwrap).collect()
}

/// P8
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_readers_cost_no_memory_and_the_healthy_ones_get_everything() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script.yaml"), flood(scale(8, 64))).unwrap();
    let config = "default_agent: scripted\nagents: {scripted: {script: script.yaml}}\nlimits: {stalled_seconds: 600}\n";
    std::fs::write(folder.path().join("config.yaml"), config).unwrap();
    let server = Gangway::serve(folder.path(), &[]);
    let vitals = Vitals::of(&server);
    let http = server.http.clone();
    // In one process and twice, so that what the allocator keeps for itself is there before it counts.
    for _ in 0..2 {
        flooded(&server, &http, 0).await;
    }
    let alone = vitals.peak_kib();
    let read = flooded(&server, &http, STALLED).await;
    let beside = vitals.peak_kib();
    assert!(read.iter().all(|one| *one == read[0]), "{read:?}");
    println!("peak {alone} KiB alone, {beside} KiB beside {STALLED} stalled readers");
    assert!(
        beside <= alone + (8 << 10),
        "{beside} KiB, but {alone} KiB without stalled readers"
    );
}

/// P8
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_reader_that_wakes_up_learns_that_it_was_slow_and_resumes() {
    // On a busy machine the flood takes longer than readers may stall; here they are to wake up in time.
    let patient = |config: &mut gangway::config::Config| config.limits.stalled_seconds = 600;
    let server = TestServer::scripted_with(&flood(10), patient).await;
    let session = server.session().await;
    let mut stalled = Vec::new();
    for n in 0..STALLED {
        stalled.push(stall(Way::nth(n), server.address, &session).await);
    }
    let url = server.url("");
    server.send_message(&session, "go").await;
    let (end, _) = read(Way::Sse, &server.http, &url, &session, 0).await;
    for (n, mut stream) in stalled.into_iter().enumerate() {
        let text = drain(&mut stream).await;
        assert!(
            text.contains(r#""type":"closing","reason":"slow""#),
            "reader {n} was not told"
        );
        let seen = last_seen(&text);
        assert!(seen < end, "reader {n} was not stalled");
        assert_eq!(
            read(Way::nth(n), &server.http, &url, &session, seen)
                .await
                .0,
            end
        );
    }
}

/// P8
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_never_wakes_up_is_cut_off() {
    let server = TestServer::scripted_with(&flood(10), |config| {
        config.limits.stalled_seconds = 1;
    })
    .await;
    let session = server.session().await;
    let mut stalled = Vec::new();
    for n in 0..STALLED {
        stalled.push(stall(Way::nth(n), server.address, &session).await);
    }
    server.send_message(&session, "go").await;
    let url = server.url("");
    let (end, _) = read(Way::WebSocket, &server.http, &url, &session, 0).await;
    let cut_off = async {
        while server.app.http.metrics.readers.get() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), cut_off)
        .await
        .expect("a stalled reader is still held");
    for (n, mut stream) in stalled.into_iter().enumerate() {
        let seen = last_seen(&drain(&mut stream).await);
        assert_eq!(
            read(Way::nth(n), &server.http, &url, &session, seen)
                .await
                .0,
            end
        );
    }
}
