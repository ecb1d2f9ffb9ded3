//! Broken connections: nothing is lost or duplicated, and a gap is reported.

use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::relay_client::{Client, call, code, nothing_before_an_error};

fn agent(since: &Value) -> Value {
    json!({ "role": "agent", "sessionId": "s", "clientId": "me", "presence": false, "since": since })
}

#[tokio::test]
async fn an_agent_that_comes_back_gets_what_it_missed_its_own_answer_too() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let join = json!({ "role": "agent", "sessionId": "s", "clientId": "me", "presence": false });
    let (mut me, joined) = Client::joined(&server, join).await;
    let mut other = Client::agent(&server, "s").await;
    me.send_message("tool.call", call("next")).await;
    let asked = host.receive().await;
    me.drop_dead();
    for n in 0..5 {
        host.push("state.updated", json!({ "source": "user", "n": n }))
            .await;
    }
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    let foreign = other.send_message("tool.call", call("next")).await;
    let asked = host.receive().await;
    host.reply(
        &asked,
        "tool.result",
        json!({ "ok": true, "foreign": foreign }),
    )
    .await;
    other.receive_type("tool.result").await;
    let (mut back, again) = Client::joined(&server, agent(&joined["seq"])).await;
    assert!(again.get("resync").is_none(), "{again}");
    let mut seqs = Vec::new();
    for n in 0..5 {
        let received = back.receive().await;
        assert_eq!(received["payload"]["n"], n);
        seqs.push(received["seq"].as_u64().unwrap());
    }
    let received = back.receive().await;
    assert_eq!(
        (&received["type"], &received["replyTo"]),
        (&json!("tool.result"), &json!("q1"))
    );
    seqs.push(received["seq"].as_u64().unwrap());
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    host.push("state.updated", json!({ "n": 5 })).await;
    assert_eq!(
        back.receive().await["payload"]["n"],
        5,
        "and then what is new, and nothing twice"
    );
}

#[tokio::test]
async fn a_page_that_reconnects_gets_open_requests_again() {
    let server = TestServer::start().await;
    let join = json!({ "role": "host", "sessionId": "s" });
    let (host, joined) = Client::joined(&server, join).await;
    let mut agent = Client::agent(&server, "s").await;
    let mut gone = Client::host(&server, "s").await;
    drop(host);
    agent.send_message("tool.call", call("next")).await;
    let first = gone.receive().await;
    gone.drop_dead();
    let join = json!({ "role": "host", "sessionId": "s", "since": joined["seq"] });
    let (mut back, _) = Client::joined(&server, join).await;
    let again = back.receive().await;
    assert_eq!(again, first);
    back.reply(&again, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(agent.receive().await["payload"]["ok"], true);
}

#[tokio::test]
async fn a_gap_is_reported_whether_too_old_too_new_or_of_another_epoch() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let (mut first, joined) = Client::joined(&server, agent(&json!(null))).await;
    for n in 0..1100 {
        host.push("state.updated", json!({ "n": n })).await;
        first.receive().await;
    }
    let (_old, message) = Client::joined(&server, agent(&joined["seq"])).await;
    assert_eq!(message["resync"], true);
    let newest = &message["seq"];
    for foreign in [
        json!(newest.as_u64().unwrap() + 1),
        json!(0),
        json!(u64::MAX),
    ] {
        let (_, message) = Client::joined(&server, agent(&foreign)).await;
        assert_eq!(message["resync"], true, "{foreign}");
    }
    let (_, message) = Client::joined(&server, agent(newest)).await;
    assert!(message.get("resync").is_none());
    let newest = newest.clone();
    let server = server.restart().await;
    let mut host = Client::host(&server, "s").await;
    host.push("state.updated", json!({ "n": 0 })).await;
    let (_, message) = Client::joined(&server, agent(&newest)).await;
    assert_eq!(
        message["resync"], true,
        "numbers of a life before are never taken for those of this one"
    );
    assert!(message["seq"].as_u64() > newest.as_u64());
}

#[tokio::test]
async fn an_agent_that_takes_nothing_is_cut_off_and_delays_no_other() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let mut slow = Client::agent(&server, "s").await;
    let mut quick = Client::agent(&server, "s").await;
    let large = "x".repeat(200_000);
    // More than sockets and queues hold together.
    for n in 0..150 {
        host.push("state.updated", json!({ "n": n, "large": large }))
            .await;
        assert_eq!(quick.receive().await["payload"]["n"], n);
    }
    let mut received = 0;
    let last = loop {
        match slow.next().await {
            Some(message) if message["type"] == "error" => break code(&message).to_owned(),
            Some(_) => received += 1,
            None => break "ended".into(),
        }
    };
    assert!(received < 150, "{received} {last}");
}

#[tokio::test]
async fn a_page_that_comes_back_too_late_gets_no_abandoned_requests() {
    let server = TestServer::with(|config| config.answer_seconds = 1).await;
    let join = json!({ "role": "host", "sessionId": "s" });
    let (host, joined) = Client::joined(&server, join).await;
    let mut agent = Client::agent(&server, "s").await;
    agent
        .send_message("agent.message", json!({ "text": "I begin" }))
        .await;
    let refused = agent.ask("tool.call", call("next")).await;
    assert_eq!(code(&refused), "TOOL_EXECUTION_FAILED");
    host.drop_dead();
    let join = json!({ "role": "host", "sessionId": "s", "since": joined["seq"] });
    let (mut back, _) = Client::joined(&server, join).await;
    assert_eq!(
        back.receive().await["type"],
        "agent.message",
        "words are not lost"
    );
    nothing_before_an_error(&mut back).await;
}

#[tokio::test]
async fn an_answer_goes_where_its_asker_is_now_not_where_it_was() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "s").await;
    let join = json!({ "role": "agent", "sessionId": "s", "clientId": "me", "presence": false });
    let (mut old, joined) = Client::joined(&server, join).await;
    old.send_message("tool.call", call("next")).await;
    let asked = host.receive().await;
    // The old connection is dead, and the relay does not know it yet.
    let (mut back, _) = Client::joined(&server, agent(&joined["seq"])).await;
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    assert_eq!(back.receive().await["replyTo"], "q1");
    nothing_before_an_error(&mut old).await;
}

#[tokio::test]
async fn a_call_fails_at_once_when_the_page_is_reloaded_or_replaced() {
    let server = TestServer::start().await;
    let host = |client: &str| json!({ "role": "host", "sessionId": "s", "clientId": client });
    let (mut page, joined) = Client::joined(&server, host("page")).await;
    let mut agent = Client::agent(&server, "s").await;
    // A reload: the connection is gone, and the page joins again as if for the first time.
    agent.send_message("tool.call", call("next")).await;
    page.receive().await;
    page.drop_dead();
    let (mut page, _) = Client::joined(&server, host("reloaded")).await;
    let failed = agent.receive().await;
    assert_eq!(code(&failed), "TOOL_EXECUTION_FAILED");
    assert_eq!(failed["replyTo"], "q1");
    // Another page that saw the session before takes its place: it must not carry out what this one was asked.
    agent.send_message("snapshot.get", json!({})).await;
    let asked = page.receive().await;
    let mut other = host("other");
    other["since"] = joined["seq"].clone();
    let (mut other, _) = Client::joined(&server, other).await;
    assert_eq!(code(&agent.receive().await), "TOOL_EXECUTION_FAILED");
    agent.send_message("snapshot.get", json!({})).await;
    let next = other.receive().await;
    assert_ne!(next["id"], asked["id"]);
    other.reply(&next, "snapshot.state", json!({})).await;
    assert_eq!(agent.receive().await["replyTo"], "q3");
}
