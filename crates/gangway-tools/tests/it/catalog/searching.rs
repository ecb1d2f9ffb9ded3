//! The catalog is shown, searched, and brought up to date.

use gangway_testing::{
    mcp_registry::{Page, Registry, entry, listed},
    server::bare_client,
};
use reqwest::Method;
use serde_json::{Value, json};

use super::{ask, until};
use crate::server::TestServer;

async fn with(registry: &Registry) -> TestServer {
    let url = registry.url.clone();
    TestServer::with(|config| config.tools.catalog_url = url).await
}

fn names(page: &Value) -> Vec<&str> {
    let servers = page["servers"].as_array().unwrap();
    servers
        .iter()
        .map(|server| server["name"].as_str().unwrap())
        .collect()
}

async fn fetched(server: &TestServer) -> Value {
    until(server, "/api/mcp/catalog", |page| {
        page["refresh"]["state"] == "idle" && page["refresh"]["at"].is_string()
    })
    .await
}

#[tokio::test]
async fn with_no_network_there_are_a_few_servers_of_our_own() {
    let server = TestServer::start().await;
    let (status, page) = server.get("/api/mcp/catalog").await;
    assert_eq!((status.as_u16(), &page["total"]), (200, &json!(7)));
    assert_eq!(page["source"], "built-in");
    assert_eq!(page["refresh"], json!({ "state": "idle", "fetched": 0 }));
    let (_, page) = server.get("/api/mcp/catalog?q=zones").await;
    assert_eq!(names(&page), ["io.modelcontextprotocol/time"]);
    let (status, state) = ask(&server, Method::POST, "/api/mcp/catalog/refresh", None).await;
    assert_eq!(status, 202, "{state}");
    let page = until(&server, "/api/mcp/catalog", |page| {
        page["refresh"]["state"] == "failed"
    })
    .await;
    let problem = page["refresh"]["problem"].as_str().unwrap();
    assert!(problem.contains("catalog_url"), "{problem}");
    assert_eq!(page["total"], 7);
}

#[tokio::test]
async fn opening_the_catalog_downloads_it_and_search_terms_find_servers() {
    let mut entries: Vec<Value> = (0..70)
        .map(|n| entry(&format!("io.test/s{n:02}"), "Fills the page"))
        .collect();
    entries.push(entry("io.test/weather", "Tells the temperature"));
    entries.push(entry("io.test/other", "Knows no weather"));
    let registry = Registry::start(vec![Page::Entries(entries, None)]).await;
    let server = with(&registry).await;
    // Without waiting, the first response has what is available.
    let (_, page) = server.get("/api/mcp/catalog").await;
    assert_eq!(page["source"], "built-in");
    let page = fetched(&server).await;
    assert_eq!(
        (&page["total"], &page["source"]),
        (&json!(72), &json!(registry.url))
    );
    assert_eq!(page["servers"].as_array().unwrap().len(), 30);
    let mut seen = Vec::new();
    let mut path = "/api/mcp/catalog?limit=50".to_owned();
    loop {
        let (_, page) = server.get(&path).await;
        seen.extend(names(&page).iter().map(ToString::to_string));
        match page["nextCursor"].as_str() {
            Some(next) => path = format!("/api/mcp/catalog?limit=50&cursor={next}"),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 72);

    let (_, page) = server.get("/api/mcp/catalog?q=weath").await;
    assert_eq!(names(&page), ["io.test/weather", "io.test/other"]);
    for odd in [
        "%22",
        "%27OR%201=1--",
        "NEAR(",
        "*",
        "%00",
        "a%20AND",
        "%F0%9F%A6%80",
    ] {
        let (status, page) = server.get(&format!("/api/mcp/catalog?q={odd}")).await;
        assert_eq!(status, 200, "{odd}: {page}");
    }
    let (status, _) = server.get("/api/mcp/catalog?cursor=x").await;
    assert_eq!(status, 400);
    // What is fresh is not fetched again by looking.
    assert_eq!(registry.asked().len(), 1);
}

#[tokio::test]
async fn a_refresh_that_fails_keeps_what_was_there() {
    let good = Page::Entries(vec![entry("io.test/good", "Good")], None);
    let registry = Registry::start(vec![good.clone()]).await;
    let server = with(&registry).await;
    server.get("/api/mcp/catalog").await;
    let before = fetched(&server).await;
    for bad in [
        vec![Page::Text("garbage".into())],
        vec![
            Page::Entries(vec![entry("io.test/new", "")], Some("x".into())),
            Page::Status(400, None),
        ],
        vec![Page::Entries(vec![json!({})], None)],
    ] {
        registry.becomes(bad);
        ask(&server, Method::POST, "/api/mcp/catalog/refresh", None).await;
        let page = until(&server, "/api/mcp/catalog", |page| {
            page["refresh"]["state"] == "failed"
        })
        .await;
        assert_eq!(page["servers"], before["servers"]);
        assert_eq!(page["refresh"]["at"], before["refresh"]["at"]);
        assert!(
            page["refresh"]["problem"]
                .as_str()
                .unwrap()
                .contains("cannot download")
        );
    }
    registry.becomes(vec![Page::Entries(vec![entry("io.test/new", "")], None)]);
    ask(&server, Method::POST, "/api/mcp/catalog/refresh", None).await;
    let page = until(&server, "/api/mcp/catalog", |page| {
        page["refresh"]["state"] == "idle"
    })
    .await;
    assert_eq!(names(&page), ["io.test/new"]);
    assert_eq!(page["refresh"].get("problem"), None);
}

#[tokio::test]
async fn a_second_refresh_joins_the_first() {
    let registry = Registry::gated(vec![Page::Entries(vec![entry("io.test/a", "")], None)]).await;
    let server = with(&registry).await;
    for _ in 0..3 {
        let (status, state) = ask(&server, Method::POST, "/api/mcp/catalog/refresh", None).await;
        assert_eq!(
            (status.as_u16(), &state["refresh"]["state"]),
            (202, &json!("running"))
        );
        assert_eq!(state.get("servers"), None);
    }
    registry.open(1);
    fetched(&server).await;
    assert_eq!(registry.asked().len(), 1);
}

#[tokio::test]
async fn the_catalog_is_there_after_a_restart_and_a_broken_file_is_created_again() {
    let registry =
        Registry::start(vec![Page::Entries(vec![entry("io.test/kept", "")], None)]).await;
    let server = with(&registry).await;
    server.get("/api/mcp/catalog").await;
    fetched(&server).await;
    let server = server.restart().await;
    let (_, page) = server.get("/api/mcp/catalog").await;
    assert_eq!(names(&page), ["io.test/kept"]);
    assert_eq!(registry.asked().len(), 1);
    let file = server.data().join("mcp/catalog.db");
    let server = server.restart().await;
    std::fs::write(&file, "broken ".repeat(1000)).unwrap();
    let (status, page) = server.get("/api/mcp/catalog").await;
    assert_eq!(
        (status.as_u16(), &page["source"]),
        (200, &json!("built-in"))
    );
    let page = fetched(&server).await;
    assert_eq!(names(&page), ["io.test/kept"]);
}

#[tokio::test]
async fn the_ways_to_install_are_shown_with_what_stands_against_them() {
    let server = listed(json!({
        "name": "io.test/many", "description": "Many ways", "version": "2.0.0", "title": "Many",
        "websiteUrl": "https://example.com/", "repository": { "url": "https://example.com/r", "source": "github" },
        "packages": [
            { "registryType": "npm", "identifier": "@s/p", "version": "2.0.0", "transport": { "type": "stdio" },
              "environmentVariables": [{ "name": "KEY", "isRequired": true, "isSecret": true, "description": "A key" }] },
            { "registryType": "oci", "identifier": "docker.io/s/p:2.0.0", "transport": { "type": "stdio" } },
            { "registryType": "npm", "identifier": "--evil", "version": "2.0.0" },
        ],
        "remotes": [{ "type": "streamable-http", "url": "https://example.com/mcp" }],
    }));
    let registry = Registry::start(vec![Page::Entries(vec![server], None)]).await;
    let server = with(&registry).await;
    server.get("/api/mcp/catalog").await;
    let page = fetched(&server).await;
    let many = &page["servers"][0];
    assert_eq!(
        (&many["title"], &many["installed"]),
        (&json!("Many"), &json!([]))
    );
    assert_eq!(
        many["options"][0],
        json!({
            "key": "npm:@s/p@2.0.0", "kind": "npm", "label": "npx -y @s/p@2.0.0", "available": true,
            "inputs": [{ "name": "KEY", "place": "env", "description": "A key", "required": true, "secret": true }],
        })
    );
    for (n, kind) in [(1, "other"), (2, "npm")] {
        let option = &many["options"][n];
        assert_eq!(
            (&option["kind"], &option["available"]),
            (&json!(kind), &json!(false))
        );
        assert!(option["problem"].is_string(), "{option}");
    }
    assert_eq!(many["options"][3]["key"], "remote:https://example.com/mcp");
}

#[tokio::test]
async fn every_change_requires_a_key() {
    let server = TestServer::start().await;
    for (method, path) in [
        (Method::POST, "/api/mcp/catalog/refresh"),
        (Method::POST, "/api/mcp/installs"),
        (Method::DELETE, "/api/mcp/installs/in_1"),
        (Method::PUT, "/api/mcp/servers/x/secrets"),
    ] {
        let request = bare_client().request(method, server.url(path));
        let response = request.json(&json!({})).send().await.unwrap();
        let status = response.status();
        let error: serde_json::Value = response.json().await.unwrap();
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (401, &json!("missing_key")),
            "{path}"
        );
    }
    let (status, error) = ask(&server, Method::DELETE, "/api/mcp/installs/in_1", None).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (404, &json!("install_not_found"))
    );
}
