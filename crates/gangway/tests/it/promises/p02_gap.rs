//! P2: a reader that cannot resume without a gap gets a resync with a snapshot.

use rand::RngExt;
use serde_json::Value;

use super::{
    chance,
    feed::{Feed, ReceivedFrame, Way},
    scale,
};
use crate::support::TestServer;

const SCRIPT: &str =
    "turns: [{when: wait, steps: [{delta: 'some'}, {ask: {question: 'on?'}}, {say: 'right'}]},
    {steps: [{say: 'one two three four five six'}]}]";

/// Events that the session keeps: fewer than it has.
const KEPT: u64 = 8;

/// A server whose one session has lost its beginning and waits in the middle of a turn.
async fn trimmed() -> (TestServer, String, String) {
    let server = TestServer::scripted_with(SCRIPT, |config| {
        config.sessions.kept_events = KEPT;
    })
    .await;
    let session = server.session().await;
    for _ in 0..5 {
        server.ask(&session, "go").await;
    }
    let server = server.restart().await;
    let mut feed = Feed::open(Way::Sse, &server.http, &server.url(""), &session, None)
        .await
        .unwrap();
    let stream = server.send_message(&session, "wait").await;
    while !feed.next().await.unwrap().is("session.question") {}
    (server, session, stream)
}

fn resync(received: &ReceivedFrame) -> (String, u64) {
    let frame = received.value();
    assert_eq!(frame["type"], "resync", "{frame}");
    let reason = frame["reason"].as_str().unwrap().to_owned();
    let snapshot = &frame["snapshot"];
    assert_eq!(snapshot["session"]["state"], "running");
    let lines = snapshot["entries"].as_array().unwrap();
    assert!(
        lines.iter().any(|line| line["role"] == "question"),
        "{snapshot}"
    );
    (reason, snapshot["seq"].as_u64().unwrap())
}

/// Numbers that cannot be resumed from, with the expected reasons.
fn strange_numbers(count: usize, first: u64, head: u64) -> Vec<(String, &'static str)> {
    let mut chance = chance(2);
    let malformed = [
        "abc",
        "-1",
        "1.5",
        "0x10",
        "1e3",
        "18446744073709551616",
        "1 2",
        "null",
        "01b",
        "%20",
        "٣",
    ];
    (0..count)
        .map(|n| match n % 3 {
            0 => (chance.random_range(0..first - 1).to_string(), "trimmed"),
            1 => {
                let far = if n % 2 == 0 { 1000 } else { u64::MAX - head };
                ((head + chance.random_range(1..far)).to_string(), "future")
            }
            _ => {
                let text = malformed[chance.random_range(0..malformed.len())];
                (text.to_owned(), "malformed")
            }
        })
        .collect()
}

/// P2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_that_leaves_a_gap_is_answered_by_a_snapshot_and_what_follows_it() {
    let (server, session, stream) = trimmed().await;
    let (_, export) = server.get(&format!("/api/sessions/{session}/export")).await;
    let export = export.as_str().unwrap().to_owned();
    let numbers: Vec<u64> = export
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    let (first, head) = (numbers[0], *numbers.last().unwrap());
    assert!(first > 2, "nothing was trimmed");

    let mut waiting = Vec::new();
    for (n, (number, reason)) in strange_numbers(scale(120, 1000), first, head)
        .into_iter()
        .enumerate()
    {
        let one_turn = n % 5 == 4 && reason != "trimmed";
        let mut feed = if one_turn {
            let url = server.url(&format!("/api/stream/{stream}"));
            // A header holds only what HTTP allows in it.
            let number = if number.is_ascii() { &number } else { "xyz" };
            Feed::sse(&server.http, &url, Some(number)).await.unwrap()
        } else if !number.is_ascii() || number.contains(' ') {
            let number = number.replace(' ', "+");
            let encoded: String = number.bytes().map(|b| format!("%{b:02X}")).collect();
            Feed::open(
                Way::WebSocket,
                &server.http,
                &server.url(""),
                &session,
                Some(&encoded),
            )
            .await
            .unwrap()
        } else {
            Feed::open(
                Way::nth(n),
                &server.http,
                &server.url(""),
                &session,
                Some(&number),
            )
            .await
            .unwrap()
        };
        let (message, seq) = resync(&feed.next().await.unwrap());
        assert_eq!((message.as_str(), seq), (reason, head), "number {number:?}");
        waiting.push(feed);
    }
    let question = format!("/api/sessions/{session}/answers");
    let asked = export
        .lines()
        .find(|l| l.contains("session.question"))
        .unwrap();
    let id = &serde_json::from_str::<Value>(asked).unwrap()["questionId"];
    let answer = serde_json::json!({ "questionId": id, "answer": "yes" });
    assert_eq!(server.post(&question, answer).await.0, 204);
    let message = waiting.len();
    for mut feed in waiting {
        let mut before = head;
        loop {
            let (seq, received) = feed.event().await;
            assert_eq!(seq, before + 1, "a gap after the snapshot");
            before = seq;
            if received.is("done") {
                break;
            }
        }
    }
    println!("{message} of {message} told");
}

/// P2
#[tokio::test]
async fn a_stream_whose_turn_is_over_ends_after_the_snapshot() {
    let server = TestServer::scripted(SCRIPT).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let url = server.url(&format!("/api/stream/{stream}"));
    let mut feed = Feed::sse(&server.http, &url, None).await.unwrap();
    while feed.next().await.is_some() {}

    for number in ["999", "abc"] {
        let mut feed = Feed::sse(&server.http, &url, Some(number)).await.unwrap();
        assert!(feed.next().await.unwrap().is("resync"));
        let after = tokio::time::timeout(std::time::Duration::from_secs(5), feed.next()).await;
        assert!(after.expect("it waits for what was long ago").is_none());
    }
}

/// P2
#[tokio::test]
async fn a_stream_whose_beginning_was_trimmed_is_reported_too() {
    let server = TestServer::scripted_with(SCRIPT, |config| {
        config.sessions.kept_events = KEPT;
    })
    .await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let path = format!("/api/stream/{stream}");
    server.sse(&path, None).await.until("done").await;
    server.ask(&session, "more").await;
    let server = server.restart().await;

    let mut feed = Feed::sse(&server.http, &server.url(&path), Some("5"))
        .await
        .unwrap();
    let frame = feed.next().await.unwrap().value();
    assert_eq!(
        (&frame["type"], &frame["reason"]),
        (&"resync".into(), &"trimmed".into())
    );
    assert!(feed.next().await.is_none());
}
