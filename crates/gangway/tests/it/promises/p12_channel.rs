//! P12 on the applet channel: exceeding a limit returns an error, and the channel keeps working.

use serde_json::{Value, json};

use super::wire::{END, Received, TEXT, Wire, frame};
use crate::support::TestServer;

const MOST: usize = 2 << 20;

async fn say(wire: &mut Wire, message: &[u8]) -> Value {
    wire.send(&frame(END | TEXT, message), usize::MAX).await;
    loop {
        match wire.receive().await {
            Received::Text(text) => {
                let reported: Value = serde_json::from_str(&text).unwrap();
                if reported["type"] != "ready"
                    && (reported["type"] == "error" || reported.get("id").is_some())
                {
                    return reported;
                }
            }
            Received::Ping => {}
            other => panic!("{other:?}"),
        }
    }
}

/// P12
#[tokio::test]
async fn one_over_each_limit_of_the_channel_is_notified_and_it_lives_on() {
    let server = TestServer::with(|config| config.limits.applet_bytes = MOST).await;
    let session = server.session().await;
    let path = format!("/ws/applet?session={session}&applet=a");
    let mut wire = Wire::open(server.address, &path).await;
    let padded = |length: usize| {
        let mut text = br#"{"type":"ping","id":1}"#.to_vec();
        text.resize(length, b' ');
        text
    };
    let state = |length: usize| {
        let text = json!({ "type": "setState", "id": 1, "data": { "k": "x".repeat(length) } });
        text.to_string().into_bytes()
    };
    let id = |length: usize| {
        let text = json!({ "type": "ping", "id": "i".repeat(length) });
        text.to_string().into_bytes()
    };
    let file = |length: usize| {
        let text = json!({ "type": "stat", "id": 1, "path": "p".repeat(length) });
        text.to_string().into_bytes()
    };
    let deep = |depth: usize| {
        let (open, shut) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"type":"setState","id":1,"data":{{"k":{open}{shut}}}}}"#).into_bytes()
    };
    for (name, within, over, code) in [
        ("a message", padded(MOST), padded(MOST + 1), "too_large"),
        ("brackets", deep(100), deep(1_000_000), "invalid_message"),
        ("an id", id(100), id(101), "invalid_message"),
        (
            "a state",
            state(900_000),
            state(1_100_000),
            "state_too_large",
        ),
        ("a name of a file", file(255), file(256), "bad_path"),
    ] {
        let message = say(&mut wire, &within).await;
        let fine = message["type"] != "error" || message["code"] == "not_found";
        assert!(fine, "{name}: {message}");
        let message = say(&mut wire, &over).await;
        assert_eq!(
            (&message["type"], &message["code"]),
            (&json!("error"), &json!(code)),
            "{name}"
        );
        assert!(message["error"].as_str().unwrap().len() < 600, "{name}");
    }
    let message = say(&mut wire, &padded(30)).await;
    assert_eq!(message["type"], "pong");
    // So large that it is not even read.
    let head = super::wire::head(END | TEXT, 2 * MOST as u64 + 1, true);
    let mask = [0; 4];
    wire.send(&[head, mask.to_vec()].concat(), usize::MAX).await;
    loop {
        match wire.receive().await {
            Received::Close(Some((code, reason))) => {
                assert_eq!((code, reason.is_empty()), (1009, false));
                break;
            }
            Received::Text(_) | Received::Ping => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(wire.receive().await, Received::End);
}
