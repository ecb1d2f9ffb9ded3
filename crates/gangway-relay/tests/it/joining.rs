//! The handshake: who gets in, and as what.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;

use crate::server::TestServer;
use gangway_testing::relay_client::{Client, call, code, nothing_before_an_error};

#[tokio::test]
async fn the_relay_greets_and_answers_a_join_with_what_is_there() {
    let server = TestServer::start().await;
    let join = json!({ "role": "agent", "sessionId": "default" });
    let (_agent, joined) = Client::joined(&server, join).await;
    assert_eq!(joined["role"], "agent");
    assert_eq!(joined["sessionId"], "default");
    assert_eq!(joined["host"], false);
    assert_eq!(joined["agents"], 1);
    assert_eq!(joined["studySession"], json!(null));
    let join = json!({ "role": "host", "sessionId": "default" });
    let (_host, joined) = Client::joined(&server, join).await;
    assert_eq!(
        (&joined["host"], &joined["agents"]),
        (&json!(true), &json!(1))
    );
    let (_other, joined) = Client::joined(&server, json!({ "role": "agent" })).await;
    assert_eq!(
        joined["sessionId"], "default",
        "it is the one that is meant without a name"
    );
}

#[tokio::test]
async fn before_a_join_every_other_message_is_rejected() {
    let server = TestServer::start().await;
    let mut agent = Client::connect(&server).await;
    for kind in [
        "snapshot.get",
        "tool.call",
        "session.start",
        "state.updated",
        "nonsense",
    ] {
        assert_eq!(
            code(&agent.ask(kind, json!({})).await),
            "SESSION_NOT_ACTIVE"
        );
    }
}

#[tokio::test]
async fn a_client_that_does_not_join_is_disconnected_and_one_that_did_may_be_idle() {
    let mut server = TestServer::start().await;
    let mut agent = Client::agent(&server, "s").await;
    let mut nobody = Client::connect(&server).await;
    server.pass(Duration::from_secs(61)).await;
    assert_eq!(code(&nobody.receive().await), "SESSION_NOT_ACTIVE");
    assert_eq!(nobody.end().await, Some(1008));
    nothing_before_an_error(&mut agent).await;
}

#[tokio::test]
async fn a_second_join_a_wrong_role_and_names_that_lead_elsewhere_are_invalid() {
    let server = TestServer::start().await;
    let mut agent = Client::agent(&server, "a").await;
    let again = json!({ "role": "agent", "sessionId": "b" });
    assert_eq!(
        code(&agent.ask("relay.join", again).await),
        "INVALID_MESSAGE"
    );
    let mut other = Client::connect(&server).await;
    for bad in [
        json!({ "role": "king", "sessionId": "a" }),
        json!({ "sessionId": "a" }),
        json!({ "role": "agent", "sessionId": "../../x" }),
        json!({ "role": "agent", "sessionId": "" }),
        json!({ "role": "agent", "sessionId": "a".repeat(65) }),
        json!({ "role": "agent", "sessionId": 7 }),
        json!({ "role": "agent", "sessionId": "a", "since": -1 }),
        json!({ "role": "agent", "sessionId": "a", "clientId": "" }),
        json!({ "role": "host", "sessionId": "a", "gangwaySession": "x" }),
    ] {
        assert_eq!(
            code(&other.ask("relay.join", bad.clone()).await),
            "INVALID_MESSAGE",
            "{bad}"
        );
    }
    let good = json!({ "role": "agent", "sessionId": "a" });
    assert_eq!(other.ask("relay.join", good).await["type"], "relay.joined");
}

#[tokio::test]
async fn a_newer_page_takes_the_place_of_the_old_one_which_is_notified_and_closed() {
    let server = TestServer::start().await;
    let mut old = Client::host(&server, "default").await;
    let mut new = Client::host(&server, "default").await;
    assert_eq!(code(&old.receive().await), "SESSION_NOT_ACTIVE");
    assert_eq!(old.end().await, Some(4409));
    let mut agent = Client::agent(&server, "default").await;
    agent.send_message("snapshot.get", json!({})).await;
    let asked = new.receive_type("snapshot.get").await;
    new.reply(&asked, "snapshot.state", json!({ "uiSpec": {} }))
        .await;
    assert_eq!(agent.receive_type("snapshot.state").await["replyTo"], "q1");
}

#[tokio::test]
async fn without_a_page_what_is_asked_is_refused_and_messages_too() {
    let server = TestServer::start().await;
    let mut agent = Client::agent(&server, "default").await;
    for (kind, payload) in [
        ("snapshot.get", json!({})),
        ("tool.call", call("select")),
        ("agent.message", json!({ "text": "hello" })),
        (
            "session.start",
            json!({ "studyId": "a", "participantId": "b" }),
        ),
        ("session.end", json!({ "reason": "x" })),
    ] {
        assert_eq!(
            code(&agent.ask(kind, payload).await),
            "SESSION_NOT_ACTIVE",
            "{kind}"
        );
    }
}

#[tokio::test]
async fn agents_learn_who_comes_and_goes_by_name_unless_they_opt_out() {
    let server = TestServer::start().await;
    let join = json!({ "role": "agent", "sessionId": "p", "clientId": "curious" });
    let (mut curious, _) = Client::joined(&server, join).await;
    let mut plain = Client::agent(&server, "p").await;
    let names = json!(["curious", "agent-2"]);
    let presence = |host: bool| json!({ "host": host, "agents": 2, "names": names });
    assert_eq!(curious.receive().await["payload"], presence(false));
    let host = Client::host(&server, "p").await;
    assert_eq!(curious.receive().await["payload"], presence(true));
    host.leave().await;
    let left = curious.receive().await;
    assert_eq!(left["type"], "relay.presence");
    assert_eq!(left["payload"], presence(false));
    nothing_before_an_error(&mut plain).await;
}

#[tokio::test]
async fn foreign_pages_hosts_and_missing_keys_are_rejected_before_any_message() {
    let server = TestServer::start().await;
    let own = format!("http://{}", server.address);
    assert!(Client::raw(&server, &[("origin", &own)]).await.is_ok());
    for bad in [
        "http://evil.example",
        "null",
        "http://movie-booking.localhost",
    ] {
        let refused = Client::raw(&server, &[("origin", bad)]).await.err();
        assert_eq!(refused, Some(StatusCode::FORBIDDEN), "{bad}");
    }
    let refused = Client::raw(&server, &[("host", "evil.example")])
        .await
        .err();
    assert_eq!(refused, Some(StatusCode::MISDIRECTED_REQUEST));
}

#[tokio::test]
async fn a_token_alone_admits_its_own_role_and_the_next_one_ends_its_connections() {
    let server = TestServer::start().await;
    let name = "study".parse().unwrap();
    let join = async |role: &str, token: Option<&str>| {
        let mut client = Client::stranger(&server).await;
        let mut request = json!({ "role": role, "sessionId": "study" });
        if let Some(token) = token {
            request["token"] = json!(token);
        }
        let answer = client.ask("relay.join", request).await;
        (client, answer)
    };
    let refused = async |role: &str, token: Option<&str>| {
        assert_eq!(code(&join(role, token).await.1), "SESSION_NOT_ACTIVE");
    };
    refused("agent", None).await;
    let tokens = server.service.relay.tokens.make(&name).await.unwrap();
    for wrong in ["", "x", &tokens.agent[1..], &tokens.host] {
        refused("agent", Some(wrong)).await;
    }
    // An agent cannot pass itself off as the page.
    refused("host", Some(&tokens.agent)).await;
    let (mut agent, joined) = join("agent", Some(&tokens.agent)).await;
    assert_eq!(joined["type"], "relay.joined");
    let (_host, joined) = join("host", Some(&tokens.host)).await;
    assert_eq!(joined["type"], "relay.joined");
    let next = server.service.relay.tokens.make(&name).await.unwrap();
    while agent.next().await.is_some() {}
    refused("agent", Some(&tokens.agent)).await;
    let stored = std::fs::read(server.data().join("gangway.db-wal")).unwrap();
    let needle = next.agent.as_bytes();
    assert!(!stored.windows(needle.len()).any(|window| window == needle));
    assert!(server.service.relay.tokens.remove(&name).await.unwrap());
    refused("agent", Some(&next.agent)).await;
}
