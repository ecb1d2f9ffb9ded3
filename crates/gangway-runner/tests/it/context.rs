//! An agent's instructions, and compacting of its context.

use gangway_models::{ChatChunk, Message};
use gangway_runner::wire::{Backend, ContextLimits, FromRunner, ToRunner, TurnEvent};
use gangway_testing::runner::{Connection, Server, text_of};

use crate::{
    acp::{ask, backend},
    model::{Answers, Model},
    running::Running,
};

const GUARDRAILS: &str = "Never promise a refund.";

type Stage = (Server, Running);

async fn start(backend: Backend, hand_over: Option<u8>) -> (Model, Answers, Stage, Connection) {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let running = Running::start(&server, model.clone());
    let mut setup = server.setup(backend);
    setup.guardrails = Some(GUARDRAILS.into());
    setup.context = ContextLimits {
        warn_percent: vec![80, 95],
        hand_over_percent: hand_over,
    };
    let mut connection = server.accept().await;
    connection.welcome(Some(setup), 0, None).await;
    assert_eq!(connection.line().await, FromRunner::Ready);
    (model, answers, (server, running), connection)
}

/// An answer after which this much of the window of 1000 tokens is used.
async fn answer(answers: &Answers, text: &str, used: u64) {
    let chunks = answers.next().await;
    chunks.send(ChatChunk::Text(text.into())).await.unwrap();
    let usage = ChatChunk::Usage {
        input: used,
        output: 0,
    };
    chunks.send(usage).await.unwrap();
}

fn notices(all: &[TurnEvent]) -> Vec<String> {
    let notices = all.iter().filter_map(|what| match what {
        TurnEvent::Notice { text } => Some(text.clone()),
        _ => None,
    });
    notices.collect()
}

/// The last request of the model.
fn sent(model: &Model) -> Vec<Message> {
    model.asked.lock().unwrap().last().unwrap().messages.clone()
}

#[tokio::test]
async fn guardrails_come_before_the_persona_for_the_built_in_loop_and_for_acp_agents() {
    let (model, answers, _stage, mut connection) = start(Backend::Builtin, None).await;
    answer(&answers, "Hello", 10).await;
    ask(&mut connection, 1, "Hi").await;
    let Message::System(instructions) = &sent(&model)[0] else {
        panic!("{:?}", sent(&model));
    };
    let wanted = format!("{GUARDRAILS}\n\nYou help.");
    assert!(instructions.starts_with(&wanted), "{instructions}");
    let (_, _, _stage, mut connection) = start(backend(&[]), None).await;
    let all = ask(&mut connection, 1, "parts").await;
    assert!(text_of(&all).starts_with(&wanted), "{all:?}");
}

#[tokio::test]
async fn each_threshold_of_the_window_puts_one_notice_into_the_conversation() {
    let (_, answers, _stage, mut connection) = start(Backend::Builtin, None).await;
    let mut seen = Vec::new();
    for (turn, used) in (1..).zip([500, 810, 830, 960, 970]) {
        answer(&answers, "So.", used).await;
        seen.push(notices(&ask(&mut connection, turn, "And?").await));
    }
    let warning =
        |percent, used| format!("The context window is {percent} % full ({used} of 1000 tokens).");
    let wanted = [
        vec![],
        vec![warning(81, 810)],
        vec![],
        vec![warning(96, 960)],
        vec![],
    ];
    assert_eq!(seen, wanted);
}

#[tokio::test]
async fn a_full_window_is_compacted_into_a_summary_and_the_conversation_continues() {
    let (model, answers, _stage, mut connection) = start(Backend::Builtin, Some(90)).await;
    answer(&answers, "Eleven bikes.", 910).await;
    let all = ask(&mut connection, 1, "How many bikes?").await;
    assert_eq!(notices(&all).len(), 1, "{all:?}");
    answer(&answers, "They asked for bikes; there are eleven.", 900).await;
    answer(&answers, "Red ones.", 100).await;
    let all = ask(&mut connection, 2, "Which colour?").await;
    assert_eq!(text_of(&all), "Red ones.");
    let wanted = "The context window was 91 % full. The agent continues in a fresh one, with a summary of the conversation.";
    assert_eq!(notices(&all), [wanted]);
    let asked = model.asked.lock().unwrap().clone();
    let Message::User(summarize) = &asked[1].messages[0] else {
        panic!("{:?}", asked[1]);
    };
    assert!(summarize.starts_with("Summarize this conversation"));
    assert!(summarize.contains("Person: How many bikes?\n\nAgent: Eleven bikes."));
    let [
        Message::System(instructions),
        Message::User(summary),
        _,
        last,
    ] = &asked[2].messages[..]
    else {
        panic!("{:?}", asked[2]);
    };
    assert!(instructions.starts_with(GUARDRAILS));
    assert!(summary.contains("They asked for bikes; there are eleven."));
    assert_eq!(*last, Message::User("Which colour?".into()));
    // The new context has room: the next message is an ordinary one, and warnings start again.
    answer(&answers, "Two.", 850).await;
    let all = ask(&mut connection, 3, "How many of them?").await;
    assert_eq!((text_of(&all), notices(&all).len()), ("Two.".into(), 1));
    assert_eq!(sent(&model).len(), 6);
}

#[tokio::test]
async fn an_acp_agent_compacts_its_context_in_a_new_session() {
    let (_, _, _stage, mut connection) = start(backend(&["--load"]), Some(90)).await;
    let all = ask(&mut connection, 1, "usage 95 100").await;
    assert_eq!(notices(&all).len(), 1, "{all:?}");
    let all = ask(&mut connection, 2, "parts").await;
    assert_eq!(notices(&all).len(), 1, "{all:?}");
    let parts = text_of(&all);
    let parts: Vec<&str> = parts.split(" | ").collect();
    assert!(parts[0].starts_with(GUARDRAILS), "{parts:?}");
    assert!(parts[1].contains("They count in tens."), "{parts:?}");
    assert_eq!(parts[2..], ["parts"]);
    let all = ask(&mut connection, 3, "parts").await;
    assert_eq!((text_of(&all), notices(&all)), ("parts".into(), vec![]));
}

#[tokio::test]
async fn requested_compaction_happens_with_the_next_message() {
    let (model, answers, _stage, mut connection) = start(Backend::Builtin, None).await;
    answer(&answers, "Hello", 10).await;
    ask(&mut connection, 1, "Hi").await;
    connection.send(ToRunner::HandOver).await;
    answer(&answers, "They said hi.", 10).await;
    answer(&answers, "Yes.", 10).await;
    let all = ask(&mut connection, 2, "Still there?").await;
    assert_eq!((text_of(&all), notices(&all).len()), ("Yes.".into(), 1));
    assert_eq!(sent(&model).len(), 4);
}

#[tokio::test]
async fn without_a_summary_the_agent_continues_as_it_is_with_a_notice() {
    let (model, answers, _stage, mut connection) = start(Backend::Builtin, Some(90)).await;
    answer(&answers, "Hello", 900).await;
    ask(&mut connection, 1, "Hi").await;
    answer(&answers, " \n", 900).await;
    answer(&answers, "Yes.", 910).await;
    let all = ask(&mut connection, 2, "Still there?").await;
    let notices = notices(&all);
    assert!(
        notices[0].ends_with("the summary is empty. The agent continues with the full context."),
        "{notices:?}"
    );
    assert_eq!(text_of(&all), "Yes.");
    // Nothing is forgotten.
    assert_eq!(sent(&model).len(), 4);
    // Not every message asks for a summary.
    answer(&answers, "Sure.", 915).await;
    assert_eq!(text_of(&ask(&mut connection, 3, "Sure?").await), "Sure.");
}
