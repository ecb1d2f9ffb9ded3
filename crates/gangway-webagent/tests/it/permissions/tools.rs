//! Which tools a site may use.

use std::sync::Arc;

use gangway_core::{Scope, Tool};
use gangway_webagent::permissions::{Decision, PermissionQuery, Permissions};
use serde_json::json;

use super::{Asking, SHOP, answer, details, origin, patch, query, tab, tool};
use crate::server::TestServer;

fn with_tools(scopes: &[Scope], named: Option<&[&str]>, offered: &[&str]) -> PermissionQuery {
    let mut query = query(SHOP, scopes);
    query.tools = named.map(|names| names.iter().map(|name| name.parse().unwrap()).collect());
    query.offered = offered.iter().map(|name| tool(name)).collect();
    query
}

fn allowed(permissions: &Permissions) -> Option<Vec<String>> {
    let tools = permissions.standing(&origin(SHOP)).tools?;
    Some(tools.iter().map(ToString::to_string).collect())
}

fn may(permissions: &Permissions, name: &str) -> bool {
    permissions
        .check_tool(&origin(SHOP), &name.parse().unwrap())
        .is_ok()
}

#[tokio::test]
async fn the_tools_that_stay_checked_are_allowed_and_no_others() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    assert!(!may(permissions, "files/read"));
    let all = ["files/read", "files/write", "web/search"];
    let mut asking = Asking::begin(permissions, with_tools(&[Scope::ToolsCall], None, &all));
    let id = asking.id().await;
    let (_, ask) = server.get(&format!("/api/asks/{id}")).await;
    let shown = |name: &str, server: &str| json!({ "name": name, "description": format!("What {name} does"), "server": server, "asked": false });
    assert_eq!(
        ask["request"]["tools"],
        json!([
            shown(all[0], "files"),
            shown(all[1], "files"),
            shown(all[2], "web")
        ])
    );
    let strange = json!({ "decision": "always", "tools": ["files/delete"] });
    let (status, refused) = answer(&server, &id, strange).await;
    assert_eq!(status, 400);
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("files/delete")
    );
    let (status, _) = answer(
        &server,
        &id,
        json!({ "decision": "always", "tools": ["files/read"] }),
    )
    .await;
    assert_eq!(status, 204);
    asking.outcome().await;
    assert!(may(permissions, "files/read") && !may(permissions, "files/write"));
    let refused = permissions.check_tool(&origin(SHOP), &"files/write".parse().unwrap());
    assert_eq!(refused.unwrap_err().code(), "ERR_TOOL_NOT_ALLOWED");
}

#[tokio::test]
async fn no_tool_checked_means_none() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut asking = Asking::begin(permissions, with_tools(&[Scope::ToolsCall], None, &["a/b"]));
    let id = asking.id().await;
    answer(&server, &id, json!({ "decision": "always", "tools": [] })).await;
    asking.outcome().await;
    permissions.check(&origin(SHOP), Scope::ToolsCall).unwrap();
    assert_eq!(allowed(permissions), Some(vec![]));
    assert!(!may(permissions, "a/b"));
}

#[tokio::test]
async fn a_page_names_tools_and_is_asked_about_those_alone() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let all = ["files/read", "files/write", "web/search", "mail/send"];
    let named = ["files/*", "web/search", "made/up"];
    let mut asking = Asking::begin(
        permissions,
        with_tools(&[Scope::ModelTools], Some(&named), &all),
    );
    let id = asking.id().await;
    let tools = details(&server, &id).tools.unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| (tool.name.to_string(), tool.named))
        .collect();
    let expected = ["files/read", "files/write", "web/search"].map(|name| (name.to_owned(), true));
    assert_eq!(names, expected);
    // An answer without a list means all tools that were shown.
    answer(&server, &id, json!({ "decision": "always" })).await;
    asking.outcome().await;
    assert_eq!(
        allowed(permissions).unwrap(),
        ["files/read", "files/write", "web/search"]
    );
    // What is allowed is not asked again; one more is, although the scope is there.
    let again = with_tools(&[Scope::ModelTools], Some(&["files/read"]), &all);
    assert_eq!(
        Asking::begin(permissions, again).outcome().await.decision,
        Decision::NothingToAsk
    );
    let more = with_tools(
        &[Scope::ModelTools],
        Some(&["files/read", "mail/send"]),
        &all,
    );
    let mut asking = Asking::begin(permissions, more);
    let id = asking.id().await;
    let ask = details(&server, &id);
    assert!(ask.scopes.is_empty());
    assert_eq!(ask.tools.unwrap().len(), 2);
    // What is left unchecked is not allowed, whatever was said before.
    answer(
        &server,
        &id,
        json!({ "decision": "always", "tools": ["mail/send"] }),
    )
    .await;
    asking.outcome().await;
    assert_eq!(
        allowed(permissions).unwrap(),
        ["files/write", "mail/send", "web/search"]
    );
}

#[tokio::test]
async fn a_tool_that_is_allowed_once_is_not_always_allowed() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let scopes = json!({ "mcp:tools.call": "granted-always" });
    patch(
        &server,
        json!({ "origin": SHOP, "scopes": scopes, "allowedTools": ["a/one"] }),
    )
    .await;
    let here = permissions.visit(&origin(SHOP), &tab(1));
    let more = with_tools(&[Scope::ToolsCall], Some(&["a/two"]), &["a/one", "a/two"]);
    let mut asking = Asking::begin(permissions, more);
    let id = asking.id().await;
    answer(&server, &id, json!({ "decision": "once" })).await;
    let outcome = asking.outcome().await;
    assert_eq!(outcome.standing.tools.unwrap().len(), 2);
    // An edit of the list takes it away at once, too.
    patch(
        &server,
        json!({ "origin": SHOP, "allowedTools": ["a/one"] }),
    )
    .await;
    assert_eq!(allowed(permissions).unwrap(), ["a/one"]);
    drop(here);
    let server = server.restart().await;
    assert_eq!(allowed(&server.service.permissions).unwrap(), ["a/one"]);
}

#[tokio::test]
async fn tools_are_not_asked_about_where_their_scope_is_refused() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let scopes = json!({ "mcp:tools.call": "denied" });
    patch(&server, json!({ "origin": SHOP, "scopes": scopes })).await;
    let named = with_tools(&[Scope::ToolsCall], Some(&["a/b"]), &["a/b"]);
    assert_eq!(
        Asking::begin(permissions, named).outcome().await.decision,
        Decision::NothingToAsk
    );
    assert!(!may(permissions, "a/b"));
}

#[tokio::test]
async fn a_tool_whose_name_reads_otherwise_than_it_is_written_is_not_offered() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut many = with_tools(
        &[Scope::ToolsCall],
        None,
        &["a/b\u{202e}c", "a/\u{200b}d", "a/plain"],
    );
    let described = |description: &str| {
        Arc::new(Tool {
            description: description.into(),
            ..(*tool("a/long")).clone()
        })
    };
    many.offered.push(described(&"two\nlines ".repeat(1000)));
    many.offered
        .extend((0..2000).map(|n| tool(&format!("b/t{n}"))));
    let mut asking = Asking::begin(permissions, many);
    let id = asking.id().await;
    let tools = details(&server, &id).tools.unwrap();
    assert_eq!(tools[0].name.to_string(), "a/plain");
    assert_eq!(tools[1].description.chars().count(), 300);
    assert!(!tools[1].description.contains('\n'));
    assert_eq!(tools.len(), 500);
}
