//! MCP servers that sites bring along, with the one that every Gangway is.

use axum::{Router, http::StatusCode, response::Redirect, routing::any};
use gangway_testing::{
    eventually,
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, decide, end, grant, says},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::server;
use crate::support::TestServer;

/// A real MCP server at a URL without authentication: Gangway's own.
async fn shop() -> TestServer {
    let open = gangway::config::Authentication::OpenToThisMachine;
    TestServer::with(|config| config.authentication = open).await
}

async fn register(server: &TestServer, page: &mut Broker, request: Value, decision: &str) -> Value {
    let id = page.begin("mcp.register", request).await;
    let ask = page.until("ask").await;
    decide(server, &ask, decision).await;
    page.end(id).await.1.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sites_own_server_is_there_for_that_origin_alone_once_the_user_agrees() {
    let shop = shop().await;
    let origin = format!("http://{}", shop.address);
    let server = server(&Fake::streams(&[&says("x"), &end()])).await;
    let mut page = Broker::of(&server, &origin).await;
    let request = json!({ "url": format!("{origin}/mcp"), "name": "Shop Assistant!", "tools": ["list_apps"] });
    assert_eq!(
        page.refused("mcp.register", request.clone()).await,
        "ERR_SCOPE_REQUIRED"
    );
    allow(
        &server,
        &origin,
        &["mcp:servers.register", "mcp:tools.list", "mcp:tools.call"],
    )
    .await;
    let denied = register(&server, &mut page, request.clone(), "deny").await;
    assert_eq!(denied["error"]["code"], "USER_DENIED");
    grant(
        &server,
        &origin,
        json!({ "scopes": { "mcp:servers.register": "granted-always" } }),
    )
    .await;

    let registered = register(&server, &mut page, request, "once").await;
    assert_eq!(registered["success"], true, "{registered}");
    let id = registered["serverId"].as_str().unwrap();
    assert!(id.starts_with("shop-assistant-"), "{id}");
    let tool = format!("{id}/list_apps");
    let listed = page.call("tools.list", json!({})).await.unwrap();
    let mine: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["serverId"] == id)
        .collect();
    assert_eq!(mine.len(), 1);
    page.call("tools.call", json!({ "tool": tool, "args": {} }))
        .await
        .unwrap();

    allow(&server, SHOP, &["mcp:tools.list", "mcp:tools.call"]).await;
    let mut other = Broker::of(&server, SHOP).await;
    let listed = other.call("tools.list", json!({})).await.unwrap();
    assert!(!listed.to_string().contains(id));
    let stolen = json!({ "tool": tool, "args": {} });
    assert_eq!(
        other.refused("tools.call", stolen).await,
        "ERR_TOOL_NOT_ALLOWED"
    );

    let gone = page
        .call("mcp.unregister", json!({ "serverId": id }))
        .await
        .unwrap();
    assert_eq!(gone["success"], true);
    let gone = page
        .call("mcp.unregister", json!({ "serverId": id }))
        .await
        .unwrap();
    assert_eq!(gone["success"], false);
    let call = json!({ "tool": tool, "args": {} });
    assert_eq!(
        page.refused("tools.call", call).await,
        "ERR_TOOL_NOT_ALLOWED"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_this_machine_may_ask_for_a_server_on_another_port_but_not_for_gangway_itself() {
    let shop = shop().await;
    let server = server(&Fake::streams(&[])).await;
    let origin = "http://localhost:5173";
    allow(&server, origin, &["mcp:servers.register"]).await;
    let mut page = Broker::of(&server, origin).await;
    let request = json!({ "url": format!("http://{}/mcp", shop.address), "name": "Mine" });
    let registered = register(&server, &mut page, request, "once").await;
    assert_eq!(registered["success"], true, "{registered}");
    let request = json!({ "url": format!("http://{}/mcp", server.address), "name": "Gangway" });
    let answer = page.call("mcp.register", request).await.unwrap();
    assert_eq!(answer["error"]["code"], "INVALID_URL", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_not_followed_and_a_server_that_is_none_is_reported() {
    let target = TestServer::start().await;
    let there = format!("http://{}/mcp", target.address);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let site = Router::new()
        .route(
            "/mcp",
            any(move || async move { Redirect::temporary(&there) }),
        )
        .route("/none", any(|| async { StatusCode::NOT_FOUND }));
    tokio::spawn(async move { axum::serve(listener, site).await });
    let server = server(&Fake::streams(&[])).await;
    allow(&server, &origin, &["mcp:servers.register"]).await;
    let mut page = Broker::of(&server, &origin).await;
    for path in ["/mcp", "/none"] {
        let request = json!({ "url": format!("{origin}{path}"), "name": "x" });
        let answer = register(&server, &mut page, request, "once").await;
        assert_eq!(
            answer["error"]["code"], "CONNECTION_FAILED",
            "{path}: {answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_user_revokes_is_gone_at_once_also_while_a_question_is_open() {
    let shop = shop().await;
    let origin = format!("http://{}", shop.address);
    let server = server(&Fake::streams(&[])).await;
    let scopes = ["mcp:servers.register", "mcp:tools.list", "mcp:tools.call"];
    allow(&server, &origin, &scopes).await;
    let mut page = Broker::of(&server, &origin).await;
    let request = json!({ "url": format!("{origin}/mcp"), "name": "Shop" });
    let id = page.begin("mcp.register", request.clone()).await;
    page.until("ask").await;
    grant(
        &server,
        &origin,
        json!({ "scopes": { "mcp:servers.register": "denied" } }),
    )
    .await;
    let (_, end) = page.end(id).await;
    assert_eq!(end.unwrap_err()["code"], "ERR_PERMISSION_DENIED");

    allow(&server, &origin, &scopes).await;
    let registered = register(&server, &mut page, request, "always").await;
    let id = registered["serverId"].as_str().unwrap().to_owned();
    let call = json!({ "tool": format!("{id}/list_apps"), "args": {} });
    page.call("tools.call", call.clone()).await.unwrap();
    grant(
        &server,
        &origin,
        json!({ "scopes": { "mcp:servers.register": "denied" } }),
    )
    .await;
    // Its tools are refused, or it is gone already.
    let code = page.refused("tools.call", call).await;
    let refused = ["ERR_PERMISSION_DENIED", "ERR_TOOL_NOT_ALLOWED"];
    assert!(refused.contains(&code.as_str()), "{code}");
    let gone = || async {
        let mut page = Broker::of(&server, &origin).await;
        let listed = page.call("tools.list", json!({})).await.unwrap();
        page.send_message(json!({ "type": "bye" })).await;
        (!listed.to_string().contains(&id)).then_some(())
    };
    eventually(gone).await;
}
