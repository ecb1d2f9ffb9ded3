//! An agent on the official library of the Agent Client Protocol, behind the real binary.

use gangway_runner::wire::Backend;
use gangway_testing::runner::Server;
use serde_json::{Value, json};

use super::{Runner, settings, setup};
use crate::support::eventually;

/// The command of an agent that speaks the protocol; cargo builds it with the workspace.
pub fn agent() -> String {
    let own = std::env::current_exe().unwrap();
    let program = own.ancestors().nth(2).unwrap().join("examples/acp_agent");
    assert!(
        program.exists(),
        "{} is missing: run `cargo build -p gangway-runner --examples`",
        program.display()
    );
    program.to_str().unwrap().to_owned()
}

fn backend(arguments: &[&str]) -> Backend {
    let mut command = vec![agent()];
    command.extend(arguments.iter().map(|one| (*one).to_owned()));
    let env = Default::default();
    Backend::Acp { command, env }
}

fn processes(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let has = |line: &Vec<u8>| {
        line.split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes())
    };
    lines.filter(has).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_an_agent_whose_runner_was_killed() {
    let server = Server::start();
    let mut runner = Runner::start(&server);
    let seconds = format!("7{}", std::process::id());
    let backend = backend(&[&format!("--child={seconds}")]);
    let setup = setup(&server, backend, &settings(None, &server.data()));
    let mut connection = server.ready_as(setup).await;
    assert_eq!(connection.ask(1, "echo hello").await, "hello");
    eventually(|| async { (processes(&seconds) == 1).then_some(()) }).await;
    runner.0.kill().unwrap();
    eventually(|| async { (processes(&seconds) == 0).then_some(()) }).await;
    let own = format!("--child={seconds}");
    eventually(|| async { (processes(&own) == 0).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_gets_the_servers_of_the_project_and_no_others() {
    let mut settings = settings(None, std::path::Path::new("/nowhere"));
    for name in ["files", "private"] {
        let entry = json!({ "command": "sh", "args": ["-c", name], "env": { "KEY": "v" } });
        let entry = serde_json::from_value(entry).unwrap();
        settings.config.mcp_servers.insert(name.into(), entry);
    }
    for (wanted, known) in [(Some(vec!["files".to_owned()]), 1), (None, 0)] {
        let server = Server::start();
        let _runner = Runner::start(&server);
        settings.data = server.data();
        let mut setup = setup(&server, backend(&[]), &settings);
        setup.mcp_servers = wanted;
        let mut connection = server.ready_as(setup).await;
        let answer = connection.ask(1, "servers").await;
        let mut lines: Vec<Value> = serde_json::from_str(&answer).unwrap();
        // The last one has the tools of open pages.
        assert_eq!(lines.pop().unwrap()["name"], "pages");
        assert_eq!(lines.len(), known, "{lines:?}");
        for one in lines {
            assert_eq!(
                (&one["name"], &one["args"][1], &one["env"][0]["value"]),
                (&json!("files"), &json!("files"), &json!("v"))
            );
            assert!(one["command"].as_str().unwrap().ends_with("/sh"));
        }
    }
}
