//! Tools of the session's open pages, which the server lists and calls.

use gangway_models::{ChatChunk, Message, ToolCall};
use gangway_runner::wire::{Backend, PAGE_ARGUMENTS, PageTool, ToRunner, TurnEvent};
use gangway_testing::runner::{Connection, Server, text_of};
use serde_json::{Value, json};

use crate::{
    model::{Answers, Model},
    running::Running,
};

fn add() -> PageTool {
    PageTool {
        name: "page-notes/add".into(),
        description: "Adds.".into(),
        input_schema: json!({ "type": "object" }),
    }
}

async fn list(connection: &mut Connection, tools: Vec<PageTool>) {
    let connection_number = connection.number;
    connection
        .send(ToRunner::PageTools {
            connection: connection_number,
            tools,
        })
        .await;
}

/// The model calls the tool of the page with each of these.
async fn calls(answers: &Answers, all: &[Value]) {
    let chunks = answers.next().await;
    for (n, arguments) in all.iter().enumerate() {
        let call = ToolCall {
            id: format!("c{n}"),
            name: "page-notes__add".into(),
            arguments: arguments.clone(),
        };
        chunks.send(ChatChunk::ToolCall(call)).await.unwrap();
    }
}

/// The next call of a page: its number, arguments and connection.
async fn called(connection: &mut Connection) -> (u32, Value, u64) {
    loop {
        if let TurnEvent::PageCall {
            call,
            tool,
            arguments,
            connection,
        } = connection.said().await.2
        {
            assert_eq!(tool, "page-notes/add");
            return (call, arguments, connection);
        }
    }
}

/// What the model was last sent as results.
fn results(model: &Model) -> Vec<String> {
    let asked = model.asked.lock().unwrap();
    let messages = &asked.last().unwrap().messages;
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool { content, .. } => Some(content.clone()),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn the_server_calls_the_tools_that_it_lists_and_the_model_gets_the_results() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    list(&mut connection, vec![add()]).await;
    calls(&answers, &[json!({ "a": 1 }), json!({ "a": 2 })]).await;
    answers.whole(&["Done."]).await;
    connection.prompt(1, "add").await;
    for n in [1, 2] {
        let (call, arguments, number) = called(&mut connection).await;
        assert_eq!((call, &arguments["a"]), (n, &json!(n)));
        assert_eq!(number, connection.number);
    }
    // In any order, and with what the page offers by then.
    list(&mut connection, Vec::new()).await;
    for (call, result) in [(2, Err("no".to_owned())), (1, Ok(json!({ "sum": 3 })))] {
        let turn = 1;
        connection
            .send(ToRunner::PageResult { turn, call, result })
            .await;
    }
    let rest = connection.turn(1).await;
    assert_eq!(text_of(&rest), "Done.");
    // The server logs them.
    let own = |what: &TurnEvent| matches!(what, TurnEvent::Call { .. } | TurnEvent::Result { .. });
    assert!(!rest.iter().any(own), "{rest:?}");
    assert_eq!(results(&model), ["{\"sum\":3}", "no"]);
    let asked = model.asked.lock().unwrap().clone();
    assert_eq!(asked[0].tools[0].name, "page-notes__add");
}

#[tokio::test]
async fn a_call_fails_with_its_connection_and_is_not_sent_over_the_next() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    list(&mut connection, vec![add()]).await;
    calls(&answers, &[json!({ "a": 1 })]).await;
    // While no server lists tools, a call fails at once.
    calls(&answers, &[json!({ "a": 2 })]).await;
    answers.whole(&["Lost."]).await;
    connection.prompt(1, "add").await;
    let (_, _, first) = called(&mut connection).await;
    drop(connection);
    // Taken and the call are acknowledged.
    let mut connection = server.again(2, Some(1)).await;
    assert!(connection.number > first);
    let (_, _, result) = connection.said().await;
    assert!(
        matches!(&result, TurnEvent::Result { call: 1, result: Err(why), .. } if why.contains("may have taken effect")),
        "{result:?}"
    );
    let rest = connection.turn(1).await;
    assert_eq!(text_of(&rest), "Lost.");
    let again = |what: &TurnEvent| matches!(what, TurnEvent::PageCall { .. });
    assert!(!rest.iter().any(again), "{rest:?}");
    let results = results(&model);
    assert!(
        results[0].contains("was lost during the call"),
        "{results:?}"
    );
    assert!(results[1].starts_with("not called"), "{results:?}");
}

#[tokio::test]
async fn a_stopped_turn_waits_for_no_page() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    list(&mut connection, vec![add()]).await;
    calls(&answers, &[json!({})]).await;
    connection.prompt(1, "add").await;
    called(&mut connection).await;
    connection.send(ToRunner::Stop { turn: 1 }).await;
    connection.prompt(2, "Next").await;
    assert_eq!(connection.said().await.1, 2);
    let result = Ok(json!("too late"));
    connection
        .send(ToRunner::PageResult {
            turn: 1,
            call: 1,
            result,
        })
        .await;
    answers.whole(&["Next."]).await;
    assert_eq!(text_of(&connection.turn(2).await), "Next.");
}

#[tokio::test]
async fn arguments_that_are_too_large_are_not_sent() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    list(&mut connection, vec![add()]).await;
    calls(&answers, &[json!({ "a": "x".repeat(PAGE_ARGUMENTS) })]).await;
    answers.whole(&["Too large."]).await;
    assert_eq!(connection.ask(1, "add").await, "Too large.");
    assert!(
        results(&model)[0].contains("at most"),
        "{:?}",
        results(&model)
    );
}

#[tokio::test]
async fn a_server_without_page_tools_and_messages_of_a_newer_one_change_nothing() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model.clone());
    let mut connection = server.ready(Backend::Builtin).await;
    connection
        .raw(r#"{"type":"of_a_newer_version","n":[1,{"a":2}]}"#)
        .await;
    answers.whole(&["Fine."]).await;
    assert_eq!(connection.ask(1, "Hi").await, "Fine.");
    assert!(model.asked.lock().unwrap()[0].tools.is_empty());
}
