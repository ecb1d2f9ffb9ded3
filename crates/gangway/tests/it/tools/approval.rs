//! Who may answer before the chat's agent calls a tool.

use gangway_testing::webagent_client::{calls, end, says};
use serde_json::json;

use super::with_memory;
use crate::{
    providers::fake::Fake,
    support::{Frame, SseReader, TestServer},
};

/// A model that calls a tool of the memory server, and says "Done." once it has a result.
async fn model() -> String {
    let arguments =
        json!({ "entities": [{ "name": "Ada0", "entityType": "person", "observations": [] }] });
    let call = ("memory__create_entities", arguments.to_string());
    let asks = calls(&[(call.0, &call.1)]);
    let model =
        Fake::streams(&[&asks]).when("tool_call_id", Fake::streams(&[&says("Done."), &end()]));
    let base = model.start().await;
    format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}")
}

async fn server() -> TestServer {
    let parsed = gangway::config::Config::parse(&model().await).unwrap();
    with_memory(|config| {
        config.providers = parsed.providers;
        config.default_agent = "builtin".into();
    })
    .await
}

/// A chat in which the agent is about to call the tool.
async fn asking(server: &TestServer) -> (String, SseReader) {
    let session = server.session().await;
    let stream = server.send_message(&session, "Remember Ada").await;
    let reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    (session, reader)
}

fn results(frames: &[Frame]) -> Vec<bool> {
    let done = frames
        .iter()
        .filter(|frame| frame.event == "tool.execution_complete");
    done.map(|frame| frame.data["success"] == true).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_for_chats_allows_a_call_but_not_every_call_for_good() {
    let server = server().await;
    let request = json!({ "name": "chat", "scopes": ["chat"] });
    let (_, key) = server.post("/api/keys", request).await;
    let key = key["key"].as_str().unwrap();
    let (session, mut reader) = asking(&server).await;
    let asked = reader.until("session.question").await;
    for (text, status) in [
        ("Always allow", 403),
        ("Never allow", 403),
        ("Allow once", 204),
    ] {
        let body = json!({ "questionId": asked.data["questionId"], "answer": text });
        let path = server.url(&format!("/api/sessions/{session}/answers"));
        let sent = server.bare.post(path).bearer_auth(key).json(&body).send();
        assert_eq!(sent.await.unwrap().status(), status, "{text}");
    }
    assert_eq!(results(&reader.rest().await), [true]);
}
