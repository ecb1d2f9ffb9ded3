//! Invalid messages, and how they are handled.

use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::server::TestServer;
use gangway_testing::relay_client::{Client, call, code};

#[tokio::test]
async fn five_megabytes_are_refused_in_words_and_the_connection_lives_on() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    let mut large = call("next");
    large["params"] = json!({ "text": "x".repeat(5 << 20) });
    agent.send_message("tool.call", large).await;
    assert_eq!(code(&agent.receive().await), "INVALID_MESSAGE");
    agent.send_message("tool.call", call("next")).await;
    assert_eq!(host.receive().await["type"], "tool.call");
    agent.send_raw(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(code(&agent.receive().await), "INVALID_MESSAGE");
}

#[tokio::test]
async fn an_agent_that_floods_fills_its_own_share_and_leaves_the_others_theirs() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut flood = Client::agent(&server, "s").await;
    let mut calm = Client::agent(&server, "s").await;
    for _ in 0..200 {
        flood.send_message("tool.call", call("next")).await;
    }
    for _ in 0..136 {
        assert_eq!(code(&flood.receive().await), "TOOL_EXECUTION_FAILED");
    }
    let mut asked = Vec::new();
    for _ in 0..64 {
        asked.push(host.receive().await);
    }
    calm.send_message("tool.call", call("prev")).await;
    let received = host.receive().await;
    assert_eq!(received["payload"]["toolName"], "prev");
    host.reply(&received, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(calm.receive().await["payload"]["ok"], true);
    for asked in &asked {
        host.reply(asked, "tool.result", json!({ "ok": true }))
            .await;
    }
    for _ in 0..64 {
        assert_eq!(flood.receive().await["type"], "tool.result");
    }
    flood.send_message("tool.call", call("next")).await;
    assert_eq!(
        host.receive().await["type"],
        "tool.call",
        "its share is free again"
    );
}

#[tokio::test]
async fn an_agent_that_talks_much_can_still_act() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut agent = Client::agent(&server, "s").await;
    for n in 0..100 {
        agent
            .send_message("agent.message", json!({ "text": n }))
            .await;
    }
    agent.send_message("tool.call", call("next")).await;
    let asked = host.receive_type("tool.call").await;
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(agent.receive().await["type"], "tool.result");
}

#[tokio::test]
async fn the_number_of_agents_in_a_session_is_limited() {
    let server = TestServer::start().await;
    let mut all = Vec::new();
    for _ in 0..64 {
        all.push(Client::agent(&server, "s").await);
    }
    let mut late = Client::connect(&server).await;
    let join = json!({ "role": "agent", "sessionId": "s" });
    assert_eq!(
        code(&late.ask("relay.join", join.clone()).await),
        "SESSION_NOT_ACTIVE"
    );
    all.pop().unwrap().leave().await;
    assert_eq!(late.ask("relay.join", join).await["type"], "relay.joined");
}

#[tokio::test]
async fn sessions_without_members_make_room_for_others() {
    let server = TestServer::start().await;
    for n in 0..300 {
        Client::agent(&server, &format!("s{n}")).await.leave().await;
    }
    let mut stored = Vec::new();
    for n in 0..256 {
        stored.push(Client::agent(&server, &format!("t{n}")).await);
    }
    let mut late = Client::connect(&server).await;
    let join = json!({ "role": "agent", "sessionId": "late" });
    assert_eq!(
        code(&late.ask("relay.join", join).await),
        "SESSION_NOT_ACTIVE"
    );
}

/// Messages with a part that is not as it should be, the same at every run.
fn odd(chance: &mut StdRng) -> String {
    let kinds = [
        "relay.join",
        "tool.call",
        "snapshot.get",
        "session.start",
        "session.end",
        "agent.message",
        "state.updated",
        "tool.result",
        "error",
        "x",
    ];
    let values = [
        json!(null),
        json!({}),
        json!([]),
        json!(-1),
        json!("x"),
        json!("../../x"),
        json!(1e300),
        json!({ "role": "agent", "sessionId": "s" }),
        json!({ "role": "host", "sessionId": "s", "since": 3 }),
        call("x"),
        json!("\u{0}\u{202e}"),
    ];
    let mut pick = |of: usize| chance.random_range(0..of);
    let mut message = json!({ "v": "mvp-0.2", "type": kinds[pick(kinds.len())], "payload": values[pick(values.len())] });
    for field in ["id", "replyTo", "v", "type", "seq", "payload"] {
        if pick(6) == 0 {
            message[field] = values[pick(values.len())].clone();
        }
    }
    let mut text = message.to_string();
    if pick(4) == 0 {
        let at = pick(text.len());
        if text.is_char_boundary(at) {
            text.truncate(at);
        }
    }
    text
}

#[tokio::test]
async fn whatever_is_thrown_at_it_the_relay_answers_and_others_do_not_notice() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "calm").await;
    let mut agent = Client::agent(&server, "calm").await;
    for seed in 0..40 {
        let mut chance = StdRng::seed_from_u64(seed);
        let mut thrower = Client::connect(&server).await;
        for _ in 0..50 {
            let text = odd(&mut chance);
            thrower.send_text(&text).await;
        }
        let mut junk = vec![0; 300];
        chance.fill_bytes(&mut junk);
        thrower.send_raw(Message::binary(junk)).await;
        // Everything before it has been taken in when this is answered.
        thrower
            .send(&json!({ "v": "x", "type": "end", "id": "end", "payload": {} }))
            .await;
        while let Some(received) = thrower.next().await {
            if received["replyTo"] == "end" {
                break;
            }
        }
        agent.send_message("snapshot.get", json!({})).await;
        let asked = host.receive().await;
        host.reply(&asked, "snapshot.state", json!({ "seed": seed }))
            .await;
        assert_eq!(agent.receive().await["payload"]["seed"], seed);
    }
}
