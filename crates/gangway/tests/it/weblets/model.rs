//! What the model of an agent in the house reads of an app.

use reqwest::Method;
use serde_json::{Value, json};

use super::with_model;
use crate::{providers::fake::Fake, support::eventually};
use gangway_testing::weblets_client::{WebletSocket, opened};

/// The lines that the model got in its last turn.
fn told(model: &Fake) -> Vec<String> {
    let asked = model.asked();
    let with_messages = asked
        .iter()
        .rev()
        .find(|asked| asked["messages"].is_array());
    let messages = with_messages.unwrap()["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.iter().map(text).collect()
}

#[tokio::test]
async fn an_event_is_delivered_once_also_when_consent_is_given_late() {
    let (server, model) = with_model().await;
    let launched = opened(&server, json!("builtin")).await;
    let session = launched["sessionId"].as_str().unwrap();
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.emit("e1", "help-wanted", json!({ "with": "taxes" }))
        .await;
    assert_eq!(page.receive().await["type"], "weblet-ack");
    let wanted = |model: &Fake| {
        let lines = told(model).into_iter();
        lines
            .filter(|line| line.contains("taxes"))
            .collect::<Vec<_>>()
    };
    // As long as it is not decided, the next turn reads of it.
    server.ask(session, "What is new?").await;
    let read = "[app:notes] event help-wanted {\"with\":\"taxes\"}";
    assert_eq!(wanted(&model), [read]);
    let path = format!("/api/sessions/{session}/applets");
    eventually(async || {
        let (_, speakers) = server.get(&path).await;
        speakers["applets"][0]["asking"].is_object().then_some(())
    })
    .await;
    let turns = model.asked().len();
    let request = Some(json!({ "speak": "allow" }));
    let path = format!("{path}/notes");
    let (status, _) = server.call(Method::PUT, &path, request).await;
    assert!(status.is_success());
    eventually(async || (model.asked().len() > turns).then_some(())).await;
    let message = "[applet:notes] event help-wanted {\"with\":\"taxes\"}";
    assert_eq!(wanted(&model), [message], "what was read is not read again");
    server.ask(session, "And now?").await;
    assert_eq!(wanted(&model), [message]);
}

#[tokio::test]
async fn of_many_events_the_newest_are_read_and_the_others_counted() {
    let (server, model) = with_model().await;
    let launched = opened(&server, json!("builtin")).await;
    let session = launched["sessionId"].as_str().unwrap();
    let mut page = WebletSocket::page(&server, &launched, "").await;
    let told = async |from: usize, to: usize, page: &mut WebletSocket| {
        for n in from..to {
            page.emit(&format!("e{n}"), "note-added", json!(n)).await;
            assert_eq!(page.receive().await["type"], "weblet-ack");
        }
        server.ask(session, "What is new?").await;
        let lines = told(&model).into_iter();
        lines
            .filter(|line| line.starts_with("[app:notes]"))
            .collect::<Vec<_>>()
    };
    let event = |n: usize| format!("[app:notes] event note-added {n}");
    let first = told(0, 20, &mut page).await;
    assert_eq!(first, (0..20).map(event).collect::<Vec<_>>());
    let one = told(20, 21, &mut page).await;
    assert_eq!(one[0], "[app:notes] one earlier event was left out");
    assert_eq!(one[1..], (1..21).map(event).collect::<Vec<_>>());
    let more = told(21, 50, &mut page).await;
    assert_eq!(more[0], "[app:notes] 30 earlier events were left out");
    assert_eq!(more[1..], (30..50).map(event).collect::<Vec<_>>());
}
