//! A relay session that belongs to no chat is in the log of a session of its own.

use gangway_core::{Event, PageEntry, Profile, SessionId};
use gangway_testing::{
    eventually,
    relay_client::{Client, call},
};
use serde_json::{Value, json};

use crate::server::TestServer;

/// The sessions, oldest first.
async fn sessions(server: &TestServer) -> Vec<(SessionId, Profile)> {
    let listing = server.hub().list(None, 100).await.unwrap();
    let all = listing.sessions.into_iter().rev();
    all.map(|(id, profile, _)| (id, profile)).collect()
}

async fn entries(server: &TestServer, session: SessionId) -> Vec<PageEntry> {
    let page = server.hub().store().read(session, 0, 8 << 20).await;
    let events = page.unwrap().events.into_iter();
    let entries = events.filter_map(|logged| match &logged.event {
        Event::Page { page_event, .. } => Some(page_event.clone()),
        _ => None,
    });
    entries.collect()
}

/// In one word each.
fn words(entries: &[PageEntry]) -> Vec<&str> {
    let word = |entry| match entry {
        &PageEntry::Opened { .. } => "opened",
        PageEntry::Left => "left",
        PageEntry::Offered { .. } => "offered",
        PageEntry::Called { .. } => "called",
        PageEntry::Returned { .. } => "returned",
        PageEntry::Message { r#type, .. } => r#type.as_str(),
    };
    entries.iter().map(word).collect()
}

async fn answer_call(host: &mut Client) {
    let asked = host.receive_type("tool.call").await;
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
}

#[tokio::test]
async fn what_happens_in_a_relay_session_is_in_the_log_of_a_session_that_keeps_its_name() {
    let server = TestServer::start().await;
    let mut agent = Client::agent(&server, "shop").await;
    assert!(sessions(&server).await.is_empty(), "there was no page yet");
    let mut host = Client::host(&server, "shop").await;
    agent
        .send_message("session.start", json!({ "studyId": "pilot" }))
        .await;
    let asked = host.receive_type("session.start").await;
    host.reply(&asked, "session.started", json!({})).await;
    agent.receive_type("session.started").await;
    agent.send_message("tool.call", call("select")).await;
    answer_call(&mut host).await;
    agent.receive_type("tool.result").await;
    host.push(
        "state.updated",
        json!({ "source": "user", "uiSpec": { "n": 1 } }),
    )
    .await;
    agent.receive_type("state.updated").await;
    host.push("user.message", json!({ "text": "Thank you" }))
        .await;
    agent.receive_type("user.message").await;
    agent
        .send_message("agent.message", json!({ "text": "You are welcome" }))
        .await;
    host.receive_type("agent.message").await;
    agent.send_message("session.end", json!({})).await;
    let asked = host.receive_type("session.end").await;
    host.reply(&asked, "session.ended", json!({ "stateReset": true }))
        .await;
    agent.receive_type("session.ended").await;
    agent.leave().await;
    host.leave().await;
    let all = sessions(&server).await;
    let (log, profile) = all[0].clone();
    assert_eq!(
        (profile.title.as_deref(), profile.agent.as_str()),
        (Some("shop"), "relay")
    );
    let expected = [
        "opened",
        "session.started",
        "called",
        "returned",
        "state.updated",
        "user.message",
        "agent.message",
        "session.ended",
        "relay.left",
        "left",
    ];
    eventually(async || {
        let found = entries(&server, log).await;
        (words(&found) == expected).then_some(())
    })
    .await;
    // It goes on under the same name, after a restart too; another name has another one.
    let server = server.restart().await;
    let again = Client::host(&server, "shop").await;
    let other = Client::host(&server, "other").await;
    again.leave().await;
    other.leave().await;
    let titles: Vec<_> = sessions(&server)
        .await
        .into_iter()
        .map(|(_, profile)| profile.title.unwrap())
        .collect();
    assert_eq!(titles, ["shop", "other"]);
    eventually(async || {
        let found = entries(&server, log).await;
        (found.len() == expected.len() + 2).then_some(())
    })
    .await;
    // One that was deleted is replaced by the next.
    server.delete(&log.to_string()).await;
    let _again = Client::host(&server, "shop").await;
    let all = sessions(&server).await;
    assert!(all.iter().all(|(id, _)| *id != log));
    assert_eq!(all.len(), 2);
}

#[tokio::test]
async fn a_relay_session_of_a_chat_is_in_its_log_and_has_none_of_its_own() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    let join = json!({ "role": "host", "sessionId": "lamp", "gangwaySession": chat });
    let mut host = Client::joined(&server, join).await.0;
    let agent = Client::agent(&server, "lamp").await;
    host.push("state.updated", json!({ "source": "user", "uiSpec": {} }))
        .await;
    agent.leave().await;
    host.leave().await;
    let expected = [
        "opened",
        "relay.joined",
        "state.updated",
        "relay.left",
        "left",
    ];
    let id = chat.parse().unwrap();
    eventually(async || {
        let found = entries(&server, id).await;
        (words(&found) == expected).then_some(())
    })
    .await;
    assert_eq!(sessions(&server).await.len(), 1);
}

#[tokio::test]
async fn more_calls_and_updates_than_people_read_do_not_fill_the_log() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "busy").await;
    let mut agent = Client::agent(&server, "busy").await;
    for _ in 0..150 {
        agent.send_message("tool.call", call("select")).await;
        answer_call(&mut host).await;
        agent.receive_type("tool.result").await;
    }
    for n in 0..150 {
        let state = json!({ "source": "user", "uiSpec": { "n": n } });
        host.push("state.updated", state).await;
    }
    let mut last = Value::Null;
    while last != json!(149) {
        let update = agent.receive_type("state.updated").await;
        last = update["payload"]["uiSpec"]["n"].clone();
    }
    host.leave().await;
    let log = sessions(&server).await[0].0;
    let found = eventually(async || {
        let found = entries(&server, log).await;
        words(&found).contains(&"left").then_some(found)
    })
    .await;
    let count = |word: &str| words(&found).into_iter().filter(|one| *one == word).count();
    let called = count("called");
    assert!((50..150).contains(&called), "{called}");
    assert_eq!(count("returned"), called);
    let skipped: u64 = found
        .iter()
        .filter_map(|entry| match entry {
            PageEntry::Message {
                r#type, payload, ..
            } if r#type == "relay.skipped" => payload["calls"].as_u64(),
            _ => None,
        })
        .sum();
    assert_eq!(skipped + called as u64, 150);
    let updates: Vec<_> = found
        .iter()
        .filter_map(|entry| match entry {
            PageEntry::Message {
                r#type, payload, ..
            } if r#type == "state.updated" => payload["uiSpec"]["n"].as_u64(),
            _ => None,
        })
        .collect();
    assert!(updates.len() < 75, "{updates:?}");
    assert_eq!(updates.last(), Some(&149), "the last one is never lost");
}

#[tokio::test]
async fn messages_without_end_do_not_fill_the_log() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "busy").await;
    let mut agent = Client::agent(&server, "busy").await;
    for _ in 0..200 {
        agent
            .send_message("agent.message", json!({ "text": "again" }))
            .await;
        host.receive_type("agent.message").await;
        host.push("user.message", json!({ "text": "stop" })).await;
        agent.receive_type("user.message").await;
    }
    host.leave().await;
    let log = sessions(&server).await[0].0;
    let found = eventually(async || {
        let found = entries(&server, log).await;
        words(&found).contains(&"left").then_some(found)
    })
    .await;
    let (mut logged, mut skipped) = (0, 0);
    for entry in &found {
        if let PageEntry::Message {
            r#type, payload, ..
        } = entry
        {
            match r#type.as_str() {
                "agent.message" | "user.message" => logged += 1,
                "relay.skipped" => skipped += payload["messages"].as_u64().unwrap(),
                _ => {}
            }
        }
    }
    assert!((120..400).contains(&logged), "{logged}");
    assert_eq!(logged + skipped, 400);
}
