//! Who may start a demo, and one that cannot start.

use gangway_testing::server::{LOCAL_TOKEN, bare_client};
use reqwest::Method;
use serde_json::json;

use crate::server::TestServer;

#[tokio::test]
async fn a_page_elsewhere_and_a_key_without_admin_cannot_start_a_demo() {
    let server = TestServer::start().await;
    let key = server.key_for(&["chat", "tools", "relay", "apps"]).await;
    let bearer = format!("Bearer {}", key.key);
    let own = format!("Bearer {LOCAL_TOKEN}");
    for headers in [
        vec![("authorization", bearer.as_str())],
        vec![
            ("authorization", own.as_str()),
            ("origin", "https://evil.example"),
        ],
        vec![
            ("authorization", own.as_str()),
            ("origin", "http://packing-list.localhost"),
        ],
        vec![("origin", "http://localhost:1")],
    ] {
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let mut request = bare_client().request(method.clone(), server.url("/api/demo"));
            for (name, value) in &headers {
                request = request.header(*name, *value);
            }
            if method == Method::POST {
                request = request.json(&json!({}));
            }
            let code = request.send().await.unwrap().status();
            assert!(
                [401, 403].contains(&code.as_u16()),
                "{method} {headers:?} {code}"
            );
        }
    }
    let (code, none) = server.get("/api/demo").await;
    assert_eq!((code.as_u16(), none), (200, json!({ "demo": null })));
}

#[tokio::test]
async fn a_demo_that_cannot_start_says_why_leaves_no_key_and_can_be_tried_again() {
    let server = TestServer::start().await;
    for _ in 0..2 {
        let (code, error) = server.post("/api/demo", json!({})).await;
        assert_eq!(
            (code.as_u16(), &error["error_code"]),
            (503, &json!("demo_failed")),
            "{error}"
        );
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("The MCP client could not connect"),
            "{message}"
        );
        assert!(server.services.keys.list().is_empty());
        let (_, ended) = server.get("/api/demo").await;
        assert_eq!(ended["demo"]["state"], "failed");
        assert_eq!(ended["demo"]["error"], message);
    }
}

#[tokio::test]
async fn ending_a_demo_when_none_runs_changes_nothing() {
    let server = TestServer::start().await;
    let (code, _) = server.call(Method::DELETE, "/api/demo", None).await;
    assert_eq!(code, 204);
    assert_eq!(server.get("/api/demo").await.1, json!({ "demo": null }));
}
