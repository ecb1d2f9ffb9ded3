//! Clients without a login that claim to be the page of a site.

use gangway_testing::webagent_client::{Broker, decide};
use serde_json::{Value, json};

use crate::{support::TestServer, weblets};

const BANK: &str = "https://bank.example";

async fn origins(server: &TestServer) -> Vec<Value> {
    let (_, listed) = server.get("/api/pages").await;
    let pages = listed["pages"].as_array().unwrap().iter();
    pages.map(|page| page["origin"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_offered_for_connecting_once_the_person_decided_in_its_browser() {
    let server = weblets::server().await;
    let hello = json!({ "type": "hello", "v": 1, "origin": BANK, "tab": "1".repeat(32) });
    let (mut page, welcome) = Broker::stranger(&server, hello).await;
    assert_eq!(welcome["locked"], true, "{welcome}");
    page.send_message(json!({ "type": "tools", "tools": [super::add()] }))
        .await;
    assert!(origins(&server).await.is_empty());
    let id = page
        .begin("permissions.request", json!({ "scopes": ["model:list"] }))
        .await;
    let ask = page.until("ask").await;
    assert!(origins(&server).await.is_empty());
    decide(&server, &ask, "deny").await;
    page.end(id).await.1.unwrap();
    assert_eq!(origins(&server).await, [BANK]);
}
