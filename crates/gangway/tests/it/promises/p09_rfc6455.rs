//! P9: every WebSocket endpoint follows RFC 6455, and closes violations with the right code.

use serde_json::{Value, json};

use super::{
    cases::{self, ALIVE, Case, Expect, LIMIT},
    wire::{CLOSE, END, PING, Received, TEXT, Wire, close, frame, head},
};
use crate::support::TestServer;

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Door {
    /// Answers what it understands, and what it does not.
    Applet,
    /// Ignores messages; only WebSocket control frames matter.
    Feed,
    /// Handles calls of a broker after its hello; ignores everything else.
    Broker,
    /// Sends permission requests, and ignores messages.
    Permissions,
    /// Rejects messages before a join.
    Relay,
}

impl Door {
    /// The largest message that it reads.
    fn limit(self) -> usize {
        match self {
            Self::Applet | Self::Feed | Self::Relay => LIMIT,
            Self::Broker => 2 << 20,
            Self::Permissions => 1024,
        }
    }
}

/// Pages without a word are asked who they are; after this they have been.
async fn enter(wire: &mut Wire, nth: usize) {
    // The number of pages per origin is limited.
    let origin = format!("https://{nth}.example");
    let hello = json!({ "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32) });
    let hello = frame(END | TEXT, hello.to_string().as_bytes());
    assert!(wire.send(&hello, usize::MAX).await);
    match wire.receive().await {
        Received::Text(text) => assert!(text.contains("\"welcome\""), "{text}"),
        other => panic!("{other:?}"),
    }
}

/// Messages other than the session's own events.
async fn heard(wire: &mut Wire, until: impl Fn(&Received) -> bool) -> Vec<Received> {
    let mut all = Vec::new();
    loop {
        let received = wire.receive().await;
        let last = until(&received) || matches!(received, Received::End | Received::Reset);
        let app_event = match &received {
            Received::Text(text) => {
                let frame: Value = serde_json::from_str(text).unwrap();
                let kind = frame["type"].as_str();
                // Whatever the relay says is a refusal here, after its greeting.
                matches!(kind, Some("ready" | "snapshot" | "asks")) || frame.get("v").is_some()
            }
            other => *other == Received::Ping,
        };
        if !app_event {
            all.push(received);
        }
        if last {
            return all;
        }
    }
}

/// What the door should say to this, in order.
fn expected(door: Door, expect: &[Expect]) -> Vec<Received> {
    let answers = expect.iter().map(|expect| match expect {
        Expect::Answer(id) => Received::Text(id.clone()),
        Expect::Refusal => Received::Text("invalid_message".into()),
        Expect::Pong(payload) => Received::Pong(payload.clone()),
        Expect::Close(code) => Received::Close(code.map(|code| (code, String::new()))),
    });
    // The others have no answers of their own.
    let stored =
        answers.filter(|received| door == Door::Applet || !matches!(received, Received::Text(_)));
    stored.collect()
}

/// What was received, reduced to what a case specifies: the id of a response and the code of an error, and the
/// words of a close are free.
fn plain(received: Vec<Received>) -> Vec<Received> {
    let plain = received.into_iter().map(|received| match received {
        Received::Text(text) => {
            let frame: Value = serde_json::from_str(&text).unwrap();
            let message = match frame["type"].as_str() {
                Some("pong") => &frame["id"],
                Some("error") => &frame["code"],
                _ => &frame,
            };
            Received::Text(message.as_str().unwrap_or(&text).to_owned())
        }
        Received::Close(Some((code, _))) => Received::Close(Some((code, String::new()))),
        other => other,
    });
    plain.collect()
}

/// One case on a connection of its own; what was wrong, if anything was.
async fn run(mut wire: Wire, door: Door, case: &Case) -> Result<(), String> {
    let closes = matches!(case.expect.last(), Some(Expect::Close(_)));
    // The connection of a violator may be closed before everything is sent.
    let message = wire.send(&case.send, case.parts).await;
    let mut wanted = expected(door, &case.expect);
    // Pongs are the library's and overtake answers, which are ours: each kind is in order.
    let order = |received: &Received| match received {
        Received::Pong(_) => 0,
        Received::Close(_) | Received::End | Received::Reset => 2,
        _ => 1,
    };
    let mut got = Vec::new();
    if !closes {
        if !message {
            return Err("the server hung up".into());
        }
        wire.send(&frame(END | PING, ALIVE), usize::MAX).await;
        got = heard(&mut wire, |received| {
            *received == Received::Pong(ALIVE.to_vec())
        })
        .await;
        wanted.push(Received::Pong(ALIVE.to_vec()));
        // It lives, and answers may come after that pong; a goodbye comes after both.
        while got.len() < wanted.len()
            && !matches!(got.last(), Some(Received::End | Received::Reset))
        {
            got.extend(heard(&mut wire, |_| true).await);
        }
        wire.send(&close(1000, b""), usize::MAX).await;
        wanted.push(Received::Close(Some((1000, String::new()))));
    }
    got.extend(heard(&mut wire, |received| matches!(received, Received::Close(_))).await);
    wanted.push(Received::End);
    got.extend(heard(&mut wire, |_| false).await);
    let mut got = plain(got);
    got.sort_by_key(order);
    wanted.sort_by_key(order);
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{} wanted {}", brief(&got), brief(&wanted))),
    }
}

fn brief(received: &[Received]) -> String {
    format!("{received:?}").chars().take(300).collect()
}

async fn all(door: Door) {
    let server = TestServer::with(|config| {
        config.limits.frame_bytes = LIMIT;
        // What is somewhat too large is answered there, up to twice as much.
        config.limits.applet_bytes = LIMIT / 2;
        config.relay.message_bytes = LIMIT / 2;
        config.limits.requests_per_second = 1_000_000;
        config.limits.request_burst = 1_000_000;
    })
    .await;
    let session = server.session().await;
    let path = match door {
        Door::Applet => format!("/ws/applet?session={session}&applet=a"),
        Door::Feed => format!("/api/sessions/{session}/events"),
        Door::Broker => "/ws/web-agent".into(),
        Door::Permissions => "/ws/asks".into(),
        Door::Relay => "/agent/ws".into(),
    };
    let cases = cases::all(door.limit());
    let mut wrong = Vec::new();
    for (nth, case) in cases.iter().enumerate() {
        let mut wire = Wire::open(server.address, &path).await;
        if door == Door::Broker {
            enter(&mut wire, nth).await;
        }
        if let Err(why) = run(wire, door, case).await {
            wrong.push(format!("{}: {why}", case.name));
        }
    }
    let right = cases.len() - wrong.len();
    let all = cases.len();
    assert!(
        wrong.is_empty(),
        "{door:?}: {right} of {all}\n{}",
        wrong.join("\n")
    );
}

/// P9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_session_channel_keeps_to_rfc_6455_in_all_cases() {
    all(Door::Applet).await;
}

/// P9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_keeps_to_rfc_6455_in_all_cases() {
    all(Door::Feed).await;
}

/// P9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_socket_behind_pages_keeps_to_rfc_6455_in_all_cases() {
    all(Door::Broker).await;
}

/// P9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_socket_of_permissions_keeps_to_rfc_6455_in_all_cases() {
    all(Door::Permissions).await;
}

/// P9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_relay_keeps_to_rfc_6455_in_all_cases() {
    all(Door::Relay).await;
}

/// P9
#[tokio::test]
async fn a_page_that_has_not_said_who_it_is_follows_the_same_rules() {
    let server = TestServer::start().await;
    for (sent, code) in [
        (frame(END | 3, b""), 1002),
        (frame(END | TEXT, &[0xff]), 1007),
        ([head(END | TEXT, 1 << 40, true), vec![0; 4]].concat(), 1009),
    ] {
        let mut wire = Wire::open(server.address, "/ws/web-agent").await;
        wire.send(&sent, usize::MAX).await;
        let last = plain(heard(&mut wire, |_| false).await);
        let message = Received::Close(Some((code, String::new())));
        assert_eq!(last, [message, Received::End]);
    }
    // A bare connection has sent nothing yet.
    let mut wire = Wire::open(server.address, "/ws/web-agent").await;
    wire.send(&frame(END | PING, ALIVE), usize::MAX).await;
    assert_eq!(wire.receive().await, Received::Pong(ALIVE.to_vec()));
    enter(&mut wire, 0).await;
}

/// P9
#[test]
fn there_are_122_cases_and_no_two_are_the_same() {
    for limit in [LIMIT, Door::Broker.limit(), Door::Permissions.limit()] {
        all_differ(&cases::all(limit));
    }
}

fn all_differ(cases: &[Case]) {
    let mut names: Vec<_> = cases.iter().map(|case| &case.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), cases.len());
    let mut sent: Vec<_> = cases.iter().map(|case| (&case.send, case.parts)).collect();
    sent.sort();
    sent.dedup();
    assert_eq!((sent.len(), cases.len()), (122, 122));
}

/// P9
#[tokio::test]
async fn the_reason_of_a_close_is_given_back_with_its_code() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for path in [
        format!("/ws/applet?session={session}"),
        format!("/api/sessions/{session}/events"),
        "/ws/web-agent".into(),
        "/ws/asks".into(),
        "/agent/ws".into(),
    ] {
        let mut wire = Wire::open(server.address, &path).await;
        wire.send(&close(4321, "goodbye, ä".as_bytes()), 1).await;
        let last = heard(&mut wire, |received| matches!(received, Received::Close(_))).await;
        let message = Received::Close(Some((4321, "goodbye, ä".into())));
        assert_eq!(last, [message]);
        assert_eq!(wire.receive().await, Received::End);
        // And a close without a word by one without a word.
        let mut wire = Wire::open(server.address, &path).await;
        wire.send(&frame(END | CLOSE, b""), usize::MAX).await;
        let last = heard(&mut wire, |_| false).await;
        assert_eq!(last, [Received::Close(None), Received::End]);
    }
}
