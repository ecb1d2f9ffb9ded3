//! Streams: cancelled, broken off, and large.

use gangway_testing::webagent_client::{Broker, SHOP, says};
use serde_json::{Value, json};

use super::bridged;
use crate::{providers::fake::Fake, support::TestServer};

async fn with_model(model: &Fake) -> TestServer {
    let base = model.start().await;
    TestServer::with_model(&base, None).await
}

fn question() -> Value {
    json!({ "body": { "model": "default", "messages": [{ "role": "user", "content": "Go" }] } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_cancelled_is_over_at_once_and_says_nothing_more() {
    let server = with_model(&Fake::streams(&[&says("One")]).then_silent()).await;
    let (mut pipe, _note) = bridged(&server);
    let id = pipe.begin("llm_chat", question());
    pipe.until(|message| message["n"] == 0);
    pipe.until(|message| message["event"]["choices"][0]["delta"]["content"] == "One");
    let cancel = pipe.begin("cancel", json!({ "target": id }));
    // First the end of the one, then that of the other.
    let end = pipe.until(|message| message["request_id"] == json!(id));
    assert_eq!(end["error"]["code"], "cancelled", "{end}");
    assert_eq!(pipe.answer(&cancel).unwrap(), json!({ "found": true }));
    let own = pipe.begin("cancel", json!({ "target": "r99" }));
    assert_eq!(pipe.answer(&own).unwrap(), json!({ "found": false }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_breaks_off_is_reported() {
    let broken = "data: {\"error\": {\"message\": \"out of coal\"}}\n\n";
    let server = with_model(&Fake::streams(&[&says("One"), broken])).await;
    let (mut pipe, _note) = bridged(&server);
    let id = pipe.begin("llm_chat", question());
    let error = pipe.answer(&id).unwrap_err();
    assert!(
        error["code"].as_str().unwrap().starts_with("ERR_MODEL"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_beyond_what_browsers_take_comes_in_parts() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let made = pipe.get("chat_create_session", json!({}));
    let id = made["sessionId"].as_str().unwrap();
    let long = "\"é\\\n".repeat(100_000);
    for _ in 0..3 {
        server.send_message(id, &long).await;
    }
    let history = pipe.get("chat_history", json!({ "session_id": id, "limit": 200 }));
    assert!(history.to_string().len() > 1_000_000);
    assert_eq!(pipe.joined, 1);
    let (_, body) = server
        .get(&format!("/api/history?session={id}&limit=200"))
        .await;
    // More may have been said in between.
    assert!(history["entries"][0].is_object());
    assert_eq!(history["entries"][0], body["entries"][0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_watched_and_when_its_window_closes_it_was_not_answered() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let mut page = Broker::of(&server, SHOP).await;
    let request = json!({ "scopes": ["model:list"] });
    let call = page.begin("permissions.request", request.clone()).await;
    let ask = page.until("ask").await["ask"].clone();
    let text = pipe.until(|message| message["frame"]["asks"][0]["id"] == ask);
    assert_eq!(text["about"], "asks", "{text}");
    let shown = pipe.get("ask_get", json!({ "ask": ask }));
    assert_eq!(shown["asker"]["origin"], SHOP, "{shown}");
    let watch = pipe.begin("ask_watch", json!({ "ask": ask }));
    let there = pipe.until(|message| message["type"] == "ask_watch_event");
    assert_eq!((&there["n"], &there["event"]), (&json!(0), &Value::Null));
    let first = pipe.until(|message| message["type"] == "ask_watch_event");
    assert_eq!(first["event"]["type"], "asks");
    pipe.get("cancel", json!({ "target": watch }));
    let error = page.end(call).await.1;
    // It is undecided.
    assert_ne!(
        error.map(|answer| answer["granted"].clone()),
        Ok(json!(true))
    );

    let call = page.begin("permissions.request", request).await;
    let ask = page.until("ask").await["ask"].clone();
    pipe.begin("ask_watch", json!({ "ask": ask }));
    let answer = json!({ "ask": ask, "body": { "decision": "always" } });
    assert_eq!(pipe.get("ask_answer", answer), Value::Null);
    assert_eq!(page.end(call).await.1.unwrap()["granted"], true);
}
