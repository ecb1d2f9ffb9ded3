//! The model budget of an origin.

use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, end, says},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::TestServer;
use crate::server::server;

async fn set(server: &TestServer, budget: Value) -> (u16, Value) {
    let request = json!({ "origin": SHOP, "budget": budget });
    let (status, answer) = server
        .call(Method::PATCH, "/api/permissions", Some(request))
        .await;
    (status.as_u16(), answer)
}

async fn used(server: &TestServer) -> u64 {
    let (_, list) = server.get("/api/permissions").await;
    list["origins"][0]["budget"]["usedToday"].as_u64().unwrap()
}

async fn prompt(page: &mut Broker) -> Result<(), Value> {
    let made = page.call("text.create", json!({})).await.unwrap();
    let request = json!({ "sessionId": made["sessionId"], "input": "Hello" });
    let id = page.begin("text.prompt", request).await;
    let (events, end) = page.end(id).await;
    end?;
    match events.into_iter().find(|event| event["type"] == "error") {
        Some(event) => Err(event["error"].clone()),
        None => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_over_its_daily_tokens_gets_an_error_until_its_budget_is_raised() {
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 40, "completion_tokens": 20 } });
    let usage = format!("data: {usage}\n\n");
    let model = Fake::streams(&[&says("Ahoy"), &usage, &end()]);
    let server = server(&model).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let (status, answer) = set(&server, json!({ "tokensPerDay": 100 })).await;
    assert_eq!(
        (status, &answer["budget"]["tokensPerDay"]),
        (200, &json!(100))
    );
    let mut page = Broker::of(&server, SHOP).await;
    prompt(&mut page).await.unwrap();
    assert_eq!(used(&server).await, 60);
    prompt(&mut page).await.unwrap();
    assert_eq!(used(&server).await, 120);
    let asked = model.asked().len();
    // Another tab is the same site.
    let mut other = Broker::of(&server, SHOP).await;
    for page in [&mut page, &mut other] {
        let error = prompt(page).await.unwrap_err();
        assert_eq!(error["code"], "ERR_BUDGET_EXCEEDED", "{error}");
        assert!(
            error["message"].to_string().contains("100 tokens"),
            "{error}"
        );
    }
    assert_eq!(model.asked().len(), asked);
    set(&server, json!({ "tokensPerDay": 1000 })).await;
    prompt(&mut page).await.unwrap();
    let server = server.restart().await;
    assert_eq!(used(&server).await, 180);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_beyond_the_concurrent_limit_waits_and_usage_is_estimated_when_the_provider_reports_none()
 {
    let model = Fake::streams(&[&says("Ahoy")]).then_silent();
    let server = server(&model).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    assert_eq!(set(&server, json!({ "maxConcurrent": 0 })).await.0, 400);
    assert_eq!(set(&server, json!({ "maxConcurrent": 1 })).await.0, 200);
    let mut page = Broker::of(&server, SHOP).await;
    let made = page.call("text.create", json!({})).await.unwrap();
    let request = json!({ "sessionId": made["sessionId"], "input": "Hello" });
    let first = page.begin("text.prompt", request).await;
    gangway_testing::eventually(|| async { (!model.asked().is_empty()).then_some(()) }).await;
    let mut other = Broker::of(&server, SHOP).await;
    let made = other.call("text.create", json!({})).await.unwrap();
    let request = json!({ "sessionId": made["sessionId"], "input": "Hello" });
    other.begin("text.prompt", request).await;
    // Calls without a model continue meanwhile.
    other.call("permissions.list", json!({})).await.unwrap();
    assert_eq!(model.asked().len(), 1);
    page.send_message(json!({ "type": "abort", "id": first }))
        .await;
    other.until("event").await;
    assert!(used(&server).await > 0);
}
