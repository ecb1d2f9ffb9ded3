//! What pages may do in their own tab by way of the extension: each with a scope of its own.

use gangway_testing::webagent_client::{Broker, SHOP, allow, decide};
use serde_json::{Value, json};

use crate::server::TestServer;

/// The calls, and what each needs.
const CALLS: [(&str, &str); 4] = [
    ("tab.elements", "browser:activeTab.read"),
    ("tab.click", "browser:activeTab.click"),
    ("tab.fill", "browser:activeTab.fill"),
    ("tab.screenshot", "browser:activeTab.screenshot"),
];

async fn code(page: &mut Broker, method: &str) -> Value {
    match page.call(method, json!({})).await {
        Ok(result) => result,
        Err(error) => error["code"].clone(),
    }
}

#[tokio::test]
async fn each_browser_scope_allows_its_own_calls_and_no_others() {
    let server = TestServer::start().await;
    for (_, granted) in CALLS {
        let origin = format!("https://{}.example", granted.rsplit('.').next().unwrap());
        allow(&server, &origin, &[granted]).await;
        let mut page = Broker::by_extension(&server, &origin).await;
        for (method, needed) in CALLS {
            let expected = match granted == needed {
                true => Value::Null,
                false => json!("ERR_SCOPE_REQUIRED"),
            };
            assert_eq!(
                code(&mut page, method).await,
                expected,
                "{method} with {granted}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_denied_or_revoked_is_refused_at_the_next_call() {
    let server = TestServer::start().await;
    allow(&server, SHOP, &["browser:activeTab.click"]).await;
    let mut page = Broker::by_extension(&server, SHOP).await;
    assert_eq!(code(&mut page, "tab.click").await, Value::Null);
    gangway_testing::webagent_client::grant(
        &server,
        SHOP,
        json!({ "scopes": { "browser:activeTab.click": "denied" } }),
    )
    .await;
    assert_eq!(code(&mut page, "tab.click").await, "ERR_PERMISSION_DENIED");
    let (_, log) = server.get("/api/permissions/audit").await;
    let uses = log["entries"].as_array().unwrap().iter();
    let uses: Vec<_> = uses
        .filter(|entry| entry["what"] == "tab.click")
        .map(|entry| (entry["scope"].clone(), entry["outcome"].clone()))
        .collect();
    let scope = json!("browser:activeTab.click");
    assert_eq!(
        uses,
        [
            (scope.clone(), json!("ERR_PERMISSION_DENIED")),
            (scope, json!("ok"))
        ]
    );
}

#[tokio::test]
async fn without_the_extension_nobody_is_asked_for_what_only_it_can_do() {
    let server = TestServer::start().await;
    allow(&server, SHOP, &["browser:activeTab.fill"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    for (method, _) in CALLS {
        assert_eq!(
            code(&mut page, method).await,
            "ERR_NOT_SUPPORTED",
            "{method}"
        );
    }
    let request = json!({ "scopes": ["browser:activeTab.click", "browser:activeTab.fill"] });
    let answer = page.call("permissions.request", request).await.unwrap();
    let none = json!({
        "granted": false,
        "scopes": { "browser:activeTab.click": "not-granted", "browser:activeTab.fill": "not-granted" },
    });
    assert_eq!(answer, none);
    // The others of the same request are asked for.
    let request = json!({ "scopes": ["browser:activeTab.screenshot", "browser:activeTab.read"] });
    let id = page.begin("permissions.request", request).await;
    let ask = page.until("ask").await;
    let (_, list) = server.get("/api/asks").await;
    assert_eq!(
        list["asks"][0]["request"]["scopes"],
        json!(["browser:activeTab.read"])
    );
    decide(&server, &ask, "once").await;
    let answer = page.end(id).await.1.unwrap();
    assert_eq!(answer["granted"], false);
    assert_eq!(answer["scopes"]["browser:activeTab.read"], "granted-once");
}
