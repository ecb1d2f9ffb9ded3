//! The log of decisions and uses.

use gangway_core::Scope;
use gangway_webagent::permissions::{Actor, PermissionUse};
use serde_json::{Value, json};

use super::{Asking, SHOP, answer, origin, patch, query, tool};
use crate::server::TestServer;

fn used(what: &str) -> PermissionUse {
    PermissionUse {
        scope: Scope::ToolsCall,
        what: what.into(),
        outcome: "ok",
        by: Actor::Page,
    }
}

/// Entries without their times.
async fn entries(server: &TestServer, query: &str) -> Vec<Value> {
    let (status, page) = server.get(&format!("/api/permissions/audit{query}")).await;
    assert_eq!(status, 200, "{page}");
    let mut entries = page["entries"].as_array().unwrap().clone();
    for entry in &mut entries {
        assert!(entry.as_object_mut().unwrap().remove("at").is_some());
    }
    entries
}

#[tokio::test]
async fn every_decision_and_every_use_is_in_the_log_newest_first() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut query = query(SHOP, &[Scope::ModelPrompt, Scope::ToolsCall]);
    query.offered = vec![tool("a/b"), tool("a/c")];
    query.reason = "a secret reason".into();
    let mut asking = Asking::begin(permissions, query);
    let id = asking.id().await;
    answer(
        &server,
        &id,
        json!({ "decision": "always", "tools": ["a/b"] }),
    )
    .await;
    asking.outcome().await;
    permissions.note(&origin(SHOP), used("a/b"));
    let failed = PermissionUse {
        outcome: "ERR_TOOL_NOT_ALLOWED",
        ..used("a/c\n\u{202e}")
    };
    permissions.note(&origin(SHOP), failed);
    permissions.note(&origin("https://other.example"), used("x"));
    let body = json!({ "origin": SHOP, "scopes": { "model:prompt": "denied" } });
    let request = server
        .http
        .patch(server.url("/api/permissions"))
        .json(&body);
    request.bearer_auth("local-token").send().await.unwrap();
    let decision = |scope: &str, what: &str, outcome: &str, by: &str| {
        let mut entry = json!({ "origin": SHOP, "kind": "decision", "what": what, "outcome": outcome, "by": by });
        if !scope.is_empty() {
            entry["scope"] = json!(scope);
        }
        entry
    };
    let using = |what: &str, outcome: &str| json!({ "origin": SHOP, "kind": "use", "scope": "mcp:tools.call", "what": what, "outcome": outcome, "by": "page" });
    let expected = [
        decision("model:prompt", "set", "denied", "terminal"),
        using("a/c", "ERR_TOOL_NOT_ALLOWED"),
        using("a/b", "ok"),
        decision("", "tools: 1 of 2", "always", "person"),
        decision("mcp:tools.call", "asked", "always", "person"),
        decision("model:prompt", "asked", "always", "person"),
    ];
    assert_eq!(entries(&server, &format!("?origin={SHOP}")).await, expected);
    let all = entries(&server, "").await;
    assert_eq!(all.len(), 7);
    assert_eq!(all[1]["origin"], "https://other.example");
    // The log and what it says about the last use outlive a restart.
    let server = server.restart().await;
    assert_eq!(entries(&server, "").await, all);
    let (_, list) = server.get("/api/permissions").await;
    assert!(list["origins"][0]["lastUsed"].is_string(), "{list}");
}

#[tokio::test]
async fn the_log_is_read_page_by_page_without_a_gap() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    for number in 0..50 {
        let who = if number % 2 == 0 {
            SHOP
        } else {
            "https://other.example"
        };
        permissions.note(&origin(who), used(&number.to_string()));
    }
    let mut seen = Vec::new();
    let mut before = String::new();
    loop {
        let path = format!("/api/permissions/audit?limit=10&origin={SHOP}{before}");
        let (_, page) = server.get(&path).await;
        let entries = page["entries"].as_array().unwrap();
        seen.extend(
            entries
                .iter()
                .map(|entry| entry["what"].as_str().unwrap().parse::<u32>().unwrap()),
        );
        match page["before"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    let expected: Vec<_> = (0..50).rev().filter(|n| n % 2 == 0).collect();
    assert_eq!(seen, expected);
    for query in ["?limit=0", "?limit=501", "?before=x", "?origin=null"] {
        let (status, _) = server.get(&format!("/api/permissions/audit{query}")).await;
        assert_eq!(status, 400, "{query}");
    }
}

#[tokio::test]
async fn a_site_that_fills_the_log_evicts_its_own_entries_and_no_others() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    patch(
        &server,
        json!({ "origin": SHOP, "scopes": { "model:prompt": "denied" } }),
    )
    .await;
    for number in 0..10_500 {
        if number % 500 == 0 {
            permissions.flush().await;
        }
        permissions.note(&origin("https://loud.example"), used(&number.to_string()));
    }
    permissions.flush().await;
    assert_eq!(entries(&server, &format!("?origin={SHOP}")).await.len(), 1);
    let (_, page) = server.get("/api/permissions/audit?limit=1").await;
    assert_eq!(
        (&page["entries"][0]["what"], &page["lost"]),
        (&json!("10499"), &json!(0))
    );
    let whole = permissions.log(None, None, 20_000).await.unwrap();
    assert_eq!(whole.entries.len(), 10_000);
    // What is kept is kept as such: a restart finds the same.
    let server = server.restart().await;
    let again = server
        .service
        .permissions
        .log(None, None, 20_000)
        .await
        .unwrap();
    assert!(again.entries == whole.entries);
}

#[tokio::test(flavor = "current_thread")]
async fn uses_that_are_too_many_to_write_down_are_counted() {
    let server = TestServer::start().await;
    // Without a pause, so that nothing is written meanwhile.
    for number in 0..3000 {
        server
            .service
            .permissions
            .note(&origin(SHOP), used(&number.to_string()));
    }
    let (_, page) = server.get("/api/permissions/audit?limit=500").await;
    assert_eq!(page["lost"], 3000 - 1024);
    assert_eq!(page["entries"][0]["what"], "1023");
}

#[tokio::test]
async fn the_log_distinguishes_pages_the_user_and_the_extension() {
    let server = TestServer::start().await;
    let body = json!({ "origin": SHOP, "scopes": { "model:prompt": "granted-always" } });
    patch(&server, body.clone()).await;
    let request = server
        .http
        .patch(server.url("/api/permissions"))
        .json(&body);
    let request = request.header("x-gangway-client", "extension");
    request.bearer_auth("local-token").send().await.unwrap();
    for by in [Actor::Page, Actor::Extension] {
        let used = PermissionUse { by, ..used("x") };
        server.service.permissions.note(&origin(SHOP), used);
    }
    let by: Vec<_> = entries(&server, "").await;
    let by: Vec<_> = by.iter().map(|entry| entry["by"].clone()).collect();
    assert_eq!(by, ["extension", "page", "extension", "person"]);
}
