//! OpenAI's own Python client with a fake model server.

use gangway_testing::{fake::Fake, openai_client::steps};
use serde_json::json;

use super::{event, says, server};

/// A model server that follows the user's last message.
fn upstream() -> Fake {
    let text = |text: &str| event(json!({ "choices": [{ "delta": { "content": text } }] }));
    let call = json!({ "index": 0, "id": "call_1", "type": "function",
        "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } });
    let calls = Fake::streams(&[
        &event(json!({ "choices": [{ "delta": { "tool_calls": [call] } }] })),
        &event(json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })),
    ]);
    let busy = json!({ "error": { "message": "slow down" } }).to_string();
    let broken = event(json!({ "error": { "message": "the cat sat on the GPU" } }));
    let list = json!({ "data": [{ "id": "big" }] }).to_string();
    says(&["Par", "is"])
        .when("", Fake::answers(200, &[], &list))
        .when("21 degrees", says(&["It is ", "21 degrees."]))
        .when("\"tool_choice\":\"required\"", calls)
        .when("\"json_schema\"", says(&["{\"name\":", "\"Paris\"}"]))
        .when(
            "too many",
            Fake::answers(429, &[("retry-after", "9")], &busy),
        )
        .when("break", Fake::answers(500, &[], "oops"))
        .when(
            "stop in the middle",
            Fake::streams(&[&text("Half an"), &broken]),
        )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openais_python_client_can_do_everything_on_a_remote_model() {
    let server = server(&upstream()).await;
    let key = server.key("models").await;
    steps(&server, &key.key, "openai/big", "fake", 14).await;
}
