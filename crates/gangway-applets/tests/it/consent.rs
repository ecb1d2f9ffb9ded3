//! Questions to the person, and what becomes of them when pages go, come back or change their mind.

use std::sync::Arc;

use gangway_core::{Event, Logged};
use gangway_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use super::client::Page;
use crate::server::TestServer;

const SCRIPT: &str = "
turns:
  - steps: [{ say: 'done: {{prompt}}' }]
";

/// An agent that answers when the test lets it.
const ASKING: &str = "turns: [{steps: [{ask: {question: 'on?'}}]}]";

async fn decide(server: &TestServer, session: &str, speak: &str) -> Value {
    let path = format!("/api/sessions/{session}/applets/calculator");
    let body = Some(json!({ "speak": speak }));
    let (status, list) = server.call(Method::PUT, &path, body).await;
    assert_eq!(status, 200, "{list}");
    list
}

/// What the person is asked now.
async fn asked(server: &TestServer, session: &str) -> Value {
    let path = format!("/api/sessions/{session}/applets");
    let (_, list) = server.get(&path).await;
    list["applets"][0]["asking"]["prompt"].clone()
}

fn invoke(prompt: &str) -> Value {
    json!({ "type": "invoke", "id": prompt, "prompt": prompt })
}

#[tokio::test]
async fn a_question_stays_when_its_page_is_loaded_again_and_what_is_allowed_takes_effect_once() {
    let server = TestServer::with(|config| config.script = Some(SCRIPT)).await;
    let session = server.session().await;
    let more = "&applet=calculator&client=tab";
    let mut page = Page::open(&server, &session, more).await;
    page.send_message(invoke("one")).await;
    page.until("consentAsked").await;
    drop(page);
    // The page comes back and asks the same; the person is not asked twice.
    let mut page = Page::open(&server, &session, more).await;
    page.send_message(invoke("one")).await;
    page.until("consentAsked").await;
    assert_eq!(asked(&server, &session).await, "one");
    let log = server.open(&session).await.tail(100).await.unwrap();
    let asks = |logged: &&Arc<Logged>| matches!(logged.event, Event::ConsentRequested { .. });
    assert_eq!(log.events.iter().filter(asks).count(), 1);
    let list = decide(&server, &session, "once").await;
    assert_eq!(list["applets"][0].get("asking"), None, "{list}");
    assert_eq!(page.until("invokeComplete").await["id"], "one");
    assert_eq!(server.prompts(&session).await.len(), 1);
    // Repeated after it was sent: same response, and no consent request.
    page.send_message(invoke("one")).await;
    assert_eq!(page.until("invokeComplete").await["id"], "one");
    assert_eq!(server.prompts(&session).await.len(), 1);

    // One that does not come back is not needed for its question to be answered.
    page.send_message(invoke("two")).await;
    page.until("consentAsked").await;
    drop(page);
    decide(&server, &session, "once").await;
    eventually(|| async { (server.prompts(&session).await.len() == 2).then_some(()) }).await;
    assert_eq!(asked(&server, &session).await, Value::Null);
}

#[tokio::test]
async fn two_messages_that_wait_are_asked_about_one_after_the_other() {
    let server = TestServer::with(|config| config.script = Some(SCRIPT)).await;
    let session = server.session().await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;
    let mut other = Page::open(&server, &session, "&applet=calculator").await;
    page.send_message(invoke("one")).await;
    page.until("consentAsked").await;
    other.send_message(invoke("two")).await;
    assert_eq!(asked(&server, &session).await, "one");
    decide(&server, &session, "once").await;
    assert_eq!(page.until("invokeComplete").await["id"], "one");
    // Once was for the first alone.
    other.until("consentAsked").await;
    assert_eq!(asked(&server, &session).await, "two");
    other.send_message(invoke("three")).await;
    decide(&server, &session, "allow").await;
    let mut done = [
        other.until("invokeComplete").await["id"].clone(),
        other.until("invokeComplete").await["id"].clone(),
    ];
    done.sort_by_key(Value::to_string);
    assert_eq!(done, ["three", "two"]);

    // A line is not endless.
    decide(&server, &session, "ask").await;
    for n in 0..9 {
        page.send_message(invoke(&format!("n{n}"))).await;
    }
    assert_eq!(page.until("error").await["code"], "too_many_questions");
    decide(&server, &session, "deny").await;
    for _ in 0..8 {
        assert_eq!(page.until("error").await["code"], "consent_denied");
    }
    assert_eq!(server.prompts(&session).await.len(), 3);
}

#[tokio::test]
async fn a_page_stops_what_it_asked_for_with_any_consent_and_nothing_else() {
    let server = TestServer::with(|config| config.script = Some(ASKING)).await;
    let session = server.session().await;
    let mut page = Page::open(&server, &session, "&applet=calculator&client=tab").await;
    let mut feed = server.feed(&session).await;
    let stop = |of: &str| json!({ "type": "stop", "invoke": of });

    // Without a decision: the request is withdrawn, and its displays are notified.
    page.send_message(invoke("asked")).await;
    page.until("consentAsked").await;
    assert_eq!(page.ask(stop("asked")).await["stopped"], true);
    assert_eq!(page.until("error").await["code"], "withdrawn");
    assert_eq!(feed.until("applet.leave").await["speak"], "ask");
    assert_eq!(asked(&server, &session).await, Value::Null);
    assert_eq!(page.ask(stop("asked")).await["stopped"], false);

    // While it is answered, with a leave that was for this message alone.
    page.send_message(invoke("running")).await;
    page.until("consentAsked").await;
    decide(&server, &session, "once").await;
    page.until("invokeStarted").await;
    page.until("streamReady").await;
    server.send_message(&session, "of the person").await;
    assert_eq!(page.ask(stop("running")).await["stopped"], true);
    let complete = page.until("invokeComplete").await;
    assert!(complete["error"].as_str().unwrap().contains("stopped"));
    // The user's queued message continues.
    page.until("streamReady").await;
    let refused = page.ask(json!({ "type": "stop" })).await;
    assert_eq!(refused["code"], "consent_denied");

    // What waits behind it is taken out of the queue; on another connection too.
    page.send_message(invoke("waiting")).await;
    page.until("consentAsked").await;
    decide(&server, &session, "once").await;
    page.until("invokeStarted").await;
    drop(page);
    let mut page = Page::open(&server, &session, "&applet=calculator&client=tab").await;
    assert_eq!(page.ask(stop("waiting")).await["stopped"], true);
    assert!(server.open(&session).await.is_running());

    // The same without a name: all of its own, and nothing else.
    page.send_message(invoke("again")).await;
    page.until("consentAsked").await;
    decide(&server, &session, "once").await;
    page.until("invokeStarted").await;
    assert_eq!(page.ask(json!({ "type": "stop" })).await["type"], "stopped");
    assert_eq!(page.until("invokeComplete").await["id"], "again");
    assert!(server.open(&session).await.is_running());
}

#[tokio::test]
async fn what_the_agent_was_saying_is_kept_when_a_message_behind_it_is_withdrawn() {
    let script = "turns: [{steps: [{delta: 'Aye ', times: 3}, {pause_ms: 600000}]}]";
    let server = TestServer::with(|config| config.script = Some(script)).await;
    let session = server.session().await;
    decide(&server, &session, "allow").await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;
    let mut feed = server.feed(&session).await;
    server.send_message(&session, "of the person").await;
    page.send_message(invoke("behind")).await;
    page.until("invokeStarted").await;
    for _ in 0..3 {
        feed.until("assistant.message_delta").await;
    }
    let stop = json!({ "type": "stop", "invoke": "behind" });
    assert_eq!(page.ask(stop).await["stopped"], true);
    drop((page, feed));
    let server = server.restart().await;
    let history = server.history(&session).await;
    let answers: Vec<_> = history
        .iter()
        .filter(|e| e["role"] == "assistant")
        .collect();
    assert_eq!(answers.len(), 1, "{history:?}");
    assert_eq!(
        (&answers[0]["content"], &answers[0]["partial"]),
        (&json!("Aye Aye Aye "), &json!(true))
    );
}
