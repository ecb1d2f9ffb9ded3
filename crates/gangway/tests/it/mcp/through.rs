//! The person's servers, through Gangway.

use serde_json::json;

use super::client::{Client, Era};
use crate::tools::with_memory;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_the_users_servers_are_there_for_every_client() {
    let server = with_memory(|_| {}).await;
    for (n, era) in [Era::Older, Era::Current].into_iter().enumerate() {
        let client = Client::new(&server, "/mcp", era).await;
        let tools = client.tools().await;
        assert!(
            tools.contains(&"memory__create_entities".to_owned()),
            "{tools:?}"
        );
        assert!(tools.contains(&"set_applet_state".to_owned()), "{tools:?}");
        let ada =
            json!([{ "name": format!("Ada{n}"), "entityType": "person", "observations": [] }]);
        let created = client
            .call("memory__create_entities", json!({ "entities": ada }))
            .await
            .unwrap();
        assert!(
            created.to_string().contains(&format!("Ada{n}")),
            "{created}"
        );
        let message = client
            .call("memory__create_entities", json!({ "entities": 7 }))
            .await
            .unwrap_err();
        assert!(message.contains("/entities"), "{message}");
        let message = client.call("memory__nothing", json!({})).await.unwrap_err();
        assert!(message.contains("no tool"), "{message}");

        let alone = Client::new(&server, "/mcp/memory", era).await;
        let tools = alone.tools().await;
        assert!(tools.contains(&"read_graph".to_owned()), "{tools:?}");
        assert!(
            !tools.iter().any(|tool| tool.contains("applet")),
            "{tools:?}"
        );
        let graph = alone.call("read_graph", json!({})).await.unwrap();
        assert!(graph.to_string().contains(&format!("Ada{n}")), "{graph}");
        let message = alone.call("set_applet_state", json!({ "data": {} })).await;
        let message = message.unwrap_err();
        assert!(message.contains("set_applet_state"), "{message}");

        let nowhere = Client::new(&server, "/mcp/nobody", era).await;
        let answer = nowhere.ask("tools/list", json!({})).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("no server \"nobody\""), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_is_too_large_is_read_on_in_parts() {
    let server = with_memory(|config| config.tools.result_bytes = 200).await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let ada = json!([{ "name": "Ada", "entityType": "person", "observations": ["é".repeat(500)] }]);
    let ada = json!({ "entities": ada });
    // A client that was promised data gets no other data, but an error with what to do.
    let cut = client
        .call("memory__create_entities", ada)
        .await
        .unwrap_err();
    let cut: serde_json::Value = serde_json::from_str(&cut).unwrap();
    let mut text = cut["text"].as_str().unwrap().to_owned();
    let mut next = cut["nextOffset"].clone();
    while !next.is_null() {
        let on = json!({ "handle": cut["handle"], "offset": next });
        let rest = client.call("read_result", on).await.unwrap();
        text += rest["text"].as_str().unwrap();
        next = rest["nextOffset"].clone();
    }
    assert_eq!(text.matches('é').count(), 500);
    // Over HTTP it is read in the same way, by the caller who got the beginning.
    let on = json!({ "handle": cut["handle"], "offset": 0 });
    let on = json!({ "tool": "gangway/read_result", "args": on });
    let (status, rest) = server.post("/api/tools/call", on.clone()).await;
    assert_eq!(
        (status.as_u16(), &rest["result"]["text"]),
        (200, &cut["text"])
    );
    let body = json!({ "name": "other", "scopes": ["tools:memory/*"] });
    let (_, other) = server.post("/api/keys", body).await;
    let request = server.http.post(server.url("/api/tools/call"));
    let request = request.bearer_auth(other["key"].as_str().unwrap());
    let refused = request.json(&on).send().await.unwrap();
    assert_eq!(refused.status(), 502);
    let gone = json!({ "handle": "rest-99", "offset": 0 });
    let message = client.call("read_result", gone).await.unwrap_err();
    assert!(message.contains("no longer available"), "{message}");
}
