//! P10: junk never kills the server, and leaves nothing behind in it.

use std::{net::SocketAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{client_async, tungstenite::Message};

use super::{
    chance,
    junk::{brokered, bytes, relayed, said, value},
    process::Vitals,
    raw, scale,
};
use crate::support::{Gangway, client, current_token, socket};

/// Sent at once; junk that waits for more is left waiting beside the others.
const AT_ONCE: usize = 32;

/// Every request there is, in a form that would be understood.
fn requests(host: &str, session: &str) -> Vec<Vec<u8>> {
    let document = serde_json::to_value(gangway::openapi::openapi()).unwrap();
    let bearer = format!("Bearer {}", current_token());
    let mut found = Vec::new();
    let paths = document["paths"].as_object().unwrap().iter();
    // A demo has connections of its own, which stay while it waits for the person.
    for (path, methods) in paths.filter(|(path, _)| *path != "/api/demo") {
        let path = path
            .replace("{id}", session)
            .replace("{streamId}", &format!("{session}.2"));
        // The session that all junk is thrown at must stay.
        let methods = methods.as_object().unwrap().keys();
        for method in methods.filter(|method| *method != "delete") {
            let headers = [
                ("Host", host),
                ("Content-Type", "application/json"),
                ("Authorization", bearer.as_str()),
                ("Last-Event-ID", "1"),
            ];
            let body = json!({ "prompt": "hello", "title": "x" }).to_string();
            found.push(raw::request(
                &method.to_uppercase(),
                &path,
                &headers,
                body.as_bytes(),
            ));
        }
    }
    for path in [
        "/ws/applet",
        "/ws/applet?session=x&applet=NO&since=-1&client=c",
        "/ws/web-agent",
        "/ws/asks",
        "/ws/asks?ask=0",
        "/agent/ws",
    ] {
        let path = path.replace("=x", &format!("={session}"));
        let origin = format!("http://{host}");
        let headers = [
            ("Host", host),
            ("Origin", origin.as_str()),
            ("Authorization", bearer.as_str()),
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        found.push(raw::request("GET", &path, &headers, b""));
    }
    found
}

/// Changes a few places of something valid.
fn mutated(chance: &mut StdRng, mut request: Vec<u8>) -> Vec<u8> {
    for _ in 0..chance.random_range(1..6) {
        let at = chance.random_range(0..request.len().max(1));
        match chance.random_range(0..5) {
            0 if at < request.len() => request[at] = chance.random(),
            1 => request.truncate(at),
            2 => request.splice(at..at, bytes(chance, 40)).for_each(drop),
            3 => {
                let copy = request[at..].to_vec();
                request.splice(at..at, copy).for_each(drop);
            }
            _ => request.splice(at..at, [b'\r', b'\n']).for_each(drop),
        }
    }
    request
}

/// Says this, ends its side and waits until the server ends the other.
async fn throw(address: SocketAddr, junk: Vec<u8>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let mut answer = vec![0; 4096];
    let message = async {
        let _ = writing.write_all(&junk).await;
        let _ = writing.shutdown().await;
    };
    let received = async {
        // A feed that was opened by chance has no end.
        let timeout = Duration::from_millis(200);
        while let Ok(Ok(1..)) = tokio::time::timeout(timeout, reading.read(&mut answer)).await {}
    };
    tokio::join!(message, received);
}

/// What is thrown at a WebSocket.
enum Thrown {
    /// Malformed frames.
    Frames(Vec<u8>),
    /// Well-formed, with unexpected content.
    Odd(Vec<u8>),
    /// Nearly what a page says.
    Said(Vec<String>),
}

/// Shakes hands as it should be done, then throws.
async fn throw_frames(address: SocketAddr, path: String, thrown: Thrown) {
    let stream = TcpStream::connect(address).await.unwrap();
    let mut request = socket(&format!("ws://{address}{path}"), &current_token());
    let origin = format!("http://{address}").parse().unwrap();
    request.headers_mut().insert("origin", origin);
    let (mut socket, _) = client_async(request, stream).await.unwrap();
    let messages = match thrown {
        Thrown::Frames(junk) => {
            let mut stream = socket.into_inner();
            let _ = stream.write_all(&junk).await;
            let _ = stream.shutdown().await;
            let mut rest = Vec::new();
            let end = stream.read_to_end(&mut rest);
            let _ = tokio::time::timeout(Duration::from_secs(5), end).await;
            return;
        }
        Thrown::Odd(junk) => vec![
            Message::text(String::from_utf8_lossy(&junk).into_owned()),
            Message::binary(junk),
        ],
        Thrown::Said(texts) => texts.into_iter().map(Message::text).collect(),
    };
    for message in messages {
        let _ = socket.send(message).await;
    }
    let _ = socket.close(None).await;
    while let Some(Ok(_)) = socket.next().await {}
}

/// One round of junk on every way in.
async fn round(seed: u64, count: usize, address: SocketAddr, session: &str) {
    let mut chance = chance(seed);
    let valid = requests(&address.to_string(), session);
    let host = address.to_string();
    let origin = format!("http://{host}");
    let bearer = format!("Bearer {}", current_token());
    let headers = [
        ("Host", host.as_str()),
        ("Origin", origin.as_str()),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    let mut junk = Vec::new();
    for n in 0..count {
        junk.push(bytes(&mut chance, 2000));
        let request = valid[chance.random_range(0..valid.len())].clone();
        junk.push(mutated(&mut chance, request));
        let body = value(&mut chance, 4).to_string();
        let (method, path) = [
            ("POST", "/api/sessions".to_owned()),
            ("PATCH", format!("/api/sessions/{session}")),
            ("POST", format!("/api/sessions/{session}/messages")),
            ("POST", format!("/api/sessions/{session}/answers")),
            ("POST", "/api/keys".into()),
            ("POST", "/api/login".into()),
            ("PATCH", "/api/permissions".into()),
            ("POST", "/api/asks/none".into()),
            ("POST", "/api/panel".into()),
        ][n % 9]
            .clone();
        junk.push(raw::request(method, &path, &headers, body.as_bytes()));
    }
    let paths = [
        format!("/api/sessions/{session}/events"),
        format!("/ws/applet?session={session}&applet=junk"),
        "/ws/web-agent".into(),
        "/ws/asks".into(),
        "/agent/ws".into(),
    ];
    let mut frames = Vec::new();
    for n in 0..count {
        let junk = bytes(&mut chance, 2000);
        let thrown = match n % 4 {
            0 => Thrown::Odd(junk),
            _ => Thrown::Frames(junk),
        };
        frames.push((paths[n / 4 % 5].clone(), thrown));
        frames.push((paths[1].clone(), Thrown::Said(vec![said(&mut chance)])));
        let brokered = Thrown::Said(brokered(&mut chance));
        frames.push((paths[2].clone(), brokered));
        let relayed = Thrown::Said(relayed(&mut chance));
        frames.push((paths[4].clone(), relayed));
    }
    futures_util::stream::iter(junk)
        .for_each_concurrent(AT_ONCE, |junk| throw(address, junk))
        .await;
    futures_util::stream::iter(frames)
        .for_each_concurrent(AT_ONCE, |(path, thrown)| {
            throw_frames(address, path, thrown)
        })
        .await;
}

/// P10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_survives_junk_and_keeps_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    // A feed with a pipelined request notices a disconnect only when it writes.
    let config = "default_agent: demo\nlimits: {heartbeat_seconds: 1, requests_per_second: 1000000, request_burst: 1000000}\nlog: {level: error}\n";
    std::fs::write(folder.path().join("config.yaml"), config).unwrap();
    let mut server = Gangway::serve(folder.path(), &[]);
    let address: SocketAddr = server.url.trim_start_matches("http://").parse().unwrap();
    let new_session = async |http: &reqwest::Client| {
        let made = http
            .post(format!("http://{address}/api/sessions"))
            .json(&json!({}));
        let made: Value = made.send().await.unwrap().json().await.unwrap();
        made["sessionId"].as_str().unwrap().to_owned()
    };
    let vitals = Vitals::of(&server);
    let count = scale(300, 10_000);
    let played = async |seed: u64| {
        // Closes its connections when it is dropped.
        let http = client(&current_token());
        let session = new_session(&http).await;
        round(seed, count, address, &session).await;
        // Its log has the pages that opened and left; the newest events are in memory for as long as it is awake.
        let url = format!("http://{address}/api/sessions/{session}");
        assert!(http.delete(url).send().await.unwrap().status().is_success());
    };
    // Several times, since memory grows less from round to round.
    for seed in 1..7 {
        played(seed).await;
    }
    let before = vitals.memory_kib();
    let descriptors = vitals.descriptors();
    played(7).await;

    vitals.descriptors_back_to(&descriptors).await;
    let ready = server.http.get(format!("{}/readyz", server.url)).send();
    assert_eq!(ready.await.unwrap().status(), 200);
    assert!(server.child.try_wait().unwrap().is_none(), "it died");
    let after = vitals.memory_kib();
    println!(
        "{} junk inputs: {before} KiB before, {after} KiB after",
        count * 6
    );
    assert!(
        after <= before + (2 << 10),
        "{after} KiB, but {before} KiB before"
    );
}
