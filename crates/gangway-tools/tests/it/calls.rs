//! Tools: real MCP servers behind the API and the built-in agent.

use gangway_testing::{fake::Fake, server::bare_client};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{TestServer, with_memory};

fn event(value: Value) -> String {
    format!("data: {value}\n\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_real_server_are_listed_called_and_found_by_a_sentence() {
    let server = with_memory(|_| {}).await;
    let (_, list) = server.get("/api/mcp/servers").await;
    let memory = &list["servers"][0];
    assert_eq!(
        (&memory["id"], &memory["state"], &memory["fromConfig"]),
        (&json!("memory"), &json!("ready"), &json!(true))
    );
    let (_, tools) = server.get("/api/tools").await;
    let names: Vec<_> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert!(
        names.contains(&&json!("memory/create_entities")),
        "{names:?}"
    );

    let entities =
        json!([{ "name": "Ada", "entityType": "person", "observations": ["likes ships"] }]);
    let call = json!({ "tool": "memory/create_entities", "args": { "entities": entities } });
    let (status, answer) = server.post("/api/tools/call", call).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"].to_string().contains("Ada"), "{answer}");

    for (call, status, code) in [
        (
            json!({ "tool": "memory/create_entities", "args": { "entities": 7 } }),
            400,
            "ERR_TOOL_FAILED",
        ),
        (json!({ "tool": "memory/none" }), 404, "ERR_TOOL_NOT_FOUND"),
        (json!({ "tool": "none/none" }), 404, "ERR_TOOL_NOT_FOUND"),
        (json!({ "tool": "none" }), 400, "invalid_request"),
    ] {
        let (found, answer) = server.post("/api/tools/call", call).await;
        assert_eq!(
            (found.as_u16(), &answer["error_code"]),
            (status, &json!(code)),
            "{answer}"
        );
    }

    let (_, route) = server
        .post("/api/tools/route", json!({ "sentence": "Remember this" }))
        .await;
    assert_eq!(route["servers"], json!({ "memory": ["remember"] }));
    let (_, logs) = server.get("/api/mcp/servers/memory/logs").await;
    assert!(!logs["lines"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_builtin_agent_calls_a_tool_and_passes_the_result_to_the_model() {
    let call = json!({ "index": 0, "id": "c1", "function": { "name": "memory__read_graph", "arguments": "{}" } });
    let asks = event(
        json!({ "choices": [{ "delta": { "tool_calls": [call] }, "finish_reason": "tool_calls" }] }),
    );
    let says = event(
        json!({ "choices": [{ "delta": { "content": "Nothing yet." }, "finish_reason": "stop" }] }),
    );
    let model = Fake::streams(&[&says]).first_says(&[&asks]);
    let base = model.start().await;
    let server = with_memory(|config| config.model = Some(base)).await;
    let session = server.session().await;
    let feed = server.feed(&session).await;
    server.send_message(&session, "What do you remember?").await;
    let frames = feed.rest().await;
    let of = |name: &str| {
        frames
            .iter()
            .find(|frame| frame["type"] == name)
            .unwrap_or_else(|| panic!("{name}: {frames:?}"))
    };
    assert_eq!(of("tool.execution_start")["tool"], "memory/read_graph");
    assert_eq!(of("tool.execution_complete")["success"], true);
    assert_eq!(of("assistant.message")["content"], "Nothing yet.");
    let asked = model.asked();
    let offered: Vec<_> = asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert!(
        offered.contains(&&json!("memory__read_graph")),
        "{offered:?}"
    );
    let last = asked[1]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["role"], &last["tool_call_id"]),
        (&json!("tool"), &json!("c1"))
    );
}

#[tokio::test]
async fn adding_a_server_requires_a_key_since_it_starts_a_program() {
    let server = TestServer::start().await;
    let body = json!({ "mcpServers": { "x": { "command": "true" } } });
    let request = bare_client().post(server.url("/api/mcp/servers"));
    let refused = request.json(&body).send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let add = |body: Value| {
        let request = server.http.post(server.url("/api/mcp/servers"));
        request.bearer_auth("local-token").json(&body).send()
    };
    assert_eq!(add(body.clone()).await.unwrap().status(), 201);
    assert_eq!(add(body).await.unwrap().status(), 409);
    for wrong in [
        json!({ "mcpServers": { "A b": { "command": "x" } } }),
        json!({ "mcpServers": { "a": {} } }),
        json!({ "mcpServers": { "a": { "url": "file:///etc/passwd" } } }),
    ] {
        assert_eq!(add(wrong).await.unwrap().status(), 400);
    }
    let gone = server
        .http
        .delete(server.url("/api/mcp/servers/x"))
        .bearer_auth("local-token");
    assert_eq!(gone.send().await.unwrap().status(), 204);
    let (status, _) = server
        .call(Method::GET, "/api/mcp/servers/x/logs", None)
        .await;
    assert_eq!(status, 404);
}
