//! Messages about MCP servers, the catalog and installs, with real servers behind them.

use gangway_testing::{
    mcp_registry::{Page, Registry, entry},
    mcp_servers::installed,
};
use serde_json::{Value, json};

use super::{bridged, pipe::Pipe};
use crate::{support::TestServer, tools::with_memory};

fn state(pipe: &mut Pipe, id: &str) -> Value {
    pipe.get("get_server_status", json!({ "server_id": id }))["state"].take()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_are_added_connected_called_and_removed() {
    let server = with_memory(|_| {}).await;
    let (mut pipe, _note) = bridged(&server);
    let of = |id: &str| json!({ "server_id": id });
    let (_, list) = server.get("/api/mcp/servers").await;
    assert_eq!(pipe.get("list_servers", json!({})), list);
    let every = json!({ "everything": installed("everything") });
    let added = pipe.get("add_server", json!({ "body": { "mcpServers": every } }));
    assert_eq!(added["servers"].as_array().unwrap().len(), 2);
    assert_eq!(
        pipe.refused("add_server", json!({ "body": { "mcpServers": every } }))
            .1,
        409
    );
    let ready = pipe.get("mcp_connect", of("everything"));
    assert_eq!(
        (&ready["id"], &ready["state"]),
        (&json!("everything"), &json!("ready")),
        "{ready}"
    );
    let there = pipe.get("mcp_list_connections", json!({}));
    assert_eq!(there["servers"].as_array().unwrap().len(), 2);

    let all = pipe.get("mcp_list_tools", json!({}));
    let (_, tools) = server.get("/api/tools").await;
    assert_eq!(all, tools);
    let some = pipe.get("mcp_list_tools", of("memory"));
    let some = some["tools"].as_array().unwrap();
    assert!(!some.is_empty() && some.len() < all["tools"].as_array().unwrap().len());
    assert!(some.iter().all(|tool| tool["serverId"] == "memory"));
    let graph = pipe.get("mcp_call_tool", json!({ "tool": "memory/read_graph" }));
    assert!(graph["result"].to_string().contains("entities"), "{graph}");
    let echo = json!({ "tool": "everything/echo", "args": { "message": "ahoy" } });
    assert!(pipe.get("mcp_call_tool", echo).to_string().contains("ahoy"));
    let none = json!({ "tool": "memory/none", "args": {} });
    assert_eq!(
        pipe.refused("mcp_call_tool", none),
        ("ERR_TOOL_NOT_FOUND".into(), 404)
    );

    let resources = pipe.get("mcp_list_resources", of("everything"));
    let resources = resources["resources"].as_array().unwrap();
    let uri = resources[0]["uri"].clone();
    let read = pipe.get(
        "mcp_read_resource",
        json!({ "server_id": "everything", "uri": uri }),
    );
    assert_eq!(read["contents"][0]["uri"], uri);
    let prompts = pipe.get("mcp_list_prompts", of("everything"));
    assert!(prompts["prompts"][0]["name"].is_string(), "{prompts}");
    let odd = json!({ "server_id": "everything", "uri": "nowhere://é\n" });
    pipe.ask("mcp_read_resource", odd).unwrap_err();
    assert_eq!(pipe.refused("mcp_list_resources", of("none")).1, 404);

    for kind in ["server_login", "server_logout"] {
        assert_eq!(pipe.refused(kind, of("none")).1, 404, "{kind}");
    }
    let logs = pipe.get("get_server_logs", of("everything"));
    let last = logs["lines"].as_array().unwrap().last().unwrap()["number"].clone();
    let newer = pipe.get(
        "get_server_logs",
        json!({ "server_id": "everything", "after": last }),
    );
    assert_eq!(newer, json!({ "lines": [] }));

    for (stop, start) in [
        ("disconnect_server", "connect_server"),
        ("mcp_disconnect", "connect_server"),
        ("stop_installed", "start_installed"),
    ] {
        assert_eq!(pipe.get(stop, of("everything")), Value::Null);
        assert_eq!(state(&mut pipe, "everything"), "stopped");
        assert_eq!(pipe.get(start, of("everything")), Value::Null);
        assert_ne!(state(&mut pipe, "everything"), "stopped");
    }
    for kind in [
        "connect_server",
        "disconnect_server",
        "mcp_connect",
        "mcp_disconnect",
        "get_server_status",
        "get_server_logs",
        "remove_server",
        "start_installed",
        "stop_installed",
        "uninstall_server",
    ] {
        assert_eq!(pipe.refused(kind, of("a/b?c")).1, 404, "{kind}");
    }
    assert_eq!(
        pipe.refused("get_server_status", of("none")),
        ("server_not_found".into(), 404)
    );
    assert_eq!(pipe.get("remove_server", of("everything")), Value::Null);
    assert_eq!(
        pipe.refused("remove_server", of("memory")),
        ("from_config".into(), 409)
    );
    assert_eq!(
        pipe.get("list_servers", json!({}))["servers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_start_is_reported_with_its_reason() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let broken = json!({ "broken": { "command": "/nowhere/at/all" } });
    pipe.get("add_server", json!({ "body": { "mcpServers": broken } }));
    let failed = pipe.get("mcp_connect", json!({ "server_id": "broken" }));
    assert_ne!(failed["state"], "ready");
    assert!(failed["problem"].is_string(), "{failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_catalog_is_read_searched_and_downloaded_again() {
    let entries = vec![
        entry("io.test/ships", "Knows ships"),
        entry("io.test/cars", "Knows cars"),
    ];
    let registry = Registry::start(vec![Page::Entries(entries, None)]).await;
    let url = registry.url.clone();
    let server = TestServer::with(|config| config.tools.catalog_url = url).await;
    let (mut pipe, _note) = bridged(&server);
    let state = pipe.get("catalog_refresh", json!({}));
    assert!(state.get("total").is_some(), "{state}");
    let page = crate::support::eventually(|| {
        let page = pipe.get("catalog_get", json!({ "limit": 1 }));
        async move { (page["total"] == 2).then_some(page) }
    })
    .await;
    assert_eq!(page["servers"].as_array().unwrap().len(), 1);
    let next = pipe.get(
        "catalog_get",
        json!({ "limit": 1, "cursor": page["nextCursor"] }),
    );
    assert_ne!(next["servers"][0]["name"], page["servers"][0]["name"]);
    let found = pipe.get("catalog_search", json!({ "query": "ships & more?" }));
    assert_eq!(found["total"], 0, "{found}");
    let found = pipe.get("catalog_search", json!({ "query": "ships" }));
    assert_eq!(found["servers"][0]["name"], "io.test/ships", "{found}");
    assert_eq!(
        pipe.refused("catalog_search", json!({})),
        ("bad_field".into(), 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn installs_begin_are_listed_and_cancelled_and_secrets_are_kept() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let runtimes = pipe.get("check_runtimes", json!({}));
    assert!(runtimes["runtimes"].as_array().unwrap().len() > 1);
    let package = json!({ "kind": "npm", "name": "@modelcontextprotocol/server-memory" });
    let request = json!({ "body": { "id": "mine", "package": package } });
    let begun = pipe.get("install_server", request);
    assert_eq!(begun["state"], "fetching", "{begun}");
    let listed = pipe.get("list_installed", json!({}));
    assert_eq!(listed["installs"][0]["install"], begun["install"]);
    assert_eq!(listed["servers"], json!([]));
    let of = json!({ "install_id": begun["install"] });
    assert_eq!(pipe.get("cancel_install", of), Value::Null);
    assert_eq!(
        pipe.refused("cancel_install", json!({ "install_id": "none" })),
        ("install_not_found".into(), 404)
    );
    assert_eq!(
        pipe.refused("install_server", json!({ "body": { "id": "x" } }))
            .1,
        400
    );

    let mut own = installed("memory");
    own["env"] = json!({ "TOKEN": "${secret:TOKEN}", "MEMORY_FILE_PATH": server.folder.path().join("m.json") });
    pipe.get(
        "add_server",
        json!({ "body": { "mcpServers": { "own": own } } }),
    );
    let set = json!({ "server_id": "own", "secrets": { "TOKEN": "planted" } });
    assert_eq!(pipe.get("set_server_secrets", set), Value::Null);
    let wrong = json!({ "server_id": "own", "secrets": { "NONE": "x" } });
    assert_eq!(
        pipe.refused("set_server_secrets", wrong),
        ("invalid_request".into(), 400)
    );
    let wrong = json!({ "server_id": "own", "secrets": { "TOKEN": 7 } });
    assert_eq!(
        pipe.refused("set_server_secrets", wrong),
        ("bad_field".into(), 0)
    );
    assert_eq!(
        pipe.get("uninstall_server", json!({ "server_id": "own" })),
        Value::Null
    );
}
