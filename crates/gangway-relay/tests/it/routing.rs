//! Routing: responses go to the requester, pushes to all, and everything else is rejected with an error.

use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::relay_client::{Client, call, code, nothing_before_an_error};

#[tokio::test]
async fn every_question_is_answered_to_its_asker_alone_under_its_own_name() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut one = Client::agent(&server, "s").await;
    let mut two = Client::agent(&server, "s").await;
    // Both call their question q1.
    one.send_message("tool.call", call("select")).await;
    let first = host.receive().await;
    two.send_message("snapshot.get", json!({})).await;
    let second = host.receive().await;
    assert_eq!(first["type"], "tool.call");
    assert_eq!(first["v"], "mvp-0.2");
    assert_eq!(first["payload"], call("select"));
    assert_ne!(first["id"], second["id"]);
    host.reply(&second, "snapshot.state", json!({ "uiSpec": { "n": 2 } }))
        .await;
    host.reply(
        &first,
        "tool.result",
        json!({ "ok": true, "uiSpec": { "n": 1 } }),
    )
    .await;
    let received = two.receive().await;
    assert_eq!(
        (&received["type"], &received["replyTo"]),
        (&json!("snapshot.state"), &json!("q1"))
    );
    let received = one.receive().await;
    assert_eq!(
        (&received["type"], &received["replyTo"]),
        (&json!("tool.result"), &json!("q1"))
    );
    assert_eq!(received["payload"]["uiSpec"]["n"], 1);
    nothing_before_an_error(&mut one).await;
    nothing_before_an_error(&mut two).await;
}

#[tokio::test]
async fn what_a_page_sends_unsolicited_reaches_every_agent_of_its_session_and_no_other() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agents = [
        Client::agent(&server, "s").await,
        Client::agent(&server, "s").await,
    ];
    let mut other = Client::agent(&server, "t").await;
    let mut last = 0;
    for (kind, payload) in [
        (
            "state.updated",
            json!({ "source": "user", "uiSpec": {}, "messageHistory": [] }),
        ),
        (
            "user.message",
            json!({ "text": "evening, please", "stage": "time" }),
        ),
    ] {
        host.push(kind, payload.clone()).await;
        for agent in &mut agents {
            let received = agent.receive().await;
            assert_eq!(
                (&received["type"], &received["payload"]),
                (&json!(kind), &payload)
            );
            assert!(received.get("replyTo").is_none());
        }
        let seq = agents[0].ask("tool.call", json!({})).await;
        assert_eq!(code(&seq), "INVALID_PARAMS");
    }
    for kind in ["state.updated", "state.updated"] {
        host.push(kind, json!({ "source": "stage" })).await;
        let seq = agents[1].receive().await["seq"].as_u64().unwrap();
        assert!(seq > last);
        last = seq;
    }
    nothing_before_an_error(&mut other).await;
}

#[tokio::test]
async fn errors_of_the_page_reach_the_asker_with_their_code() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    for wanted in [
        "UNKNOWN_TOOL",
        "INVALID_PARAMS",
        "NO_ACTIVE_SPEC",
        "TOOL_EXECUTION_FAILED",
    ] {
        let name = agent.send_message("tool.call", call("x")).await;
        let asked = host.receive().await;
        let payload = json!({ "code": wanted, "message": "it cannot be done like that" });
        host.reply(&asked, "error", payload).await;
        let received = agent.receive().await;
        assert_eq!(
            (code(&received), &received["replyTo"]),
            (wanted, &json!(name))
        );
    }
    agent
        .send_message("agent.message", json!({ "text": "hello" }))
        .await;
    let asked = host.receive().await;
    assert_eq!(asked["payload"]["text"], "hello");
    host.reply(
        &asked,
        "error",
        json!({ "code": "INVALID_MESSAGE", "message": "too long to show" }),
    )
    .await;
    assert_eq!(code(&agent.receive().await), "INVALID_MESSAGE");
}

#[tokio::test]
async fn what_is_no_message_for_this_role_is_invalid_and_the_connection_lives_on() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let good = json!({ "v": "mvp-0.2", "type": "snapshot.get", "id": "x", "payload": {} });
    let with = |field: &str, value: Value| {
        let mut message = good.clone();
        message[field] = value;
        message.to_string()
    };
    let bad = [
        "".to_owned(),
        "nonsense".into(),
        "[]".into(),
        "{}".into(),
        "null".into(),
        with("v", json!("mvp-0.1")),
        with("v", json!(2)),
        with("type", json!("tool.result")),
        with("type", json!("relay.hello")),
        with("type", json!("__proto__")),
        with("type", json!(null)),
        with("payload", json!([])),
        with("payload", json!("x")),
        with("id", json!(7)),
        with("id", json!("x".repeat(200))),
        "[".repeat(1_000_000),
    ];
    for text in bad {
        agent.send_text(&text).await;
        let received = agent.receive().await;
        assert_eq!(
            code(&received),
            "INVALID_MESSAGE",
            "{}",
            &text[..text.len().min(100)]
        );
    }
    agent
        .send(&json!({ "v": "mvp-0.2", "type": "tool.result", "id": "mine", "payload": {} }))
        .await;
    assert_eq!(agent.receive().await["replyTo"], "mine");
    for kind in [
        "tool.call",
        "snapshot.get",
        "session.start",
        "relay.presence",
    ] {
        host.push(kind, json!({})).await;
        assert_eq!(code(&host.receive().await), "INVALID_MESSAGE", "{kind}");
    }
    for kind in ["tool.result", "snapshot.state", "session.started", "error"] {
        host.push(kind, json!({})).await;
        assert_eq!(
            code(&host.receive().await),
            "INVALID_MESSAGE",
            "{kind} without replyTo"
        );
    }
    agent.send_message("snapshot.get", json!({})).await;
    assert_eq!(host.receive().await["type"], "snapshot.get");
}

#[tokio::test]
async fn calls_without_a_reason_or_a_tool_are_refused_before_they_reach_the_page() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    for bad in [
        json!({ "toolName": "next", "params": {} }),
        json!({ "toolName": "next", "params": {}, "reason": "  " }),
        json!({ "toolName": "next", "params": {}, "reason": 7 }),
        json!({ "params": {}, "reason": "why not" }),
        json!({ "toolName": "next", "params": [], "reason": "why not" }),
    ] {
        let received = agent.ask("tool.call", bad.clone()).await;
        assert_eq!(code(&received), "INVALID_PARAMS", "{bad}");
    }
    nothing_before_an_error(&mut host).await;
}

#[tokio::test]
async fn answers_to_nothing_or_given_twice_are_refused_and_not_forwarded() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut foreign = Client::host(&server, "t").await;
    let mut agent = Client::agent(&server, "s").await;
    agent.send_message("tool.call", call("next")).await;
    let asked = host.receive().await;
    // A page of another session knows the name of the question, and it is of no use to it.
    foreign
        .reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(code(&foreign.receive().await), "INVALID_MESSAGE");
    for (id, kind) in [("r0", "tool.result"), ("q1", "tool.result"), ("", "error")] {
        host.reply(&json!({ "id": id }), kind, json!({})).await;
        assert_eq!(code(&host.receive().await), "INVALID_MESSAGE", "{id}");
    }
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(agent.receive().await["payload"]["ok"], true);
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(code(&host.receive().await), "INVALID_MESSAGE");
    nothing_before_an_error(&mut agent).await;
}

#[tokio::test]
async fn a_page_that_never_answers_times_out() {
    let server = TestServer::with(|config| config.answer_seconds = 1).await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let received = agent.ask("tool.call", call("next")).await;
    assert_eq!(code(&received), "TOOL_EXECUTION_FAILED");
    let asked = host.receive().await;
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(
        code(&host.receive().await),
        "INVALID_MESSAGE",
        "too late is an answer to nothing"
    );
    nothing_before_an_error(&mut agent).await;
}

#[tokio::test]
async fn a_key_that_is_revoked_ends_its_connections() {
    let server = TestServer::start().await;
    let key = server.key("relay.agent").await;
    let bearer = format!("Bearer {}", key.key);
    let mut agent = Client::raw(&server, &[("authorization", &bearer)])
        .await
        .unwrap();
    assert_eq!(agent.receive().await["type"], "relay.hello");
    assert!(server.services.keys.revoke(&key.id).await.unwrap());
    assert_eq!(code(&agent.receive().await), "SESSION_NOT_ACTIVE");
    assert_eq!(agent.end().await, Some(4001));
}

#[tokio::test]
async fn an_answer_of_the_wrong_type_is_an_error_for_the_page_and_for_the_agent() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    agent.send_message("tool.call", call("select")).await;
    let asked = host.receive().await;
    // An update is no answer; the answer may follow.
    host.reply(&asked, "state.updated", json!({})).await;
    assert_eq!(code(&host.receive().await), "INVALID_MESSAGE");
    host.reply(&asked, "snapshot.state", json!({})).await;
    let message = host.receive().await;
    assert_eq!(code(&message), "INVALID_MESSAGE");
    let text = message["payload"]["message"].as_str().unwrap();
    assert!(
        text.contains("tool.call") && text.contains("snapshot.state"),
        "{text}"
    );
    let failed = agent.receive().await;
    assert_eq!(
        (code(&failed), &failed["replyTo"]),
        ("TOOL_EXECUTION_FAILED", &json!("q1"))
    );
    host.reply(&asked, "tool.result", json!({})).await;
    assert_eq!(code(&host.receive().await), "INVALID_MESSAGE");
}

#[tokio::test]
async fn a_status_is_shown_and_a_reset_is_answered_with_the_state_after_it() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    agent
        .send_message("agent.status", json!({ "status": "thinking" }))
        .await;
    let shown = host.receive().await;
    assert_eq!(shown["type"], "agent.status");
    assert_eq!(shown["payload"]["status"], "thinking");
    agent
        .send_message("session.reset", json!({ "reason": "a new try" }))
        .await;
    let asked = host.receive().await;
    assert_eq!(asked["type"], "session.reset");
    let state = json!({ "uiSpec": { "stage": "movie" } });
    host.reply(&asked, "snapshot.state", state.clone()).await;
    let answer = agent.receive().await;
    assert_eq!(
        (&answer["replyTo"], &answer["payload"]),
        (&json!("q2"), &state)
    );
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_with_its_id() {
    let server = TestServer::with(|config| config.message_bytes = 1000).await;
    let mut agent = Client::agent(&server, "s").await;
    let mut large = call("select");
    large["params"] = json!({ "text": "x".repeat(1000) });
    let refused = agent.ask("tool.call", large).await;
    assert_eq!(code(&refused), "INVALID_MESSAGE");
    let message = refused["payload"]["message"].as_str().unwrap();
    assert!(message.contains("at most 1000 bytes"), "{message}");
}
