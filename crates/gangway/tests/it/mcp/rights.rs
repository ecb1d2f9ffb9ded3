//! Who may use the MCP door, and for what.

use serde_json::json;

use super::client::{Client, Era};
use crate::{support::TestServer, tools::with_memory};

async fn key(server: &TestServer, tools: serde_json::Value) -> String {
    let tools = tools.as_array().unwrap().iter();
    let scopes: Vec<_> = tools
        .map(|tool| format!("tools:{}", tool.as_str().unwrap()))
        .collect();
    let request = json!({ "name": "tools", "scopes": scopes });
    let (status, created) = server.post("/api/keys", request).await;
    assert_eq!(status, 201, "{created}");
    created["key"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_all_tools_reaches_chats_only_with_the_scope_chat_or_by_name() {
    let server = with_memory(|_| {}).await;
    server.session().await;
    for (scopes, reads) in [
        (json!(["tools"]), false),
        (json!(["tools", "chat"]), true),
        (json!(["tools:gangway/*"]), true),
    ] {
        let request = json!({ "name": "tools", "scopes": scopes });
        let (_, created) = server.post("/api/keys", request).await;
        let key = created["key"].as_str().unwrap();
        let client = Client::with_key(&server, "/mcp", Era::Current, Some(key)).await;
        let tools = client.tools().await;
        for tool in ["read_session", "send_message", "set_applet_state"] {
            assert_eq!(tools.contains(&tool.to_owned()), reads, "{scopes} {tool}");
            let called = client.call(tool, json!({ "prompt": "Hi" })).await;
            let hidden = called.is_err_and(|error| error.contains("no tool"));
            assert_eq!(hidden, !reads, "{scopes} {tool}");
        }
        let resources = client.ask("resources/list", json!({})).await;
        let none = resources["result"]["resources"] == json!([]);
        assert_eq!(none, !reads, "{scopes}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_tools_sees_and_calls_those_tools_and_opens_nothing_else() {
    let server = with_memory(|_| {}).await;
    let some = key(
        &server,
        json!(["memory/read_graph", "gangway/get_applet_state"]),
    )
    .await;
    for era in [Era::Older, Era::Current] {
        let client = Client::with_key(&server, "/mcp", era, Some(&some)).await;
        let mut tools = client.tools().await;
        tools.sort();
        assert_eq!(
            tools,
            ["get_applet_state", "memory__read_graph", "read_result"]
        );
        client.call("memory__read_graph", json!({})).await.unwrap();
        for tool in [
            "memory__create_entities",
            "set_applet_state",
            "send_message",
        ] {
            let message = client.call(tool, json!({})).await.unwrap_err();
            assert!(message.contains("no tool"), "{tool}: {message}");
        }
        let resources = client.ask("resources/list", json!({})).await;
        assert_eq!(resources["result"]["resources"], json!([]));
        let other = Client::with_key(&server, "/mcp/memory", era, Some(&some)).await;
        assert_eq!(other.tools().await, ["read_graph"]);
        let prompts = other.ask("prompts/list", json!({})).await;
        assert!(
            prompts["error"]["message"]
                .as_str()
                .unwrap()
                .contains("no server")
        );
    }
    let none = key(&server, json!(["other/*"])).await;
    let client = Client::with_key(&server, "/mcp/memory", Era::Current, Some(&none)).await;
    let hidden = client.ask("tools/list", json!({})).await;
    assert!(
        hidden["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no server")
    );

    let with_key = |path: &str| server.http.get(server.url(path)).bearer_auth(&some).send();
    for path in ["/api/sessions", "/api/mcp/servers", "/api/keys", "/metrics"] {
        let response = with_key(path).await.unwrap();
        let status = response.status();
        let error: serde_json::Value = response.json().await.unwrap();
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (403, &json!("scope_required")),
            "{path}"
        );
    }
    // That door has errors of its own.
    assert_eq!(with_key("/v1/models").await.unwrap().status(), 403);
    let listed: serde_json::Value = with_key("/api/tools").await.unwrap().json().await.unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 1);
    let call = |tool: &str| {
        let body = json!({ "tool": tool, "args": {} });
        let request = server.http.post(server.url("/api/tools/call"));
        request.bearer_auth(&some).json(&body).send()
    };
    assert_eq!(call("memory/read_graph").await.unwrap().status(), 200);
    assert_eq!(call("memory/create_entities").await.unwrap().status(), 404);
    let route = |key: String| {
        let request = server.http.post(server.url("/api/tools/route"));
        let body = json!({ "sentence": "remember" });
        async move {
            let found = request.bearer_auth(key).json(&body).send().await.unwrap();
            found.json::<serde_json::Value>().await.unwrap()["servers"].clone()
        }
    };
    assert_eq!(route(some.clone()).await, json!({ "memory": ["remember"] }));
    assert_eq!(route(none).await, json!({}));
    let (status, error) = server
        .post(
            "/api/keys",
            json!({ "name": "x", "scopes": ["tools:nonsense"] }),
        )
        .await;
    assert_eq!(status, 400, "{error}");
    assert!(
        error["message"].as_str().unwrap().contains("SERVER/TOOL"),
        "{error}"
    );
}

#[tokio::test]
async fn pages_of_others_and_strangers_do_not_reach_the_endpoint() {
    let server = TestServer::start().await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let post = || server.http.post(server.url("/mcp")).json(&list);
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("host", "evil.example", 421),
        ("x-forwarded-for", "10.1.2.3", 403),
        ("authorization", "Bearer nonsense", 401),
        ("content-type", "text/plain", 415),
    ] {
        let response = post().header(name, value).send().await.unwrap();
        assert_eq!(response.status(), status, "{name}: {value}");
    }
}

#[tokio::test]
async fn what_is_no_mcp_is_refused_and_the_endpoint_keeps_working() {
    let server = TestServer::start().await;
    let post = |body: &'static str| {
        let request = server.http.post(server.url("/mcp"));
        request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body)
            .send()
    };
    for body in [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{\"jsonrpc\":\"1.0\"}",
        "{\"id\":1}",
    ] {
        let status = post(body).await.unwrap().status();
        assert!(status.is_client_error(), "{body}: {status}");
    }
    let deep = "[".repeat(100_000).leak();
    assert!(post(deep).await.unwrap().status().is_client_error());
    let large = format!("\"{}\"", "x".repeat(5 << 20)).leak();
    assert_eq!(post(large).await.unwrap().status(), 413);
    let client = Client::new(&server, "/mcp", Era::Current).await;
    assert!(client.tools().await.contains(&"list_sessions".to_owned()));
    let unknown = client.ask("no/such", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn a_client_that_greets_without_end_costs_no_more_than_one_that_greets_once() {
    let server = TestServer::start().await;
    let alive = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let client = Client::new(&server, "/mcp", Era::Older).await;
    client.tools().await;
    let before = alive();
    for _ in 0..50 {
        client.notify("notifications/initialized").await;
    }
    client.tools().await;
    assert!(alive() < before + 10, "{} then {}", before, alive());
    let (mut sessions, before) = (Vec::new(), alive());
    for _ in 0..20 {
        sessions.push(Client::new(&server, "/mcp", Era::Older).await);
    }
    for session in &sessions {
        session.end().await;
    }
    for _ in 0..500 {
        if alive() <= before + 5 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{} then {}", before, alive());
}

#[tokio::test]
async fn one_sender_with_hundreds_of_sessions_does_not_lock_out_others() {
    let server = TestServer::with(|config| config.limits.request_burst = 2000).await;
    let greedy = key(&server, json!(["gangway/*"])).await;
    let greet = |key: &str, name: &str| {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": name, "version": "1" },
        } });
        let request = server.http.post(server.url("/mcp")).json(&hello);
        let request = request.header("accept", "application/json, text/event-stream");
        request.bearer_auth(key).send()
    };
    let mut last = None;
    for _ in 0..250 {
        let greeted = greet(&greedy, "x").await.unwrap();
        assert_eq!(greeted.status(), 200);
        last = greeted.headers().get("mcp-session-id").cloned();
    }
    assert_eq!(greet(&greedy, "x").await.unwrap().status(), 503);
    // Clients of the current revision hold none, and others have their own.
    let client = Client::with_key(&server, "/mcp", Era::Current, Some(&greedy)).await;
    assert!(client.tools().await.contains(&"list_sessions".to_owned()));
    let other = Client::new(&server, "/mcp", Era::Older).await;
    assert!(other.tools().await.contains(&"list_sessions".to_owned()));
    let wordy = greet("local-token", &"x".repeat(100_000)).await.unwrap();
    assert_eq!(wordy.status(), 413);
    // A session that has ended makes room.
    let end = server.http.delete(server.url("/mcp")).bearer_auth(&greedy);
    let ended = end.header("mcp-session-id", last.unwrap()).send().await;
    assert!(ended.unwrap().status().is_success());
    assert_eq!(greet(&greedy, "x").await.unwrap().status(), 200);
    assert_eq!(greet(&greedy, "x").await.unwrap().status(), 503);
}
