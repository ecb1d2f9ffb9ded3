//! Agents with other backends than the built-in loop: one on the official library of the Agent Client Protocol, and a
//! program for terminals.

use std::path::Path;

use gangway::config::Config;
use gangway_remote::config::BackendConfig;
use serde_json::json;

use super::{
    TestAgent, Yard, create_request, model::Model, process::Dock, processes, runner::acp::agent,
    tmux_sessions,
};
use crate::support::eventually;

pub fn backend(
    acp: Option<Vec<String>>,
    terminal: Option<Vec<String>>,
) -> impl FnOnce(&mut Config) {
    |config| {
        let backend = BackendConfig {
            acp,
            terminal,
            env: [].into(),
            prompt: None,
            quiet_ms: 100,
        };
        config
            .remote_agents
            .backends
            .insert("other".into(), backend);
        config.projects.get_mut("shop").unwrap().backend = Some("other".into());
        config.remote_agents.creation_timeout_seconds = 2;
    }
}

async fn speaking(arguments: &[&str]) -> Yard {
    let command = [agent()].into_iter();
    let command = command.chain(arguments.iter().map(|one| (*one).to_owned()));
    let acp = backend(Some(command.collect()), None);
    Yard::with(Model::says(&["Not asked."]), acp).await
}

/// Processes of the agent itself, which all have this word on their command line.
fn of_agent(word: &str) -> usize {
    processes(Path::new(word)).len()
}

/// Scenario: agent creation timeout, by a backend that never answers.
#[tokio::test]
async fn a_backend_that_hangs_before_it_is_ready_leaves_nothing() {
    let seconds = format!("8{}", std::process::id());
    for arguments in [
        vec!["--silent", &seconds],
        vec!["--silent", &seconds, "--child=8"],
    ] {
        let remote = speaking(&arguments).await;
        let before = remote.stock();
        let (status, error) = remote.create(create_request("echo hi")).await;
        assert_eq!(
            (status, &error["error_code"], &error["retryable"]),
            (408, &json!("agent_creation_timeout"), &json!(true))
        );
        remote.back_to(&before).await;
        eventually(|| async { (of_agent(&seconds) == 0).then_some(()) }).await;
    }
    let remote = speaking(&["--die"]).await;
    let before = remote.stock();
    let (status, error) = remote.create(create_request("echo hi")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (500, &json!("server_error"))
    );
    remote.back_to(&before).await;
}

#[tokio::test]
async fn the_first_start_of_an_agent_that_npx_fetches_is_not_bound_by_the_creation_timeout() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    for (name, status) in [("npx", 201), ("other", 408)] {
        // It downloads for longer than other agents may take to be ready.
        let program = folder.path().join(name);
        let script = format!("#!/bin/sh\nsleep 1.2\nexec {}\n", agent());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let command = vec![program.to_str().unwrap().to_owned()];
        let remote = Yard::with(Model::says(&["Not asked."]), |config| {
            backend(Some(command), None)(config);
            config.remote_agents.creation_timeout_seconds = 1;
        });
        let (answered, body) = remote.await.create(create_request("echo hi")).await;
        assert_eq!(answered, status, "{name}: {body}");
    }
}

/// Scenario: agent is alive, and waits for an answer; the server is killed while it does.
#[tokio::test]
async fn a_question_is_answered_with_the_token_also_after_a_crash() {
    let mut dock = Dock::new(
        Model::says(&["Not asked."]),
        json!({
            "backends": { "other": { "acp": [agent()] } },
        }),
    )
    .await;
    dock.set(
        "projects",
        json!({ "shop": { "folder": dock.shop(), "backend": "other" } }),
    );
    dock.start().await;
    let made = dock.agent("ask").await;
    dock.until_state(&made, "awaiting_input").await;
    dock.crash().await;
    assert_eq!(dock.alive(&made).await["state"], "awaiting_input");
    let (_, history) = dock.get(&made, "history").await;
    let entries = history["entries"].as_array().unwrap();
    let question = entries
        .iter()
        .find(|line| line["role"] == "question")
        .unwrap();
    assert_eq!(question["options"], json!(["Allow", "Reject"]));
    let answer = json!({ "question_id": question["questionId"], "answer": "Reject" });
    let (status, message) = dock.post(&made, "answer", answer).await;
    assert_eq!(status, 200, "{message}");
    dock.until_state(&made, "complete").await;
    assert_eq!(dock.answers(&made).await.concat(), "chosen n");
    assert_eq!(dock.model.asked().len(), 0);
}

#[tokio::test]
async fn an_agent_that_crashes_or_is_stuck_ends_without_a_trace() {
    let word = format!("--word={}", std::process::id());
    let remote = speaking(&[&word]).await;
    let stuck = remote.agent("stuck").await;
    assert!(of_agent(&word) >= 1);
    assert_eq!(remote.alive(&stuck).await["state"], "processing");
    remote.post(&stuck, "shutdown", json!({})).await;
    eventually(|| async { (of_agent(&word) == 0).then_some(()) }).await;
    eventually(|| async { tmux_sessions(remote.data()).is_empty().then_some(()) }).await;
    // If it crashes, its turn fails with the reason.
    let made: TestAgent = remote.agent("echo hi").await;
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.answers(&made).await.concat(), "hi");
    remote
        .post(&made, "messages", json!({ "text": "crash" }))
        .await;
    eventually(|| async {
        let (_, history) = remote.get(&made, "history").await;
        let lines = history["entries"].as_array().unwrap();
        lines
            .iter()
            .any(|line| line["role"] == "error")
            .then_some(())
    })
    .await;
    remote.post(&made, "shutdown", json!({})).await;
    eventually(|| async { (of_agent(&word) == 0).then_some(()) }).await;
}

#[tokio::test]
async fn a_terminal_program_is_an_agent_too() {
    let script = "while read line; do case $line in *Bell*) printf '\\007\\033[2J\\033]0;t\\007';; esac; echo \"Heard: $line\"; touch here; done";
    let command = ["sh", "-c", script].map(str::to_owned).into();
    let terminal = backend(None, Some(command));
    let remote = Yard::with(Model::says(&["Not asked."]), |config| {
        terminal(config);
        // A folder whose name would be a command to tmux.
        let shop = config.projects.get_mut("shop").unwrap();
        shop.folder.push("#(touch run) #S;");
        std::fs::create_dir(&shop.folder).unwrap();
    })
    .await;
    let before = remote.stock();
    let made = remote.agent("Hello there.").await;
    remote.until_state(&made, "complete").await;
    let message = remote.answers(&made).await.concat();
    assert!(
        message.contains("Heard: ") && message.contains("Hello there."),
        "{message}"
    );
    let folder = remote.shop().join("#(touch run) #S;");
    assert!(folder.join("here").exists());
    assert_eq!(std::fs::read_dir(remote.shop()).unwrap().count(), 1);
    // What it prints beside text is not text.
    remote
        .post(&made, "messages", json!({ "text": "Bell" }))
        .await;
    eventually(|| async { (remote.answers(&made).await.len() > 1).then_some(()) }).await;
    let message = remote.answers(&made).await.concat();
    assert!(!message.contains(['\u{7}', '\u{1b}']), "{message:?}");
    remote.post(&made, "shutdown", json!({})).await;
    remote.until_ended(&made).await;
    eventually(|| async { (remote.stock().tmux() == before.tmux()).then_some(()) }).await;
}
