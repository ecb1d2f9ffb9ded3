//! OpenAI's own Python client on the OpenAI door, with a model server of the test's own and with a real model.

use std::path::PathBuf;

use serde_json::json;

use super::{event, says};
use crate::{
    providers::fake::Fake,
    support::{TestServer, test_weights},
};

/// A Python that has the client. A test that needs it cannot do without.
fn python() -> PathBuf {
    let usual = "../../target/openai-python/bin/python";
    let usual = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(usual);
    let python = std::env::var_os("GANGWAY_OPENAI_PYTHON").map_or(usual, PathBuf::from);
    assert!(
        python.exists(),
        "there is no Python with OpenAI's client at {}: run `scripts/setup.sh openai-python`",
        python.display()
    );
    python
}

/// Takes every step of the script as a program with a key of its own.
async fn steps(server: &TestServer, model: &str, kind: &str, expected: usize) {
    let (_, key) = server
        .post(
            "/api/keys",
            json!({ "name": "script", "scopes": ["models"] }),
        )
        .await;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients/openai_client.py");
    let mut command = tokio::process::Command::new(python());
    command
        .arg(script)
        .args([&server.url("/v1"), key["key"].as_str().unwrap()])
        .args([model, kind])
        // What the person who tests has set is not part of the test.
        .env_clear()
        .env("NO_PROXY", "*");
    let output = command.output().await.unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && said.contains(&format!(": {expected} passed, 0 failed")),
        "{said}{wrong}"
    );
}

/// A model server that does what the last words of the person ask for.
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
    let server = TestServer::with_model(&upstream().start().await, Some("sk-upstream")).await;
    steps(&server, "openai/big", "fake", 14).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openais_python_client_can_do_everything_on_a_model_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = folder.path().join("models");
    std::fs::create_dir_all(&shelf).unwrap();
    std::os::unix::fs::symlink(test_weights(), shelf.join("small.gguf")).unwrap();
    let server = TestServer::in_folder(folder, |_| {}).await;
    steps(&server, "embedded/small", "real", 11).await;
}
