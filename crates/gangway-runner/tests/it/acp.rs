//! ACP agents: a real one, built with the official library.

use std::collections::BTreeMap;

use gangway_runner::wire::{Backend, FromRunner, ToRunner, TurnEvent};
use gangway_testing::runner::{Connection, Server, text_of};
use serde_json::json;

use crate::{
    model::Model,
    processes::{unique_seconds, until},
    running::Running,
};

/// An example of this crate; they are built with its tests.
pub fn example(name: &str) -> String {
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(2).unwrap();
    let program = folder.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is built by cargo, unless it builds one test alone",
        program.display()
    );
    program.to_str().unwrap().to_owned()
}

pub fn backend(arguments: &[&str]) -> Backend {
    let mut command = vec![example("acp_agent")];
    command.extend(arguments.iter().map(|one| (*one).to_owned()));
    let env = BTreeMap::from([("TRIAL".to_owned(), "1".to_owned())]);
    Backend::Acp { command, env }
}

async fn start(arguments: &[&str]) -> (Server, Running, Connection) {
    let server = Server::start();
    let running = Running::start(&server, Model::new().0);
    let connection = server.ready(backend(arguments)).await;
    (server, running, connection)
}

pub async fn ask(connection: &mut Connection, turn: u64, text: &str) -> Vec<TurnEvent> {
    connection.prompt(turn, text).await;
    connection.turn(turn).await
}

#[tokio::test]
async fn the_persona_is_sent_once_and_text_is_streamed() {
    let (server, _running, mut connection) = start(&[]).await;
    let all = ask(&mut connection, 1, "parts").await;
    let persona = "You help.\n\nWhat you have lived through so far:\n\nYou have helped before.";
    assert_eq!(text_of(&all), format!("{persona} | parts"));
    let all = ask(&mut connection, 2, "parts").await;
    assert_eq!(text_of(&all), "parts");
    let all = ask(&mut connection, 3, "echo one two three").await;
    assert_eq!(text_of(&all), "one two three");
    assert!(matches!(all.last(), Some(TurnEvent::Done { .. })));
    let all = ask(&mut connection, 4, "where").await;
    let folder = server.project();
    assert_eq!(text_of(&all), folder.to_str().unwrap());
}

#[tokio::test]
async fn it_sees_a_small_environment_and_its_own_variables() {
    // The test's own process has this variable, as cargo's children do.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    let (_server, _running, mut connection) = start(&[]).await;
    let names = text_of(&ask(&mut connection, 1, "env").await);
    let names: Vec<&str> = names.split(' ').collect();
    assert!(names.contains(&"TRIAL") && names.contains(&"PATH"));
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
}

#[tokio::test]
async fn tools_plans_and_windows_are_reported() {
    let (_server, _running, mut connection) = start(&[]).await;
    let all = ask(&mut connection, 1, "tool").await;
    let call = TurnEvent::Call {
        call: 1,
        tool: "Read a file".into(),
        arguments: json!({ "path": "a.txt" }),
    };
    let result = TurnEvent::Result {
        call: 1,
        tool: "Read a file".into(),
        result: Ok(json!("its text")),
    };
    assert_eq!(all[1..3], [call, result]);
    let all = ask(&mut connection, 2, "plan").await;
    let plan = TurnEvent::Notice {
        text: "Plan:\n[x] look\n[ ] leap".into(),
    };
    assert_eq!(all[1], plan);
    let all = ask(&mut connection, 3, "usage").await;
    let context = TurnEvent::Context {
        used: 1234,
        window: Some(200_000),
    };
    assert_eq!(all[1], context);
}

#[tokio::test]
async fn a_permission_is_a_question_whose_answer_counts_once() {
    let (server, _running, mut connection) = start(&[]).await;
    connection.prompt(1, "ask").await;
    connection.said().await;
    let (n, _, what) = connection.said().await;
    let question = TurnEvent::Question {
        question: 1,
        text: "Allow the agent to do this: Delete everything?".into(),
        options: vec!["Allow".into(), "Reject".into()],
    };
    assert_eq!(what, question);
    // The question stays open over a reconnect.
    drop(connection);
    let mut connection = server.again(n, Some(1)).await;
    for text in ["Reject", "Allow"] {
        connection
            .send(ToRunner::Answer {
                turn: 1,
                question: 1,
                text: text.into(),
            })
            .await;
    }
    assert_eq!(text_of(&connection.turn(1).await), "chosen n");
}

#[tokio::test]
async fn a_stop_reaches_the_agent_also_while_it_asks() {
    let (_server, _running, mut connection) = start(&[]).await;
    for (turn, text) in [(1, "hang"), (2, "ask")] {
        connection.prompt(turn, text).await;
        connection.said().await;
        connection.said().await;
        connection.send(ToRunner::Stop { turn }).await;
    }
    let all = ask(&mut connection, 3, "parts").await;
    assert_eq!(text_of(&all), "parts", "it is the same session as before");
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_restarted() {
    let seconds = unique_seconds();
    let (_server, _running, mut connection) = start(&[&format!("--child={seconds}")]).await;
    until(&seconds, 1).await;
    connection.prompt(1, "stuck").await;
    connection.said().await;
    connection.said().await;
    connection.send(ToRunner::Stop { turn: 1 }).await;
    let all = ask(&mut connection, 2, "parts").await;
    assert!(matches!(&all[1], TurnEvent::Notice { text } if text.contains("restarted")));
    assert!(text_of(&all).starts_with("You help."), "it is sent again");
    until(&seconds, 1).await;
}

#[tokio::test]
async fn a_crash_is_reported_with_its_last_output_and_the_next_message_starts_it_again() {
    let (_server, _running, mut connection) = start(&[]).await;
    let all = ask(&mut connection, 1, "crash").await;
    assert_eq!(text_of(&all), "going");
    match all.last() {
        Some(TurnEvent::Failed { code, message, .. }) => {
            assert_eq!(code, "agent_failed");
            assert!(message.contains("out of memory"), "{message}");
            assert!(message.contains("exit status: 7"), "{message}");
            assert!(!message.contains('\u{1b}'), "{message:?}");
        }
        other => panic!("{other:?}"),
    }
    let all = ask(&mut connection, 2, "echo back").await;
    assert_eq!(text_of(&all), "back");
}

#[tokio::test]
async fn an_agent_that_can_loads_its_session_after_a_restart() {
    let (_server, _running, mut connection) = start(&["--load"]).await;
    ask(&mut connection, 1, "crash").await;
    let all = ask(&mut connection, 2, "parts").await;
    assert!(
        matches!(&all[1], TurnEvent::Notice { text } if text.contains("has loaded")),
        "{all:?}"
    );
    // Neither the history nor the instructions are repeated.
    assert_eq!(text_of(&all), "parts");
}

#[tokio::test]
async fn a_call_is_logged_with_arguments_that_arrive_after_its_name() {
    let (_server, _running, mut connection) = start(&[]).await;
    let all = ask(&mut connection, 1, "late").await;
    let lines: Vec<_> = all
        .iter()
        .filter_map(|what| match what {
            TurnEvent::Call {
                tool, arguments, ..
            } => Some(format!("{tool} {arguments}")),
            TurnEvent::Result { tool, result, .. } => {
                Some(format!("{tool} {}", result.as_ref().unwrap()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        lines,
        [r#"Bash {"command":"ls"}"#, r#"Bash {"stdout":"a.txt"}"#]
    );
}

#[tokio::test]
async fn junk_on_its_output_and_errors_of_its_own_are_survived() {
    let (_server, _running, mut connection) = start(&[]).await;
    assert_eq!(
        text_of(&ask(&mut connection, 1, "junk").await),
        "after junk"
    );
    match ask(&mut connection, 2, "refuse").await.last() {
        Some(TurnEvent::Failed { message, .. }) => {
            assert!(message.contains("the model is overloaded"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(text_of(&ask(&mut connection, 3, "echo on").await), "on");
}

#[tokio::test]
async fn an_agent_that_ends_before_it_is_ready_is_reported_with_its_last_output() {
    for (backend, wanted) in [
        (backend(&["--die"]), "no such model: nonesuch"),
        (backend(&["--login"]), "With a browser, With an API key"),
        (
            Backend::Acp {
                command: vec!["/nowhere/agent".into()],
                env: BTreeMap::new(),
            },
            "/nowhere/agent could not be started",
        ),
        (
            Backend::Acp {
                command: vec!["/bin/echo".into(), "usage: none".into()],
                env: BTreeMap::new(),
            },
            "usage: none",
        ),
    ] {
        let server = Server::start();
        let running = Running::start(&server, Model::new().0);
        let mut connection = server.accept().await;
        connection
            .welcome(Some(server.setup(backend)), 0, None)
            .await;
        match connection.line().await {
            FromRunner::Broken { message } => assert!(message.contains(wanted), "{message}"),
            other => panic!("{other:?}"),
        }
        assert!(running.task.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn nothing_is_left_of_an_agent_that_ends_or_never_was_ready() {
    let seconds = unique_seconds();
    let (_server, running, mut connection) = start(&[&format!("--child={seconds}")]).await;
    until(&seconds, 1).await;
    connection.prompt(1, "hang").await;
    connection.said().await;
    connection.send(ToRunner::End).await;
    running.task.await.unwrap().unwrap();
    until(&seconds, 0).await;

    let marker = format!("--unique={}", unique_seconds());
    let server = Server::start();
    let running = Running::start(&server, Model::new().0);
    let mut connection = server.accept().await;
    let setup = server.setup(backend(&["--silent", &marker]));
    connection.welcome(Some(setup), 0, None).await;
    until(&marker, 1).await;
    connection.send(ToRunner::End).await;
    running.task.await.unwrap().unwrap();
    until(&marker, 0).await;
}
