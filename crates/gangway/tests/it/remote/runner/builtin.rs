//! The built-in loop in a process of its own, with a model on its real wire and real MCP servers.

use gangway_core::Usage;
use gangway_runner::wire::{Backend, ToRunner, TurnEvent};
use gangway_testing::{
    mcp_servers::installed,
    runner::{Server, text_of},
};
use serde_json::json;

use super::{Runner, settings, setup, streamed};
use crate::{providers::fake::Fake, support::eventually};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_answers_with_the_persona_above_the_conversation() {
    let chunks = streamed(&["Good ", "day"]);
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let model = Fake::streams(&chunks);
    let base = model.start().await;
    let server = Server::start();
    let mut runner = Runner::start(&server);
    let mut settings = settings(Some(&base), &server.data());
    settings
        .access
        .keys
        .insert("OPENAI_API_KEY".into(), "sk-test".into());
    let mut connection = server
        .ready_as(setup(&server, Backend::Builtin, &settings))
        .await;
    connection.prompt(1, "Hello").await;
    let all = connection.turn(1).await;
    assert_eq!(text_of(&all), "Good day");
    let used = TurnEvent::Context {
        used: 42,
        window: None,
    };
    assert!(all.contains(&used), "{all:?}");
    let usage = Some(Usage {
        input_tokens: 40,
        output_tokens: 2,
    });
    assert_eq!(all.last(), Some(&TurnEvent::Done { usage }));
    let asked: Vec<_> = model
        .asked()
        .into_iter()
        .filter(|one| one["messages"].is_array())
        .collect();
    let persona = asked[0]["messages"][0]["content"].as_str().unwrap();
    assert!(persona.starts_with("You help."), "{persona}");
    assert_eq!(
        asked[0]["messages"][1],
        json!({ "role": "user", "content": "Hello" })
    );
    assert_eq!(model.bearers()[0], "Bearer sk-test");
    connection.send(ToRunner::End).await;
    assert!(runner.ended().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mcp_servers_run_in_the_projects_folder_and_end_with_the_agent() {
    let event = |value: serde_json::Value| format!("data: {value}\n\n");
    let call = json!({ "index": 0, "id": "c1", "function": { "name": "files__list_allowed_directories", "arguments": "{}" } });
    let asks = event(
        json!({ "choices": [{ "delta": { "tool_calls": [call] }, "finish_reason": "tool_calls" }] }),
    );
    let says = streamed(&["Listed."]).concat();
    let model = Fake::streams(&[&says]).first_says(&[&asks]);
    let base = model.start().await;
    let server = Server::start();
    let mut runner = Runner::start(&server);
    let mut settings = settings(Some(&base), &server.data());
    let mut entry = installed("filesystem");
    entry["args"] = json!(["."]);
    for name in ["files", "unwanted"] {
        let entry = serde_json::from_value(entry.clone()).unwrap();
        settings.config.mcp_servers.insert(name.into(), entry);
    }
    let mut setup = setup(&server, Backend::Builtin, &settings);
    setup.mcp_servers = Some(vec!["files".into(), "unheard-of".into()]);
    let mut connection = server.ready_as(setup).await;
    connection
        .prompt(1, "Which files and folders are there?")
        .await;
    let all = connection.turn(1).await;
    let result = all.iter().find_map(|what| match what {
        TurnEvent::Result { tool, result, .. } => Some((tool.as_str(), result.as_ref().unwrap())),
        _ => None,
    });
    let (tool, result) = result.unwrap_or_else(|| panic!("{all:?}"));
    assert_eq!(tool, "files/list_allowed_directories");
    let folder = server.project();
    assert!(
        result.to_string().contains(folder.to_str().unwrap()),
        "{result}"
    );
    assert_eq!(text_of(&all), "Listed.");
    let started = in_folder(&folder);
    assert!(started > 0, "its server runs there");
    connection.send(ToRunner::End).await;
    assert!(runner.ended().await);
    eventually(|| async { (in_folder(&folder) == 0).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_that_names_no_mcp_servers_gives_its_agents_none() {
    let says = streamed(&["Hello."]).concat();
    let model = Fake::streams(&[&says]);
    let base = model.start().await;
    let server = Server::start();
    let _runner = Runner::start(&server);
    let mut settings = settings(Some(&base), &server.data());
    let entry = serde_json::from_value(installed("filesystem")).unwrap();
    settings.config.mcp_servers.insert("files".into(), entry);
    let mut setup = setup(&server, Backend::Builtin, &settings);
    setup.mcp_servers = None;
    let mut connection = server.ready_as(setup).await;
    connection.prompt(1, "Which files are there?").await;
    assert_eq!(text_of(&connection.turn(1).await), "Hello.");
    let asked = model.asked();
    let asked = asked.iter().find(|one| one["messages"].is_array()).unwrap();
    assert!(asked["tools"].is_null(), "{asked}");
}

/// How many processes have this as their folder.
fn in_folder(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let there = entries.filter(|entry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
    });
    there.count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_it_says_what_to_do() {
    let server = Server::start();
    let _runner = Runner::start(&server);
    let setup = setup(&server, Backend::Builtin, &settings(None, &server.data()));
    let mut connection = server.ready_as(setup).await;
    connection.prompt(1, "Hello").await;
    let all = connection.turn(1).await;
    match all.last() {
        Some(TurnEvent::Failed { code, message, .. }) => {
            assert_eq!(code, "no_model", "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_without_its_ticket_or_its_place_ends() {
    let server = Server::start();
    let mut runner = Runner::start(&server);
    let setup = setup(&server, Backend::Builtin, &settings(None, &server.data()));
    let connection = server.ready_as(setup).await;
    std::fs::remove_file(&server.ticket).unwrap();
    drop(connection);
    assert!(!runner.ended().await);
    assert!(
        !Runner::start(&server).ended().await,
        "there is no ticket to begin with"
    );
}
