//! Pages that offer other tools on another stage.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::{
    mcp::client::{Client as Mcp, Era},
    support::TestServer,
};
use gangway_testing::relay_client::Client;

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "A tool of this stage.", "parameters": {} })
}

/// A page with two stages: `start` on the first leads to the second, where there is `pay` instead.
fn staged(mut host: Client) {
    tokio::spawn(async move {
        let mut tools = json!([tool("start")]);
        while let Some(asked) = host.next().await {
            let spec = json!({ "uiSpec": { "tools": tools.as_array().unwrap().len() }, "messageHistory": [] });
            match asked["type"].as_str().unwrap() {
                "snapshot.get" => {
                    let mut state = spec;
                    state["toolSchema"] = tools.clone();
                    host.reply(&asked, "snapshot.state", state).await;
                }
                "tool.call" => {
                    tools = json!([tool("pay")]);
                    let mut result = spec.clone();
                    result["ok"] = json!(true);
                    host.reply(&asked, "tool.result", result).await;
                    let mut update = spec;
                    update["source"] = json!("agent");
                    update["toolSchema"] = tools.clone();
                    host.push("state.updated", update).await;
                }
                _ => {}
            }
        }
    });
}

#[tokio::test]
async fn mcp_clients_are_notified_when_a_page_offers_other_tools() {
    let server = TestServer::start().await;
    staged(Client::host(&server, "box").await);
    let client = Mcp::new(&server, "/mcp", Era::Older).await;
    let of_page = |tools: Vec<String>| -> Vec<String> {
        let mut tools = tools;
        tools.retain(|tool| tool.starts_with("page-box__"));
        tools.sort();
        tools
    };
    assert_eq!(
        of_page(client.tools().await),
        ["page-box__look", "page-box__start"]
    );
    let stream = server
        .http
        .get(server.url("/mcp"))
        .header("accept", "text/event-stream")
        .header("mcp-session-id", client.session())
        .header("mcp-protocol-version", "2025-06-18")
        .send()
        .await
        .unwrap();
    let mut parts = stream.bytes_stream();
    let why = json!({ "reason": "to get on" });
    client.call("page-box__start", why).await.unwrap();
    let mut seen = String::new();
    while !seen.contains("tools/list_changed") {
        let part = tokio::time::timeout(Duration::from_secs(10), parts.next()).await;
        seen += std::str::from_utf8(&part.unwrap().unwrap().unwrap()).unwrap();
    }
    assert_eq!(
        of_page(client.tools().await),
        ["page-box__look", "page-box__pay"]
    );
}

#[tokio::test]
async fn an_update_counts_as_other_tools_only_when_they_are_others() {
    let server = TestServer::start().await;
    let mut host = Client::host(&server, "box").await;
    let mut agent = Client::agent(&server, "box").await;
    let changes = server.app.pages.changes();
    let before = *changes.borrow();
    let update = |more: Value| {
        let mut update = json!({ "source": "user", "uiSpec": { "a": 1 }, "messageHistory": [] });
        for (name, value) in more.as_object().unwrap() {
            update[name] = value.clone();
        }
        update
    };
    for (more, count) in [
        (json!({}), 0),
        (json!({ "uiSpec": { "toolSchema": [tool("a")] } }), 0),
        (json!({ "toolSchema": [tool("a")] }), 1),
        (json!({ "toolSchema": [tool("a")] }), 1),
        (json!({ "toolSchema": 7 }), 2),
        (json!({ "toolSchema": [tool("b")] }), 3),
    ] {
        host.push("state.updated", update(more.clone())).await;
        // What comes after it on the same connection is passed on after it was read.
        host.push("user.message", json!({ "text": "read" })).await;
        agent.receive_type("user.message").await;
        assert_eq!(*changes.borrow(), before + count, "{more}");
    }
}
