//! Misbehaving engines, played by scripts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops at the first thing that is not as it should be"
)]

use std::{os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use futures_util::StreamExt as _;
use gangway_embedded::{Embedded, Program, Settings, Status, wire::WINDOW};
use gangway_models::{
    ChatRequest, Failure, Message, ModelError, Provider as _, weights::WeightsStore,
};
use tempfile::TempDir;

const READY: &str = r#"echo '{"type":"ready","version":1}'; read settings; read request;"#;

/// Answers of an engine that is this script, with one file of weights.
struct Bench {
    _folder: TempDir,
    models: Embedded,
}

impl Bench {
    fn new(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("small.gguf"), "weights").unwrap();
        let program = folder.path().join("engine");
        write_script(&program, &format!("#!/bin/sh\n{script}\n"));
        let store = WeightsStore::new(folder.path());
        Self {
            models: Embedded::new(store, Settings::default(), Program::new(program)),
            _folder: folder,
        }
    }

    async fn ask(&self) -> Result<usize, ModelError> {
        let mut chunks = self.models.chat(hello()).await?;
        let mut count = 0;
        while let Some(chunk) = chunks.next().await {
            chunk?;
            count += 1;
        }
        Ok(count)
    }
}

fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User("Hello!".to_owned())],
        ..ChatRequest::default()
    }
}

/// In a separate process: a file that this process has open for writing while another thread forks cannot be executed.
fn write_script(path: &Path, text: &str) {
    let written = std::process::Command::new("sh")
        .args(["-c", "printf '%s' \"$1\" > \"$0\""])
        .arg(path)
        .arg(text)
        .status();
    assert!(written.unwrap().success());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
}

async fn failure(script: &str) -> ModelError {
    Bench::new(script).ask().await.unwrap_err()
}

#[tokio::test]
async fn an_engine_of_another_version_is_refused_with_what_to_do() {
    let error = failure("echo '{\"type\":\"ready\",\"version\":999}'; cat > /dev/null").await;
    assert!(error.message.contains("protocol version 999"), "{error}");
    assert!(error.message.contains("from the same build"), "{error}");
}

#[tokio::test]
async fn an_engine_that_ends_or_sends_nonsense_is_an_error_with_its_last_output() {
    for (script, text) in [
        ("exit 0", "exit status: 0"),
        ("echo 'no such library' >&2; exit 127", "no such library"),
        ("echo nonsense; cat > /dev/null", "invalid message"),
        (
            "echo /build/of/it/main.cpp:7: 'GGML_ASSERT(sane) failed' >&2; kill -ABRT $$",
            "stopped: main.cpp:7: GGML_ASSERT(sane) failed",
        ),
    ] {
        let error = failure(script).await;
        assert_eq!(error.failure, Failure::Failed);
        assert!(error.message.contains(text), "{error}");
    }
}

#[tokio::test]
async fn an_engine_that_dies_in_the_middle_of_an_answer_is_an_error_with_its_last_output() {
    let begun =
        r#"echo '{"type":"begun","id":1}'; echo '{"type":"chunk","id":1,"chunk":{"Text":"a"}}';"#;
    let error = failure(&format!("{READY}{begun} echo 'out of luck' >&2; exit 1")).await;
    assert_eq!(
        error.message,
        "The engine stopped during the answer: out of luck. Try again; it restarts automatically."
    );
}

#[tokio::test]
async fn an_engine_that_sends_more_than_the_window_loses_that_answer() {
    let chunk = r#"echo '{"type":"chunk","id":1,"chunk":{"Text":"a"}}'"#;
    let status = serde_json::to_string(&Status {
        generated_tokens: 500,
        ..Status::default()
    });
    let flood = format!(
        r#"{READY} echo '{{"type":"begun","id":1}}'
        i=0; while [ $i -lt 500 ]; do {chunk}; i=$((i+1)); done
        echo '{{"type":"status","status":{}}}'; cat > /dev/null"#,
        status.unwrap()
    );
    let bench = Bench::new(&flood);
    let mut chunks = bench.models.chat(hello()).await.unwrap();
    while bench.models.status().generated_tokens < 500 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut count = 0;
    let error = loop {
        match chunks.next().await.unwrap() {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(count <= WINDOW + 2, "{count} chunks were kept");
    assert!(
        error.message.contains("exceeded the flow control window"),
        "{error}"
    );
}

#[tokio::test]
async fn without_a_program_nothing_is_started_and_the_reason_is_reported() {
    let folder = TempDir::new().unwrap();
    let program = Program::beside(&folder.path().join("gangway"));
    let models = Embedded::new(
        WeightsStore::new(folder.path()),
        Settings::default(),
        program,
    );
    let error = models.models().await.unwrap_err();
    assert_eq!(error.failure, Failure::Unavailable);
    assert!(error.message.contains("not installed"), "{error}");
}
