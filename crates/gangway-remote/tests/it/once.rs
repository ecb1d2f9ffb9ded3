//! A request with a name makes one agent, however often it is sent.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{RemoteClient, TestAgent, Yard, answered, create_request, tmux_sessions};

fn named(desk: &RemoteClient, name: &str, prompt: &str) -> RequestBuilder {
    let request = desk
        .request(Method::POST, "/create")
        .json(&create_request(prompt));
    request.header("idempotency-key", name)
}

#[tokio::test]
async fn a_request_that_is_sent_again_gets_the_same_agent() {
    let remote = Yard::open().await;
    let (status, first) = answered(named(&remote, "one", "Hi.")).await;
    assert_eq!(status, 201, "{first}");
    assert_eq!(
        answered(named(&remote, "one", "Hi.")).await,
        (201, first.clone())
    );
    let (status, error) = answered(named(&remote, "one", "Bye.")).await;
    assert_eq!(
        (status, &error["error_code"], &error["retryable"]),
        (409, &json!("idempotency_key_reused"), &json!(false))
    );
    let (status, other) = answered(named(&remote, "two", "Hi.")).await;
    assert_eq!(status, 201);
    assert_ne!(other["agent_id"], first["agent_id"]);
    assert_eq!(tmux_sessions(remote.data()).len(), 2);
}

#[tokio::test]
async fn duplicates_at_the_same_time_make_one_agent() {
    let remote = Yard::open().await;
    let asked = (0..8).map(|_| answered(named(&remote, "one", "Hi.")));
    let answers = futures_util::future::join_all(asked).await;
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:#?}"
    );
    assert_eq!(answers[0].0, 201);
    assert_eq!(tmux_sessions(remote.data()).len(), 1);
}

#[tokio::test]
async fn after_a_restart_it_is_still_the_same_agent_with_a_new_token() {
    let remote = Yard::open().await;
    let (_, first) = answered(named(&remote, "one", "Hi.")).await;
    let remote = remote.restart().await;
    let (status, again) = answered(named(&remote, "one", "Hi.")).await;
    assert_eq!(status, 201, "{again}");
    let same = ["agent_id", "session_id", "tmux_session_name", "status"];
    assert!(
        same.iter().all(|name| again[name] == first[name]),
        "{first} {again}"
    );
    let (old, new) = (TestAgent::of(&first), TestAgent::of(&again));
    assert_ne!(old.token, new.token);
    assert_eq!(remote.alive(&new).await["alive"], true);
    assert_eq!(remote.get(&old, "alive").await.0, 401);
    let (status, _) = answered(named(&remote, "one", "Bye.")).await;
    assert_eq!(status, 409);
}

/// The first one that asked may be gone; the second waits all the same for what comes of it.
#[tokio::test]
async fn a_second_request_waits_until_the_agent_is_ready_or_is_not() {
    let soon = |config: &mut crate::server::Config| {
        config.remote_agents.creation_timeout_seconds = 1;
    };
    let remote = Yard::with_program("sleep 60", soon).await;
    let before = remote.stock();
    let first = named(&remote, "one", "Hi.").send();
    let hung_up = tokio::time::timeout(Duration::from_millis(300), first).await;
    assert!(hung_up.is_err());
    let (status, error): (u16, Value) = answered(named(&remote, "one", "Hi.")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (408, &json!("agent_creation_timeout"))
    );
    remote.back_to(&before).await;
}

#[tokio::test]
async fn a_repeated_create_request_returns_the_same_agent() {
    let remote = Yard::open().await;
    let first = named(&remote, "one", "Hi.").send();
    let _ = tokio::time::timeout(Duration::from_millis(30), first).await;
    let (status, made) = answered(named(&remote, "one", "Hi.")).await;
    assert_eq!(status, 201, "{made}");
    let made = TestAgent::of(&made);
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.model.asked().len(), 1);
    assert_eq!(tmux_sessions(remote.data()), [made.tmux]);
}

#[tokio::test]
async fn names_that_are_no_names_are_refused() {
    let remote = Yard::open().await;
    for bad in ["", " ", &"x".repeat(201)] {
        let (status, error) = answered(named(&remote, bad, "Hi.")).await;
        assert_eq!(
            (status, &error["error_code"]),
            (400, &json!("invalid_request"))
        );
    }
}
