//! Broken connections and unreachable servers.

use gangway_models::ChatChunk;
use gangway_runner::{
    RunnerError,
    wire::{Backend, FromRunner, ToRunner, TurnEvent},
};
use gangway_testing::runner::{Connection, Server, text_of};

use crate::{model::Model, running::Running};

/// All new events of a turn up to its end, by number.
async fn rest(connection: &mut Connection, known: &mut Vec<(u64, TurnEvent)>) {
    loop {
        let (n, _, what) = connection.said().await;
        assert_eq!(n, known.len() as u64 + 1, "numbers have no gaps");
        let over = matches!(what, TurnEvent::Done { .. });
        known.push((n, what));
        if over {
            return;
        }
    }
}

fn text(known: &[(u64, TurnEvent)]) -> String {
    let all: Vec<TurnEvent> = known.iter().map(|(_, what)| what.clone()).collect();
    text_of(&all)
}

#[tokio::test]
async fn an_answer_continues_where_the_server_left_off_without_loss_or_doubling() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    let chunks = answers.next().await;
    connection.prompt(1, "Hi").await;
    let mut known = Vec::new();
    let mut wanted = String::new();
    for n in 0..20 {
        let chunk = format!("{n} ");
        wanted.push_str(&chunk);
        chunks.send(ChatChunk::Text(chunk)).await.unwrap();
        let (number, _, what) = connection.said().await;
        known.push((number, what));
        // One of three messages is acknowledged when the connection breaks.
        if n % 3 == 2 {
            drop(connection);
            known.truncate(known.len() - 2);
            connection = server.again(known.len() as u64, Some(1)).await;
            connection.prompt(1, "Hi").await;
        }
    }
    drop(chunks);
    rest(&mut connection, &mut known).await;
    assert_eq!(text(&known), wanted);
    // Nothing is sent again once everything is acknowledged.
    drop(connection);
    let mut connection = server.again(known.len() as u64, None).await;
    answers.whole(&["next"]).await;
    connection.prompt(2, "Next").await;
    let (n, turn, what) = connection.said().await;
    assert_eq!(
        (n, turn, what),
        (known.len() as u64 + 1, 2, TurnEvent::Taken),
        "nothing else comes first"
    );
}

#[tokio::test]
async fn work_continues_while_the_server_is_away_or_says_nothing() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    let chunks = answers.next().await;
    connection.prompt(1, "Hi").await;
    connection.said().await;
    drop(connection);
    for _ in 0..10_000 {
        chunks.send(ChatChunk::Text("word ".into())).await.unwrap();
    }
    let done = chunks.clone();
    drop(chunks);
    // Everything was accepted without a server.
    while done.capacity() < done.max_capacity() {
        tokio::task::yield_now().await;
    }
    drop(done);
    let mut connection = server.again(1, Some(1)).await;
    let mut known = vec![(1, TurnEvent::Taken)];
    rest(&mut connection, &mut known).await;
    assert_eq!(text(&known), "word ".repeat(10_000));
    assert!(
        known.len() < 100,
        "chunks that were not taken are joined: {}",
        known.len()
    );
}

#[tokio::test]
async fn a_server_that_does_not_read_slows_the_agent_down_instead_of_using_memory() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    let chunks = answers.next().await;
    connection.prompt(1, "Hi").await;
    connection.said().await;
    drop(connection);
    let large = "x".repeat(1 << 20);
    for _ in 0..40 {
        chunks.send(ChatChunk::Text(large.clone())).await.unwrap();
    }
    let taken = || chunks.max_capacity() - chunks.capacity();
    // It accepts until the outbox is full, and no further.
    let mut before = usize::MAX;
    for _ in 0..200 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        if taken() == before && before < 40 {
            break;
        }
        before = taken();
    }
    assert!((20..=30).contains(&taken()), "{} are left", taken());
    let mut connection = server.again(1, Some(1)).await;
    drop(chunks);
    let mut bytes = 0;
    loop {
        let (n, _, what) = connection.said().await;
        connection.send(ToRunner::Heard { n }).await;
        match what {
            TurnEvent::Delta { text } => bytes += text.len(),
            TurnEvent::Done { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(bytes, 40 << 20);
}

#[tokio::test]
async fn a_turn_that_is_over_for_the_server_is_over_for_the_runner() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    let chunks = answers.next().await;
    connection.prompt(1, "Hi").await;
    connection.said().await;
    drop(connection);
    let mut connection = server.again(1, None).await;
    chunks.closed().await;
    answers.whole(&["next"]).await;
    connection.prompt(2, "Next").await;
    assert_eq!(text_of(&connection.turn(2).await), "next");
}

#[tokio::test]
async fn a_server_that_speaks_nonsense_is_left_and_tried_again() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.accept().await;
    connection.send(ToRunner::Heard { n: 7 }).await;
    connection.ended().await;
    server.ready(Backend::Builtin).await;
}

#[tokio::test]
async fn without_its_ticket_a_runner_ends() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    let running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    std::fs::remove_file(&server.ticket).unwrap();
    connection.ended().await;
    let ended = running.task.await.unwrap();
    assert!(matches!(ended, Err(RunnerError::NoTicket(_))), "{ended:?}");
}

#[tokio::test]
async fn a_ticket_that_is_none_is_reported() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    std::fs::write(&server.ticket, "junk").unwrap();
    let ended = Running::start(&server, model)
        .task
        .await
        .unwrap()
        .unwrap_err();
    assert!(ended.to_string().contains("is not a ticket"), "{ended}");
}

#[tokio::test]
async fn a_setup_that_was_lost_with_the_connection_is_asked_for_again() {
    let (server, (model, _answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    drop(server.accept().await);
    let mut connection = server.accept().await;
    assert!(connection.fresh);
    let setup = server.setup(Backend::Builtin);
    connection.welcome(Some(setup), 0, None).await;
    assert_eq!(connection.line().await, FromRunner::Ready);
}

#[tokio::test]
async fn a_turn_that_was_abandoned_and_is_resumed_fails_and_does_not_hang() {
    let (server, (model, answers)) = (Server::start(), Model::new());
    let _running = Running::start(&server, model);
    let mut connection = server.ready(Backend::Builtin).await;
    let _pieces = answers.next().await;
    connection.prompt(1, "Hi").await;
    assert_eq!(connection.said().await.2, TurnEvent::Taken);
    connection.send(ToRunner::Stop { turn: 1 }).await;
    // Like a server whose log still has the turn open.
    connection.prompt(1, "Hi").await;
    let (_, turn, what) = connection.said().await;
    let given_up =
        matches!(&what, TurnEvent::Failed { code, retryable: true, .. } if code == "interrupted");
    assert!(turn == 1 && given_up, "{what:?}");
}
