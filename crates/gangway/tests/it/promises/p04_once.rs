//! P4: a request that is sent again because its answer was lost takes effect once, and is answered the same.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use super::scale;
use crate::support::TestServer;

type Socket =
    tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

async fn open(server: &TestServer, session: &str, client: usize) -> Socket {
    let path = format!("/ws/applet?session={session}&applet=board&client=c{client}");
    connect_async(server.socket(&path)).await.unwrap().0
}

async fn answer(socket: &mut Socket, id: usize) -> Value {
    loop {
        if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
            let received: Value = serde_json::from_str(&text).unwrap();
            if received["id"] == id {
                return received;
            }
        }
    }
}

/// One client: each change is sent, cut off at some moment, and sent again until it is answered twice.
async fn client(server: &TestServer, session: &str, number: usize, requests: usize) -> Vec<u64> {
    let mut versions = Vec::new();
    for id in 0..requests {
        let change = json!({ "type": "setState", "id": id, "data": { format!("k{number}"): id } });
        let change = change.to_string();
        let mut cut = open(server, session, number).await;
        cut.send(Message::text(change.clone())).await.unwrap();
        match id % 3 {
            // Before anything comes back.
            0 => drop(cut),
            // When the server has surely begun.
            1 => {
                tokio::task::yield_now().await;
                drop(cut);
            }
            // After the answer.
            _ => {
                answer(&mut cut, id).await;
            }
        }
        let mut again = open(server, session, number).await;
        again.send(Message::text(change.clone())).await.unwrap();
        let first = answer(&mut again, id).await;
        again.send(Message::text(change)).await.unwrap();
        let second = answer(&mut again, id).await;
        assert_eq!(first, second);
        versions.push(first["version"].as_u64().unwrap());
    }
    versions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4_a_change_whose_answer_was_lost_takes_effect_once() {
    let (clients, requests) = scale((4, 25), (10, 1000));
    let server = TestServer::with(|config| {
        config.limits.requests_per_second = 1_000_000;
        config.limits.request_burst = 1_000_000;
    })
    .await;
    let session = server.session().await;
    let all = (0..clients).map(|number| client(&server, &session, number, requests));
    let versions = futures_util::future::join_all(all).await;
    let mut versions: Vec<u64> = versions.into_iter().flatten().collect();
    versions.sort_unstable();
    // Each took effect, none twice, and no two are one.
    let expected: Vec<u64> = (1..=(clients * requests) as u64).collect();
    assert_eq!(versions, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4_a_message_whose_answer_was_lost_takes_effect_once_even_over_a_restart() {
    let messages = scale(20, 500);
    let mut server = TestServer::scripted("turns:\n  - steps: [{ say: 'Aye.' }]\n").await;
    let session = server.session().await;
    let mut streams = Vec::new();
    for n in 0..messages {
        let send = |server: &TestServer| {
            let url = server.url(&format!("/api/sessions/{session}/messages"));
            let request = server
                .http
                .post(url)
                .header("idempotency-key", n.to_string());
            request.json(&json!({ "prompt": format!("m{n}") }))
        };
        // The answer to the first is never read.
        let lost = tokio::spawn(send(&server).send());
        if n % 2 == 0 {
            lost.abort();
        }
        lost.await.ok();
        if n % 10 == 9 {
            server = server.restart().await;
        }
        let mut received = Vec::new();
        for _ in 0..2 {
            let response = send(&server).send().await.unwrap();
            assert_eq!(response.status(), 202);
            received.push(response.json::<Value>().await.unwrap()["streamId"].clone());
        }
        assert_eq!(received[0], received[1]);
        streams.push(received[0].to_string());
        // The queue of a session is bounded; let it empty.
        let stream = received[0].as_str().unwrap().to_owned();
        server
            .sse(&format!("/api/stream/{stream}"), None)
            .await
            .rest()
            .await;
    }
    let path = format!("/api/sessions/{session}/export");
    let (_, export) = server.get(&path).await;
    let export = export.as_str().unwrap();
    let message = export.matches("\"type\":\"user.message\"").count();
    assert_eq!(message, messages);
    streams.dedup();
    assert_eq!(streams.len(), messages);
}

/// Invokes in a new session and waits for its id; twice, to check that it is the same.
async fn in_a_new_session(server: &TestServer, session: &str, id: usize) -> Value {
    let ask = json!({ "type": "invoke", "id": id, "prompt": format!("m{id}"), "session": "new" });
    let ask = Message::text(ask.to_string());
    let mut cut = open(server, session, 1).await;
    cut.send(ask.clone()).await.unwrap();
    match id % 3 {
        0 => drop(cut),
        1 => {
            tokio::task::yield_now().await;
            drop(cut);
        }
        _ => {
            answer(&mut cut, id).await;
        }
    }
    let mut received = Vec::new();
    for _ in 0..2 {
        let mut again = open(server, session, 1).await;
        again.send(ask.clone()).await.unwrap();
        received.push(answer(&mut again, id).await);
    }
    assert_eq!(received[0]["type"], "invokeStarted", "{}", received[0]);
    assert_eq!(received[0], received[1]);
    received.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4_a_message_into_a_new_session_whose_answer_was_lost_makes_one_session() {
    let messages = scale(20, 500);
    let mut server = TestServer::scripted("turns:\n  - steps: [{ say: 'Aye.' }]\n").await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/applets/board");
    let allow = Some(json!({ "speak": "allow" }));
    server.call(reqwest::Method::PUT, &path, allow).await;
    let mut made = Vec::new();
    for id in 0..messages {
        let started = in_a_new_session(&server, &session, id).await;
        if id % 10 == 9 {
            server = server.restart().await;
            let after = in_a_new_session(&server, &session, id).await;
            assert_eq!(started, after);
        }
        made.push(started["sessionId"].as_str().unwrap().to_owned());
    }
    made.sort();
    made.dedup();
    assert_eq!(made.len(), messages);
    for session in &made {
        let (_, export) = server.get(&format!("/api/sessions/{session}/export")).await;
        let message = export
            .as_str()
            .unwrap()
            .matches("\"type\":\"user.message\"");
        assert_eq!(message.count(), 1);
    }
    // And no others were made.
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(2);
    let all = server.app.hub.left_over(soon).await.unwrap();
    assert_eq!(all.len(), messages);
}
