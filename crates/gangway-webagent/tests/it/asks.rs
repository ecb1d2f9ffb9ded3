//! Questions of pages: which are asked, and which no longer exist.

use std::time::{Duration, Instant};

use gangway_testing::{
    eventually,
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, decide, end, says},
};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::server::TestServer;
use crate::server::server;

fn permission_request(scope: &str) -> Value {
    json!({ "scopes": [scope] })
}

async fn open_asks(server: &TestServer) -> Vec<Value> {
    let (_, list) = server.get("/api/asks").await;
    list["asks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_unknown_scope_is_not_granted_and_the_known_ones_are_asked() {
    let server = TestServer::start().await;
    let mut page = Broker::of(&server, SHOP).await;
    let request = json!({ "scopes": ["web:fetch", "model:prompt"] });
    let id = page.begin("permissions.request", request).await;
    let ask = page.until("ask").await;
    let shown = open_asks(&server).await;
    assert_eq!(shown[0]["request"]["scopes"], json!(["model:prompt"]));
    decide(&server, &ask, "always").await;
    let answer = json!({
        "granted": false,
        "scopes": { "web:fetch": "not-granted", "model:prompt": "granted-always" },
    });
    assert_eq!(page.end(id).await.1.unwrap(), answer);
    // There is no request for something that does not exist.
    let request = json!({ "scopes": ["web:fetch"] });
    let answer = json!({ "granted": false, "scopes": { "web:fetch": "not-granted" } });
    assert_eq!(
        page.call("permissions.request", request).await.unwrap(),
        answer
    );
}

#[tokio::test]
async fn a_reloaded_page_withdraws_the_question_of_the_previous_one_and_is_not_blocked_by_it() {
    let server = TestServer::start().await;
    let mut before = Broker::of(&server, SHOP).await;
    before
        .begin("permissions.request", permission_request("model:prompt"))
        .await;
    let old = before.until("ask").await;
    // Its connection ends without a word, as when a tab is reloaded.
    drop(before);
    let mut page = eventually(|| async {
        let mut page = Broker::of(&server, SHOP).await;
        let request = permission_request("mcp:tools.list");
        page.begin("permissions.request", request).await;
        let asks = open_asks(&server).await;
        let withdrawn = asks.iter().all(|ask| ask["id"] != old["ask"]);
        withdrawn.then_some(page)
    })
    .await;
    let ask = page.until("ask").await;
    assert_ne!(ask["ask"], old["ask"]);
}

#[tokio::test]
async fn a_question_that_is_dismissed_is_not_granted_within_two_seconds() {
    let server = TestServer::start().await;
    let mut page = Broker::of(&server, SHOP).await;
    let id = page
        .begin("permissions.request", permission_request("model:prompt"))
        .await;
    let ask = page.until("ask").await;
    let path = format!("/api/asks/{}", ask["ask"].as_str().unwrap());
    let dismiss = || async {
        let request = server.http.delete(server.url(&path));
        let answer = request.bearer_auth("local-token").send().await;
        answer.unwrap().status()
    };
    let since = Instant::now();
    assert_eq!(dismiss().await, StatusCode::NO_CONTENT);
    let answer = page.end(id).await.1.unwrap();
    assert!(since.elapsed() < Duration::from_secs(2));
    assert_eq!(answer["scopes"]["model:prompt"], "not-granted");
    assert_eq!(dismiss().await, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_a_restart_interrupts_gets_a_code_that_can_be_retried() {
    let server = server(&Fake::streams(&[&says("One")]).then_silent()).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let made = page.call("text.create", json!({})).await.unwrap();
    let prompt = json!({ "sessionId": made["sessionId"], "input": "Go" });
    page.begin("text.prompt", prompt).await;
    page.until("event").await;
    server.services.stop.cancel();
    let lines = page.until_closed().await;
    let error = lines.iter().find(|one| one["type"] == "error").unwrap();
    assert_eq!(error["error"]["code"], "ERR_SERVER_UNAVAILABLE", "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_tabs_get_twenty_answers() {
    let server = server(&Fake::streams(&[&says("Ahoy"), &end()])).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut tabs = Vec::new();
    for _ in 0..20 {
        let mut page = Broker::of(&server, SHOP).await;
        let made = page.call("text.create", json!({})).await.unwrap();
        let prompt = json!({ "sessionId": made["sessionId"], "input": "Hello" });
        let id = page.begin("text.prompt", prompt).await;
        tabs.push((page, id));
    }
    for (mut page, id) in tabs {
        let (events, end) = page.end(id).await;
        end.unwrap();
        assert_eq!(events[0], json!({ "type": "token", "token": "Ahoy" }));
    }
}
