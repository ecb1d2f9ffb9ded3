//! OpenAI's own Python client.

use std::path::PathBuf;

use crate::server::Client;

/// A Python with the client, which its tests require.
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

/// Runs every step of the script as a program with its own key.
pub async fn steps(server: &Client, key: &str, model: &str, kind: &str, expected: usize) {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients/openai_client.py");
    let mut command = tokio::process::Command::new(python());
    command
        .arg(script)
        .args([&server.url("/v1"), key])
        .args([model, kind])
        // Settings of the developer must not affect the test.
        .env_clear()
        .env("NO_PROXY", "*");
    let output = command.output().await.unwrap();
    let (message, wrong) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && message.contains(&format!(": {expected} passed, 0 failed")),
        "{message}{wrong}"
    );
}
