//! The agents in `examples`, which others start from, against `gangway relay check --role agent`.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::Stdio,
};

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::support::Gangway;

/// The exit code, the checks that found something wrong, and all that was found.
async fn check_with<F: Future<Output = ()> + Send + 'static>(
    more: &[&str],
    agent: impl FnOnce(String) -> F,
) -> (Option<i32>, Vec<String>, Value, JoinHandle<()>) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Gangway::command(folder.path());
    command
        .args([
            "relay",
            "check",
            "ws://127.0.0.1:0/agent/ws",
            "--role",
            "agent",
            "--seconds",
            "1",
            "--json",
        ])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.split_whitespace().last().unwrap().to_owned();
    let agent = tokio::spawn(agent(url));
    let done = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        (child.wait().unwrap(), text)
    });
    let (status, text) = done.await.unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let wrong = findings
        .iter()
        .filter(|finding| finding["verdict"] == "wrong");
    let wrong = wrong.map(|finding| finding["check"].as_str().unwrap().to_owned());
    (status.code(), wrong.collect(), report.clone(), agent)
}

/// Books with one of the programs in `examples`, and says whether it did.
async fn example_books(program: &Path, arguments: &[&str]) {
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .arg("two seats for a comedy in the back")
        .kill_on_drop(true);
    let (sender, booked) = tokio::sync::oneshot::channel();
    let (code, wrong, report, _) = check_with(&["--no-drop"], |url| async move {
        let url = url.replacen("ws://", "http://", 1);
        command.env("GANGWAY_URL", url.trim_end_matches("/agent/ws"));
        let _ = sender.send(command.output().await.unwrap());
    })
    .await;
    assert_eq!((code, wrong), (Some(0), vec![]), "{report}");
    let message = String::from_utf8(booked.await.unwrap().stdout).unwrap();
    assert!(message.contains("Booked: CHECK-1"), "{message}");
    assert!(
        message.contains(r#""itemId":"m2""#) || message.contains(r#""itemId": "m2""#),
        "{message}"
    );
}

#[tokio::test]
async fn the_agent_in_rust_that_others_start_from_books_and_does_nothing_wrong() {
    let gangway = Path::new(env!("CARGO_BIN_EXE_gangway"));
    let program = gangway.with_file_name("examples").join("agent");
    assert!(
        program.exists(),
        "it is not built: cargo build -p gangway --example agent"
    );
    example_books(&program, &[]).await;
}

#[tokio::test]
async fn the_agent_in_python_that_others_start_from_books_and_does_nothing_wrong() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/python-agent/agent.py"
    );
    example_books(Path::new("python3"), &[file]).await;
}
