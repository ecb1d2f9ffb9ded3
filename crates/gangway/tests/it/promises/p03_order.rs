//! P3: one order a session, the same for every reader and for the export.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::json;

use super::{
    feed::{Feed, ReceivedFrame, Way, assert_no_gap},
    scale,
};
use crate::support::TestServer;

const WRITERS: usize = 8;
const READERS: usize = 16;

const SCRIPT: &str = "turns:
  - when: ask
    steps: [{ask: {question: 'which?', options: [a, b]}}, {say: 'so {{answer}} it is'}]
  - when: tool
    steps: [{delta: 'let me see'}, {tool: {name: a/b, arguments: {x: 1}, result: [1, 2]}}, {delta: 'done'}]
  - steps: [{say: 'a few words for {{prompt}}'}]";

async fn write(server: &TestServer, session: &str, writer: usize, rounds: usize) {
    for round in 0..rounds {
        let prompt = match round % 3 {
            0 => format!("hello {writer} {round}"),
            1 => format!("tool {writer} {round}"),
            _ => format!("ask {writer} {round}"),
        };
        let path = format!("/api/sessions/{session}");
        let title = json!({ "title": format!("{writer} was here {round}") });
        let (status, _) = server.call(Method::PATCH, &path, Some(title)).await;
        assert_eq!(status, 200);
        let message = server
            .post(&format!("{path}/messages"), json!({ "prompt": prompt }))
            .await;
        assert_eq!(message.0, 202, "{}", message.1);
    }
}

/// Reads until this many turns have ended; the first reader also answers questions.
async fn read(
    server: &TestServer,
    session: &str,
    n: usize,
    turns: usize,
) -> Vec<(u64, ReceivedFrame)> {
    let mut seen: Vec<(u64, ReceivedFrame)> = Vec::new();
    let mut over = 0;
    loop {
        let last = seen.last().map_or(0, |(seq, _)| *seq).to_string();
        let mut feed = Feed::open(
            Way::nth(n),
            &server.http,
            &server.url(""),
            session,
            Some(&last),
        )
        .await
        .unwrap();
        while let Some(received) = feed.next().await {
            if received.is("closing") {
                // Too slow for the writers and disconnected: it resumes after its number.
                break;
            }
            let seq = received.seq().unwrap();
            if n == 0 && received.is("session.question") {
                let body = json!({ "questionId": received.value()["questionId"], "answer": "b" });
                let path = format!("/api/sessions/{session}/answers");
                assert_eq!(server.post(&path, body).await.0, 204);
            }
            over += usize::from(received.is("done"));
            seen.push((seq, received));
            if over == turns {
                return seen;
            }
        }
    }
}

/// P3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_readers_and_the_export_agree_with_concurrent_writers() {
    let rounds = scale(12, 1_150);
    let server = TestServer::scripted_with(SCRIPT, |config| {
        config.sessions.queued_prompts = 1_000_000;
    })
    .await;
    let server = std::sync::Arc::new(server);
    let session = server.session().await;
    let reading: Vec<_> = (0..READERS)
        .map(|n| {
            let (server, session) = (server.clone(), session.clone());
            tokio::spawn(async move { read(&server, &session, n, WRITERS * rounds).await })
        })
        .collect();
    let writing = (0..WRITERS).map(|writer| write(&server, &session, writer, rounds));
    futures_util::future::join_all(writing).await;

    // Every number with its event: no reader may have seen another event with the same number.
    let mut truth: BTreeMap<u64, String> = BTreeMap::new();
    let mut agree = |who: &str, seen: Vec<(u64, ReceivedFrame)>| {
        assert_no_gap(0, &seen);
        let mut whole = String::new();
        for (seq, received) in seen {
            let known = truth.entry(seq).or_insert_with(|| received.text.clone());
            assert_eq!(*known, received.text, "{who} saw another {seq}");
            if !received.is("assistant.message_delta") {
                whole.push_str(&received.text);
            }
        }
        gangway_core::secret::hash(&whole)
    };
    let mut hashes = Vec::new();
    for (n, reader) in reading.into_iter().enumerate() {
        hashes.push(agree(&format!("reader {n}"), reader.await.unwrap()));
    }
    let (_, export) = server.get(&format!("/api/sessions/{session}/export")).await;
    let line = |text: &str| {
        let received = ReceivedFrame {
            text: text.to_owned(),
        };
        (received.seq().unwrap(), received)
    };
    let exported = export.as_str().unwrap().lines().map(line).collect();
    hashes.push(agree("the export", exported));
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "{READERS} readers and the export disagree");
    let asked = truth
        .values()
        .filter(|t| t.contains("user.message"))
        .count();
    assert_eq!(asked, WRITERS * rounds);
    println!("{} events, one hash", truth.len());
}
