//! Connections of MCP clients: how much each may do at once, how they begin and how they end.

use std::time::Duration;

use futures_util::{StreamExt, future::join_all};
use serde_json::{Value, json};

use super::client::{Client, Era};
use crate::{
    support::TestServer,
    tools::{with_everything, with_memory},
};

/// Longer than anything here takes; only a mistake waits for it.
const SOON: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_calls_at_once_are_all_answered() {
    let server = with_memory(|_| {}).await;
    for era in [Era::Older, Era::Current] {
        let client = Client::new(&server, "/mcp", era).await;
        let calls = (0..100).map(|_| client.call("memory__read_graph", json!({})));
        let failed: Vec<_> = join_all(calls)
            .await
            .into_iter()
            .filter_map(Result::err)
            .collect();
        assert!(
            failed.is_empty(),
            "{era:?}: {} failed: {failed:?}",
            failed.len()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_without_an_answer_delay_no_client() {
    let server = with_everything().await;
    let asking = Client::new(&server, "/mcp", Era::Older).await;
    let asked = (0..2).map(|_| asking.call("everything__trigger-elicitation-request", json!({})));
    let others = async {
        loop {
            let (_, list) = server.get("/api/asks").await;
            if list["asks"].as_array().is_some_and(|all| all.len() == 2) {
                break;
            }
            tokio::task::yield_now().await;
        }
        let other = Client::new(&server, "/mcp", Era::Older).await;
        for client in [&other, &asking] {
            let message = client
                .call("everything__echo", json!({ "message": "hi" }))
                .await;
            assert_eq!(message, Ok(json!("Echo: hi")));
        }
    };
    tokio::select! {
        answers = join_all(asked) => panic!("{answers:?}"),
        done = tokio::time::timeout(SOON, others) => done.unwrap(),
    }
}

/// The stream on which the server speaks of its own accord.
async fn stream(
    server: &TestServer,
    client: &Client<'_>,
    version: &str,
    key: Option<&str>,
) -> reqwest::Response {
    let mut request = server
        .http
        .get(server.url("/mcp"))
        .header("accept", "text/event-stream")
        .header("mcp-session-id", client.session())
        .header("mcp-protocol-version", version);
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    response
}

#[tokio::test]
async fn a_revoked_key_closes_the_streams_it_opened() {
    let server = TestServer::start().await;
    let request = json!({ "name": "short", "scopes": ["tools"] });
    let (_, created) = server.post("/api/keys", request).await;
    let key = created["key"].as_str().unwrap();
    let client = Client::with_key(&server, "/mcp", Era::Older, Some(key)).await;
    let response = stream(&server, &client, "2025-11-25", Some(key)).await;
    let path = format!("/api/keys/{}", created["id"].as_str().unwrap());
    server.call(reqwest::Method::DELETE, &path, None).await;
    let rest = tokio::time::timeout(SOON, response.bytes()).await;
    rest.unwrap().unwrap();
}

#[tokio::test]
async fn streams_to_older_clients_begin_with_a_message_and_sessions_end_with_204() {
    let server = TestServer::start().await;
    for (version, primed) in [("2025-06-18", false), ("2025-11-25", true)] {
        let client = Client::new(&server, "/mcp", Era::Older).await;
        let response = stream(&server, &client, version, None).await;
        let mut parts = response.bytes_stream();
        // Something to say: there are other tools.
        let name = format!("s{primed}");
        let request = json!({ "mcpServers": { name: { "url": "http://127.0.0.1:9/mcp" } } });
        server.post("/api/mcp/servers", request).await;
        let mut seen = String::new();
        while !seen.contains("list_changed") {
            let part = tokio::time::timeout(SOON, parts.next()).await.unwrap();
            seen += std::str::from_utf8(&part.unwrap().unwrap()).unwrap();
        }
        let first = seen.split("\n\n").next().unwrap();
        assert_eq!(!first.contains("data: {"), primed, "{version}: {seen}");
        assert_eq!(client.end().await, 204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completions_are_those_of_the_server() {
    let server = with_everything().await;
    for era in [Era::Older, Era::Current] {
        let client = Client::new(&server, "/mcp/everything", era).await;
        let complete = |name: &str| {
            let prompt = json!({ "type": "ref/prompt", "name": name });
            json!({ "ref": prompt, "argument": { "name": "department", "value": "S" } })
        };
        let params = complete("completable-prompt");
        let answer: Value = client.ask("completion/complete", params).await;
        let values = &answer["result"]["completion"]["values"];
        assert_eq!(*values, json!(["Sales", "Support"]), "{answer}");
        let refused = client.ask("completion/complete", complete("none")).await;
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("none"),
            "{refused}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_a_tool_that_is_not_there_comes_with_a_warning() {
    let server = with_memory(|_| {}).await;
    let scopes = [
        "memory/*",
        "memory/read_graph",
        "gangway/x",
        "*",
        "memory/nope",
        "memmory/*",
    ];
    let scopes = scopes.map(|tool| format!("tools:{tool}"));
    let request = json!({ "name": "typo", "scopes": scopes });
    let (status, created) = server.post("/api/keys", request).await;
    assert_eq!(status, 201);
    let warnings: Vec<_> = created["warnings"].as_array().unwrap().iter().collect();
    assert_eq!(warnings.len(), 2, "{created}");
    for (warning, name) in warnings.iter().zip(["memory/nope", "memmory/*"]) {
        assert!(warning.as_str().unwrap().contains(name), "{warning}");
    }
}
