//! What survives a stop, an unload and a trim.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;

use super::stage::{
    Acting, Stage, acting, asked, echo, ended, held, prompt, said_something, submit, until,
};
use crate::{
    Command, Error, Event, Limits, Outcome, QuestionId, Receipt, Session, SessionId,
    SubscriptionEnd,
};

async fn outcomes(stage: &Stage, id: SessionId) -> Vec<(u64, Outcome)> {
    let page = stage.hub.store().read(id, 0, usize::MAX).await.unwrap();
    let ends = page.events.iter().filter_map(|logged| match &logged.event {
        Event::TurnEnded { turn, outcome, .. } => Some((*turn, *outcome)),
        _ => None,
    });
    ends.collect()
}

#[tokio::test]
async fn a_stop_of_the_server_marks_the_running_turn_and_what_waited_is_answered_after_it() {
    let (agent, _go) = held("Half");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let first = submit(&session, prompt("one")).await;
    let second = submit(&session, prompt("two")).await;
    said_something(&session, first).await;
    let mut reader = session.subscribe(session.head());
    let id = session.id();
    stage.hub.shut_down().await;
    let rest = reader.next(1 << 20).await.unwrap().unwrap();
    assert!(matches!(&rest[0].event, Event::Message { text, partial: true, .. } if text == "Half"));
    assert_eq!(
        reader.next(1).await.unwrap().unwrap_err(),
        SubscriptionEnd::Stopping
    );
    assert_eq!(session.submit(prompt("three")).await, Err(Error::Stopping));
    assert_eq!(stage.hub.open(id).await.err(), Some(Error::Stopping));
    drop((reader, session));
    let interrupted = (first, Outcome::Interrupted);
    assert_eq!(outcomes(&stage, id).await, [interrupted]);
    let stage = stage
        .restart(vec![("agent", echo())], Limits::default())
        .await;
    let session = stage.hub.open(id).await.unwrap();
    let events = ended(&session, second).await;
    let answered = |event: &Event| matches!(event, Event::Message { text, .. } if text == "two");
    assert!(events.iter().any(answered));
    let both = [interrupted, (second, Outcome::Completed)];
    assert_eq!(outcomes(&stage, id).await, both);
}

#[tokio::test]
async fn a_turn_of_a_process_that_died_is_marked_when_the_session_wakes() {
    let (agent, _go) = held("Half");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let id = session.id();
    let turn = submit(&session, prompt("one")).await;
    said_something(&session, turn).await;
    // The files as the other process finds them; this one never ends its turn.
    let copy = tempfile::tempdir().unwrap();
    for name in ["gangway.db", "gangway.db-wal", "gangway.db-synced"] {
        std::fs::copy(stage.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let woken = Stage::open(copy, vec![("agent", echo())], Limits::default());
    assert_eq!(woken.hub.recover().await, Ok(1));
    let session = woken.hub.open(id).await.unwrap();
    let events = ended(&session, turn).await;
    let left = |event: &&Event| matches!(event, Event::Message { text, partial: true, .. } if text == "Half");
    assert_eq!(events.iter().filter(left).count(), 1);
    assert_eq!(outcomes(&woken, id).await, [(turn, Outcome::Interrupted)]);
    assert_eq!(woken.hub.recover().await, Ok(0), "it is settled");
}

/// Asks, and resumes an open question of another process; reports the answer.
fn asks(answers: mpsc::Sender<String>, resumes_questions: bool) -> Acting {
    let agent = acting(move |mut turn| {
        let answers = answers.clone();
        async move {
            let answer = match turn.open_question() {
                Some(question) => turn.reopen(&question).await?,
                None if turn.prompt() == "wait" => {
                    turn.delta("x").await?;
                    std::future::pending().await
                }
                None => turn.ask("Sure?", &[]).await?,
            };
            answers.send(answer).await.unwrap();
            Ok(None)
        }
    });
    Acting {
        resumes_questions,
        ..agent
    }
}

async fn is_asked(session: &Arc<Session>) {
    until(session, |event| matches!(event, Event::Question { .. })).await;
}

#[tokio::test]
async fn a_question_stays_open_over_a_restart_where_the_agent_can_take_it_up() {
    let (answers, mut answered) = mpsc::channel(4);
    let stage = Stage::new(asks(answers.clone(), true));
    let session = stage.session().await;
    let id = session.id();
    let turn = submit(&session, prompt("ask")).await;
    is_asked(&session).await;
    drop(session);
    let agents = vec![("agent", asks(answers.clone(), true))];
    let stage = stage.restart(agents, Limits::default()).await;
    let session = stage.hub.open(id).await.unwrap();
    assert!(session.is_running());
    assert_eq!(outcomes(&stage, id).await, []);
    let answer = Command::Answer {
        question: QuestionId::nth(turn, 1),
        text: "Yes".into(),
    };
    assert_eq!(session.submit(answer).await, Ok(Receipt::Done));
    assert_eq!(answered.recv().await.as_deref(), Some("Yes"));
    ended(&session, turn).await;
    assert_eq!(outcomes(&stage, id).await, [(turn, Outcome::Completed)]);
    // An agent that does not wait for an answer is interrupted anyway.
    let turn = submit(&session, prompt("wait")).await;
    said_something(&session, turn).await;
    drop(session);
    let agents = vec![("agent", asks(answers, true))];
    let stage = stage.restart(agents, Limits::default()).await;
    let last = outcomes(&stage, id).await[1];
    assert_eq!(last, (turn, Outcome::Interrupted));
}

#[tokio::test]
async fn a_question_of_an_agent_that_cannot_take_it_up_is_interrupted() {
    let (answers, _answered) = mpsc::channel(4);
    for (before, after) in [(false, true), (true, false)] {
        let stage = Stage::new(asks(answers.clone(), before));
        let session = stage.session().await;
        let id = session.id();
        let turn = submit(&session, prompt("ask")).await;
        is_asked(&session).await;
        drop(session);
        let agents = vec![("agent", asks(answers.clone(), after))];
        let stage = stage.restart(agents, Limits::default()).await;
        assert_eq!(outcomes(&stage, id).await, [(turn, Outcome::Interrupted)]);
        assert!(!stage.hub.is_busy());
    }
}

fn keeping(kept_events: u64) -> Limits {
    Limits {
        kept_events,
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_log_is_trimmed_when_its_session_wakes_if_it_is_to_be_and_nothing_runs() {
    let stage = Stage::with(vec![("agent", echo())], keeping(0));
    let session = stage.session().await;
    let id = session.id();
    asked(&session, "one").await;
    drop(session);
    let stage = stage.restart(vec![("agent", echo())], keeping(0)).await;
    let session = stage.hub.open(id).await.unwrap();
    let head = session.head();
    assert!(head > 3);
    assert_eq!(stage.hub.store().first(id).await, Ok(1));
    drop(session);
    let surviving = || {
        let (agent, _) = held("x");
        let survives = true;
        Acting { survives, ..agent }
    };
    let stage = stage
        .restart(vec![("agent", surviving())], keeping(2))
        .await;
    let session = stage.hub.open(id).await.unwrap();
    assert_eq!(session.head(), head);
    let first = stage.hub.store().first(id).await.unwrap();
    assert_eq!(first, head - 1);
    let turn = submit(&session, prompt("two")).await;
    said_something(&session, turn).await;
    drop(session);
    let stage = stage
        .restart(vec![("agent", surviving())], keeping(1))
        .await;
    let session = stage.hub.open(id).await.unwrap();
    assert!(session.is_running());
    assert_eq!(stage.hub.store().first(id).await, Ok(first));
}

#[tokio::test(start_paused = true)]
async fn a_session_without_references_is_unloaded_after_a_while_and_one_with_references_is_not() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let id = session.id();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(stage.hub.awake_count(), 1);
    session.submit(Command::Stop).await.unwrap();
    drop(session);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(stage.hub.awake_count(), 0);
    let session = stage.hub.open(id).await.unwrap();
    assert_eq!(session.head(), 1, "it is the same as before");
}
