//! Turns: messages, stops, the end.

use gangway_models::{ChatChunk, Message};
use gangway_runner::{
    RunnerError,
    wire::{Backend, FromRunner, ToRunner, TurnEvent},
};
use gangway_testing::runner::{Server, text_of};

use crate::{model::Model, running::Running};

#[tokio::test]
async fn a_message_is_taken_answered_and_remembered() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    answers.whole(&["Hel", "lo"]).await;
    connection.prompt(1, "Hi").await;
    let all = connection.turn(1).await;
    assert_eq!(all[0], TurnEvent::Taken);
    assert_eq!(text_of(&all), "Hello");
    let context = TurnEvent::Context {
        used: 12,
        window: Some(1000),
    };
    assert!(all.contains(&context), "{all:?}");
    answers.whole(&["Again"]).await;
    connection.prompt(2, "And?").await;
    assert_eq!(text_of(&connection.turn(2).await), "Again");
    let asked = model.asked.lock().unwrap()[1].messages.clone();
    let Message::System(persona) = &asked[0] else {
        panic!("{asked:?}");
    };
    assert!(persona.starts_with("You help.") && persona.contains("You have helped before."));
    let rest = [
        Message::User("Hi".into()),
        Message::Assistant {
            text: "Hello".into(),
            calls: Vec::new(),
            fields: Default::default(),
        },
        Message::User("And?".into()),
    ];
    assert_eq!(asked[1..], rest);
    connection.send(ToRunner::End).await;
    connection.ended().await;
    running.task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_message_that_comes_again_is_not_taken_again() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    let chunks = answers.next().await;
    connection.prompt(1, "Hi").await;
    assert_eq!(connection.said().await.2, TurnEvent::Taken);
    connection.prompt(1, "Hi").await;
    chunks.send(ChatChunk::Text("a".into())).await.unwrap();
    drop(chunks);
    assert_eq!(text_of(&connection.turn(1).await), "a");
    connection.prompt(1, "Hi").await;
    answers.whole(&["b"]).await;
    connection.prompt(2, "Next").await;
    assert_eq!(text_of(&connection.turn(2).await), "b");
    assert_eq!(model.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_stop_ends_the_work_and_the_next_message_is_answered() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    let chunks = answers.next().await;
    connection.prompt(1, "Hi").await;
    connection.said().await;
    chunks.send(ChatChunk::Text("half".into())).await.unwrap();
    assert_eq!(
        connection.said().await.2,
        TurnEvent::Delta {
            text: "half".into()
        }
    );
    connection.send(ToRunner::Stop { turn: 1 }).await;
    chunks.closed().await;
    answers.whole(&["whole"]).await;
    connection.prompt(2, "Next").await;
    assert_eq!(text_of(&connection.turn(2).await), "whole");
    // The text before the stop is part of the conversation.
    let asked = model.asked.lock().unwrap()[1].messages.clone();
    let half = Message::Assistant {
        text: "half".into(),
        calls: Vec::new(),
        fields: Default::default(),
    };
    assert!(asked.contains(&half), "{asked:?}");
}

#[tokio::test]
async fn what_is_typed_reaches_the_server() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    let running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    running.typed.send("hello".into()).await.unwrap();
    let typed = FromRunner::Typed {
        text: "hello".into(),
    };
    assert_eq!(connection.line().await, typed);
}

#[tokio::test]
async fn a_runner_that_is_refused_ends() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    let running = Running::start(&server, model);
    let mut connection = server.accept().await;
    let message = "unknown".to_owned();
    connection.send(ToRunner::Refused { message }).await;
    let ended = running.task.await.unwrap();
    assert!(matches!(ended, Err(RunnerError::Refused(_))), "{ended:?}");
}

#[tokio::test]
async fn a_project_without_its_folder_is_reported() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    let running = Running::start(&server, model);
    let mut connection = server.accept().await;
    let mut setup = server.setup(Backend::Builtin);
    setup.folder = "/nowhere/at/all".into();
    connection.welcome(Some(setup), 0, None).await;
    match connection.line().await {
        FromRunner::Broken { message } => assert!(message.contains("/nowhere/at/all")),
        other => panic!("{other:?}"),
    }
    assert!(running.task.await.unwrap().is_err());
}
