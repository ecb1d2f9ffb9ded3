//! Tools that pages list and call.

use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, decide, grant},
};
use serde_json::json;

use crate::server::server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_asks_lists_and_calls_and_every_check_has_its_place() {
    let server = server(&Fake::streams(&[])).await;
    let mut page = Broker::of(&server, SHOP).await;
    let call = json!({ "tool": "memory/read_graph", "args": {} });
    // Without the scope it cannot find out which tools exist.
    for tool in ["memory/read_graph", "memory/none", "none"] {
        let call = json!({ "tool": tool });
        assert_eq!(page.refused("tools.call", call).await, "ERR_SCOPE_REQUIRED");
    }
    assert_eq!(
        page.refused("tools.list", json!({})).await,
        "ERR_SCOPE_REQUIRED"
    );

    let request = json!({
        "scopes": ["mcp:tools.list", "mcp:tools.call"], "reason": "to remember", "tools": ["memory/read_graph"],
    });
    let id = page.begin("permissions.request", request).await;
    let ask = page.until("ask").await;
    assert_eq!(ask["id"], id);
    assert_eq!(
        ask["url"],
        format!("/permit?ask={}", ask["ask"].as_str().unwrap())
    );
    decide(&server, &ask, "once").await;
    let (_, answer) = page.end(id).await;
    assert_eq!(
        answer.unwrap(),
        json!({
            "granted": true,
            "scopes": { "mcp:tools.call": "granted-once", "mcp:tools.list": "granted-once" },
            "allowedTools": ["memory/read_graph"],
        })
    );
    let listed = page.call("tools.list", json!({})).await.unwrap();
    let names = listed.as_array().unwrap().iter().map(|tool| &tool["name"]);
    assert!(names.clone().any(|name| name == "memory/create_entities"));
    assert!(
        !names
            .clone()
            .any(|name| name.as_str().unwrap().starts_with("gangway/"))
    );

    let graph = page.call("tools.call", call).await.unwrap();
    assert!(graph.to_string().contains("entities"), "{graph}");
    let other = json!({ "tool": "memory/create_entities", "args": { "entities": [] } });
    assert_eq!(
        page.refused("tools.call", other).await,
        "ERR_TOOL_NOT_ALLOWED"
    );
    let none = json!({ "tool": "memory/none" });
    assert_eq!(
        page.refused("tools.call", none).await,
        "ERR_TOOL_NOT_ALLOWED"
    );
    let wrong = json!({ "tool": "memory/read_graph", "args": 7 });
    assert_eq!(page.refused("tools.call", wrong).await, "ERR_TOOL_FAILED");
    grant(&server, SHOP, json!({ "allowedTools": ["memory/none"], "scopes": { "mcp:tools.call": "granted-always" } })).await;
    let none = json!({ "tool": "memory/none" });
    assert_eq!(page.refused("tools.call", none).await, "ERR_TOOL_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_origin_has_nothing_of_it_and_a_denial_is_reported() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, SHOP, &["mcp:tools.list"]).await;
    let mut shop = Broker::of(&server, SHOP).await;
    shop.call("tools.list", json!({})).await.unwrap();
    for other in [
        "http://shop.example",
        "https://shop.example:8443",
        "https://www.shop.example",
    ] {
        let mut page = Broker::of(&server, other).await;
        assert_eq!(
            page.refused("tools.list", json!({})).await,
            "ERR_SCOPE_REQUIRED"
        );
    }
    grant(
        &server,
        SHOP,
        json!({ "scopes": { "mcp:tools.list": "denied" } }),
    )
    .await;
    assert_eq!(
        shop.refused("tools.list", json!({})).await,
        "ERR_PERMISSION_DENIED"
    );
    let request = json!({ "scopes": ["mcp:tools.list"] });
    let answer = shop.call("permissions.request", request).await.unwrap();
    assert_eq!(
        answer,
        json!({ "granted": false, "scopes": { "mcp:tools.list": "denied" } })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_page_itself_are_listed_and_called_in_the_page() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, SHOP, &["mcp:tools.list", "mcp:tools.call"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let tool = json!({ "name": "add_to_cart", "description": "Adds", "inputSchema": { "type": "object" } });
    page.send_message(json!({ "type": "tools", "tools": [tool] }))
        .await;
    let listed = page.call("tools.list", json!({})).await.unwrap();
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == "page/add_to_cart")
    );
    let call = json!({ "tool": "page/add_to_cart", "args": { "sku": 7 } });
    let id = page.begin("tools.call", call.clone()).await;
    let asked = page.until("tool_call").await;
    assert_eq!(
        (&asked["name"], &asked["args"]),
        (&json!("add_to_cart"), &json!({ "sku": 7 }))
    );
    page.send_message(
        json!({ "type": "tool_result", "call": asked["call"], "result": { "items": 1 } }),
    )
    .await;
    assert_eq!(page.end(id).await.1.unwrap(), json!({ "items": 1 }));
    // One that is aborted is called off in the page too.
    let id = page.begin("tools.call", call).await;
    let asked = page.until("tool_call").await;
    page.send_message(json!({ "type": "abort", "id": id }))
        .await;
    page.send_message(json!({ "type": "abort", "id": id }))
        .await;
    let cancel = page.until("tool_cancel").await;
    assert_eq!(cancel["call"], asked["call"]);
    assert_eq!(page.end(id).await.1.unwrap_err()["code"], "ERR_ABORTED");
    // No other page of the same origin has it.
    let mut other = Broker::of(&server, SHOP).await;
    let gone = json!({ "tool": "page/add_to_cart" });
    assert_eq!(
        other.refused("tools.call", gone).await,
        "ERR_TOOL_NOT_FOUND"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_of_more_than_a_megabyte_are_refused_and_so_is_nonsense() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, SHOP, &["mcp:tools.call"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let large = json!({ "tool": "memory/read_graph", "args": { "x": "y".repeat(1_500_000) } });
    assert_eq!(page.refused("tools.call", large).await, "ERR_TOOL_FAILED");
    assert_eq!(
        page.refused("tools.call", json!({ "tool": 7 })).await,
        "ERR_INVALID_ARGUMENT"
    );
    assert_eq!(
        page.refused("no.such", json!({})).await,
        "ERR_INVALID_ARGUMENT"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bare_name_is_the_one_tool_that_has_it_among_those_that_the_page_may_call() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, SHOP, &["mcp:tools.call"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let call = json!({ "tool": "read_graph", "args": {} });
    assert_eq!(
        page.refused("tools.call", call.clone()).await,
        "ERR_TOOL_NOT_ALLOWED"
    );
    grant(
        &server,
        SHOP,
        json!({ "allowedTools": ["memory/read_graph"] }),
    )
    .await;
    let graph = page.call("tools.call", call).await.unwrap();
    assert!(graph.to_string().contains("entities"), "{graph}");
}
