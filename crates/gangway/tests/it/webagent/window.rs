//! The window of a question, which is a page of the app.

use gangway_testing::webagent_client::{Broker, SHOP, decide};
use serde_json::{Value, json};

use crate::support::TestServer;

fn permission_request(scope: &str) -> Value {
    json!({ "scopes": [scope] })
}

async fn open_asks(server: &TestServer) -> Vec<Value> {
    let (_, list) = server.get("/api/asks").await;
    list["asks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_window_that_is_closed_before_it_loads_ends_its_question() {
    let server = TestServer::start().await;
    let mut page = Broker::of(&server, SHOP).await;
    let mut other = Broker::of(&server, "https://other.example").await;
    let id = page
        .begin("permissions.request", permission_request("model:prompt"))
        .await;
    let ask = page.until("ask").await;
    let closed = json!({ "ask": ask["ask"] });
    // Only the page that asks can say so.
    other
        .call("permissions.closed", closed.clone())
        .await
        .unwrap();
    assert_eq!(open_asks(&server).await.len(), 1);
    page.begin("permissions.closed", closed).await;
    let answer = page.end(id).await.1.unwrap();
    assert_eq!(answer["scopes"]["model:prompt"], "not-granted");

    // Once it has loaded, only its own connection counts, whatever the page reports.
    let id = page
        .begin("permissions.request", permission_request("model:prompt"))
        .await;
    let ask = page.until("ask").await;
    let url = server.url(ask["url"].as_str().unwrap());
    server.http.get(url).send().await.unwrap();
    let closed = json!({ "ask": ask["ask"] });
    page.begin("permissions.closed", closed).await;
    page.until("result").await;
    assert_eq!(open_asks(&server).await.len(), 1);
    decide(&server, &ask, "once").await;
    assert_eq!(page.end(id).await.1.unwrap()["granted"], true);
}
