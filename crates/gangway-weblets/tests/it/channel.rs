//! The channel between an app and its agent.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::server::TestServer;
use gangway_testing::eventually;
use gangway_testing::weblets_client::{WebletSocket, app_host, launch, opened, show, token};

#[tokio::test]
async fn an_event_is_acknowledged_once_the_agent_took_it_fr_emit_001_fr_emit_004_ac_004() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut agent = WebletSocket::agent(&server, &launched).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "note-added", json!({ "text": "milk" }))
        .await;
    let received = agent.receive().await;
    assert_eq!(received["type"], "weblet-event");
    assert_eq!(received["event"], "note-added");
    assert_eq!(received["payload"], json!({ "text": "milk" }));
    assert_eq!(received["weblet"], "notes");
    assert!(page.is_silent().await, "it was not taken yet");
    agent
        .send_message(json!({ "type": "weblet-ack", "id": "e1" }))
        .await;
    assert_eq!(
        page.receive().await,
        json!({ "type": "weblet-ack", "id": "e1" })
    );
}

#[tokio::test]
async fn a_built_in_agent_has_an_event_as_soon_as_it_is_stored() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "note-added", json!(1)).await;
    assert_eq!(page.receive().await["type"], "weblet-ack");
}

#[tokio::test]
async fn events_of_one_page_come_in_the_order_they_were_sent() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut agent = WebletSocket::agent(&server, &launched).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    for n in 0..100 {
        page.emit(&format!("e{n}"), "note-added", json!(n)).await;
    }
    for n in 0..100 {
        let received = agent.receive().await;
        assert_eq!(received["payload"], n);
        agent
            .send_message(json!({ "type": "weblet-ack", "id": received["id"] }))
            .await;
    }
    let mut acknowledged = Vec::new();
    for _ in 0..100 {
        let received = page.receive().await;
        assert_eq!(received["type"], "weblet-ack");
        acknowledged.push(received["id"].as_str().unwrap().to_owned());
    }
    acknowledged.sort();
    acknowledged.dedup();
    assert_eq!(acknowledged.len(), 100);
}

#[tokio::test]
async fn an_event_that_is_sent_again_reaches_the_agent_once_also_across_a_restart() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "note-added", json!(1)).await;
    page.emit("e1", "note-added", json!(1)).await;
    // Both were obeyed before the answer to this.
    page.send_message(json!({ "type": "ping" })).await;
    assert_eq!(page.receive().await["type"], "pong");
    let mut agent = WebletSocket::agent(&server, &launched).await;
    assert_eq!(agent.receive().await["id"], "e1");
    assert!(agent.is_silent().await);
    drop((page, agent));
    let server = server.restart().await;
    // Between the event and its acknowledgment the server was gone; the page sends it again.
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "note-added", json!(1)).await;
    let mut agent = WebletSocket::agent(&server, &launched).await;
    assert_eq!(agent.receive().await["id"], "e1");
    agent
        .send_message(json!({ "type": "weblet-ack", "id": "e1" }))
        .await;
    assert_eq!(
        page.receive().await,
        json!({ "type": "weblet-ack", "id": "e1" })
    );
    assert!(agent.is_silent().await);
    // Once taken, it is acknowledged immediately however often it is repeated, and not delivered again.
    let server = server.restart().await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "note-added", json!(1)).await;
    assert_eq!(page.receive().await["type"], "weblet-ack");
    let mut agent = WebletSocket::agent(&server, &launched).await;
    assert!(agent.is_silent().await);
}

#[tokio::test]
async fn a_request_is_answered_denied_or_unknown_as_the_agent_says_fr_req_001_fr_req_003() {
    let server = TestServer::start().await;
    let launched = opened(
        &server,
        json!({ "name": "claude", "capabilities": ["send-email"] }),
    )
    .await;
    let mut agent = WebletSocket::agent(&server, &launched).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.request("r1", "send-email", json!({ "to": "a@b.com" }))
        .await;
    let received = agent.receive().await;
    assert_eq!(received["action"], "send-email");
    assert_eq!(received["params"], json!({ "to": "a@b.com" }));
    let answer = json!({ "type": "weblet-response", "requestId": "r1", "success": true, "result": { "sent": true } });
    agent.send_message(answer.clone()).await;
    assert_eq!(page.receive().await, answer);
    for (id, error) in [
        (
            "r2",
            json!({ "code": "E-AGT-004", "message": "Agent denied request: send-email" }),
        ),
        ("r3", json!({ "code": "E-AGT-006", "message": "no" })),
    ] {
        page.request(id, "send-email", json!({})).await;
        assert_eq!(agent.receive().await["requestId"], id);
        agent.send_message(json!({ "type": "weblet-response", "requestId": id, "success": false, "error": error })).await;
        let received = page.receive().await;
        assert_eq!(
            received,
            json!({ "type": "weblet-response", "requestId": id, "success": false, "error": error })
        );
    }
}

#[tokio::test]
async fn an_unknown_action_is_refused_by_a_built_in_agent() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.request("r1", "fly", json!({})).await;
    let received = page.receive().await;
    assert_eq!(received["error"]["code"], "E-AGT-006");
    assert_eq!(
        received["error"]["message"],
        "Agent does not support action: fly"
    );
}

#[tokio::test]
async fn what_the_agent_says_reaches_every_page_and_is_caught_up_with_after_a_gap() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut one = WebletSocket::page(&server, &launched, "").await;
    let mut two = WebletSocket::page(&server, &launched, "").await;
    let path = format!(
        "/api/launches/{}/events",
        launched["launchId"].as_str().unwrap()
    );
    let request = json!({ "event": "theme-changed", "payload": { "theme": "dark" } });
    let (status, message) = server.call(Method::POST, &path, Some(request)).await;
    assert_eq!(status, StatusCode::OK, "{message}");
    for page in [&mut one, &mut two] {
        let received = page.receive().await;
        assert_eq!(received["event"], "theme-changed");
        assert_eq!(received["payload"], json!({ "theme": "dark" }));
        assert_eq!(received["seq"], message["seq"]);
    }
    drop(one);
    let mut agent = WebletSocket::agent(&server, &launched).await;
    agent
        .send_message(json!({ "type": "agent-event", "event": "missed", "payload": 1, "id": "m" }))
        .await;
    let sent = agent.receive().await;
    assert_eq!((&sent["type"], &sent["id"]), (&json!("sent"), &json!("m")));
    assert_eq!(two.receive().await["event"], "missed");
    let since = format!("&since={}", message["seq"]);
    let mut one = WebletSocket::page(&server, &launched, &since).await;
    assert_eq!(one.receive().await["event"], "missed");
    // An unavailable number causes a resync after the welcome.
    let mut far = WebletSocket::page(&server, &launched, "&since=99999").await;
    assert_eq!(far.receive().await["type"], "resync");
}

#[tokio::test]
async fn messages_that_make_no_sense_are_answered_and_the_channel_lives_on() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    for bad in [
        json!("text"),
        json!({}),
        json!({ "type": "agent-event", "event": "a" }),
        json!({ "type": "weblet-event", "event": "a" }),
        json!({ "type": "weblet-event", "id": "", "event": "a" }),
        json!({ "type": "weblet-event", "id": "x".repeat(200), "event": "a" }),
        json!({ "type": "weblet-request", "requestId": "r" }),
    ] {
        page.send_message(bad.clone()).await;
        assert_eq!(page.receive().await["type"], "error", "{bad}");
    }
    page.emit("e1", "Bad Name!", json!(1)).await;
    let received = page.receive().await;
    assert_eq!(
        (&received["type"], &received["error"]["code"]),
        (&json!("weblet-nack"), &json!("E-AGT-001"))
    );
    let mut agent = WebletSocket::agent(&server, &launched).await;
    for bad in [
        json!({ "type": "weblet-ack", "id": "nothing" }),
        json!({ "type": "weblet-response", "requestId": "nothing", "success": true }),
        json!({ "type": "agent-event", "event": "Not A Name" }),
        json!({ "type": "weblet-event", "id": "e", "event": "forged" }),
    ] {
        agent.send_message(bad.clone()).await;
        assert_eq!(agent.receive().await["type"], "error", "{bad}");
    }
    page.send_message(json!({ "type": "ping" })).await;
    assert_eq!(page.receive().await["type"], "pong");
}

#[tokio::test]
async fn only_pages_of_the_app_itself_with_its_secret_reach_the_channel() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let (host, port) = (app_host(&server), server.address.port());
    let proof = launched["proof"].as_str().unwrap();
    let path = format!("/__gangway/ws?launch={}&proof={proof}", token(&launched));
    for origin in [
        None,
        Some("null".to_owned()),
        Some("http://evil.example".to_owned()),
        Some(format!("http://localhost:{port}")),
        Some(format!("http://other.localhost:{port}")),
    ] {
        let refused = WebletSocket::open(&server, &host, &path, origin.as_deref()).await;
        assert_eq!(refused.err(), Some(403), "{origin:?}");
    }
    let own = format!("http://{host}");
    let (id, _) = token(&launched)
        .split_once('.')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    // An address that no browser opened has no page, and so no channel.
    let fresh = launch(&server, json!("claude")).await;
    for wrong in [
        // The address alone is not enough: another may have seen it.
        token(&launched),
        format!("{}&proof=", token(&launched)),
        format!("{}&proof=00", token(&launched)),
        format!("{id}.{}", "0".repeat(64)),
        token(&fresh),
    ] {
        let path = format!("/__gangway/ws?launch={wrong}");
        let mut line = WebletSocket::open(&server, &host, &path, Some(&own))
            .await
            .unwrap();
        let closed = line.closed().await;
        assert_eq!(closed, (4404, "deleted".to_owned()), "{wrong}");
    }
    // On the main host there is no such thing, and on the app's host there is no agent's side.
    let path = format!("/ws/launches/{}", launched["launchId"].as_str().unwrap());
    assert_eq!(
        WebletSocket::open(&server, &host, &path, Some(&own))
            .await
            .err(),
        Some(401)
    );
}

#[tokio::test]
async fn pages_of_others_reach_a_launch_only_where_their_origin_is_allowed() {
    let server = TestServer::with(|config| {
        config.allowed_origins = vec!["https://shop.example".into()];
    })
    .await;
    let launched = opened(&server, json!("claude")).await;
    let host = server.address.to_string();
    let path = format!(
        "/ws/launch-pages/{}",
        launched["launchId"].as_str().unwrap()
    );
    let foreign = WebletSocket::open(&server, &host, &path, Some("https://evil.example")).await;
    assert_eq!(foreign.err(), Some(403));
    let mut page = WebletSocket::open(&server, &host, &path, Some("https://shop.example"))
        .await
        .unwrap();
    assert_eq!(page.receive().await["type"], "welcome");
    let mut agent = WebletSocket::agent(&server, &launched).await;
    page.emit("e1", "note-added", json!(1)).await;
    assert_eq!(agent.receive().await["id"], "e1");
}

#[tokio::test]
async fn what_is_nested_too_deeply_is_refused_and_the_log_stays_readable() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    let deep = |depth: usize| (0..depth).fold(json!(1), |inside, _| json!([inside]));
    page.emit("e1", "note-added", deep(65)).await;
    assert_eq!(page.receive().await["error"]["code"], "E-AGT-002");
    page.request("r1", "notify", deep(100)).await;
    assert_eq!(page.receive().await["error"]["code"], "E-AGT-002");
    page.emit("e2", "note-added", deep(64)).await;
    assert_eq!(page.receive().await["type"], "weblet-ack");
    let id = launched["launchId"].as_str().unwrap();
    let body = json!({ "event": "deep", "payload": deep(80) });
    let path = format!("/api/launches/{id}/events");
    let (status, error) = server.call(Method::POST, &path, Some(body)).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (400, &json!("too_deep"))
    );
    let body = json!({ "data": { "notes": deep(90) } });
    let (status, _) = server
        .call(Method::POST, "/api/apps/notes/launch", Some(body))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let history = server.history(launched["sessionId"].as_str().unwrap());
    assert!(!history.await.is_empty());
}

#[tokio::test]
async fn an_agent_that_takes_no_turns_here_has_nothing_until_it_takes_it() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("other")).await;
    let session = launched["sessionId"].clone();
    let request = json!({ "agent": "demo", "session": session, "data": { "notes": [] } });
    let (_, mut other) = server
        .call(Method::POST, "/api/apps/notes/launch", Some(request))
        .await;
    show(&server, &mut other).await;
    let mut page = WebletSocket::page(&server, &other, "").await;
    page.emit("e1", "note-added", json!(1)).await;
    assert!(page.is_silent().await, "the session's agent is another one");
    let mut agent = WebletSocket::agent(&server, &other).await;
    assert_eq!(agent.receive().await["id"], "e1");
}

#[tokio::test]
async fn an_agent_that_takes_what_waits_makes_room_for_more() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut agent = WebletSocket::agent(&server, &launched).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    for n in 0..1100 {
        let id = format!("e{n}");
        page.emit(&id, "note-added", json!(n)).await;
        assert_eq!(agent.receive().await["id"], id);
        agent
            .send_message(json!({ "type": "weblet-ack", "id": id }))
            .await;
        assert_eq!(page.receive().await["type"], "weblet-ack", "{n}");
    }
}

#[tokio::test]
async fn what_timed_out_in_the_page_is_not_handed_to_an_agent_that_comes_later() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "note-added", json!("late")).await;
    page.request("r1", "send-email", json!({ "to": "a@b.c" }))
        .await;
    let id = launched["launchId"].as_str().unwrap().parse().unwrap();
    let launch = server.hub().launch(id).await.unwrap();
    let waiting = async |many: usize| {
        let launches = &server.service.weblets.launches;
        let inbox = launches.inbox(&launch);
        let (items, _) = inbox.waiting(launches, &launch).await.unwrap();
        (items.len() == many).then_some(())
    };
    eventually(async || waiting(2).await).await;
    for id in ["e1", "r1"] {
        page.send_message(json!({ "type": "weblet-cancel", "id": id }))
            .await;
    }
    eventually(async || waiting(0).await).await;
    let mut agent = WebletSocket::agent(&server, &launched).await;
    page.emit("e2", "note-added", json!("now")).await;
    assert_eq!(agent.receive().await["id"], "e2");
}
