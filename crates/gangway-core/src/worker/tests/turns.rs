//! How turns begin, wait for each other and end.

use std::sync::Arc;

use super::stage::{
    Stage, acting, applet_prompt, asked, echo, ended, held, prompt, said_something, submit,
};
use crate::{
    AgentError, Command, Error, Event, Limits, Outcome, Receipt, Session, SubscriptionEnd, Turns,
    Usage, WhenBusy,
};

fn ends(events: &[Event]) -> Vec<(u64, Outcome, bool)> {
    let ends = events.iter().filter_map(|event| match event {
        Event::TurnEnded {
            turn,
            outcome,
            idle,
            ..
        } => Some((*turn, *outcome, *idle)),
        _ => None,
    });
    ends.collect()
}

fn messages(events: &[Event]) -> Vec<(&str, bool)> {
    let messages = events.iter().filter_map(|event| match event {
        Event::Message { text, partial, .. } => Some((text.as_str(), *partial)),
        _ => None,
    });
    messages.collect()
}

async fn log(session: &Session) -> Vec<Event> {
    let page = session.store().read(session.id(), 0, usize::MAX).await;
    let events = page.unwrap().events;
    events.iter().map(|logged| logged.event.clone()).collect()
}

#[tokio::test]
async fn a_turn_that_completes_says_what_it_used_and_leaves_the_session_idle() {
    let used = Usage {
        input_tokens: 3,
        output_tokens: 4,
    };
    let stage = Stage::new(acting(move |mut turn| async move {
        turn.delta("Hello").await?;
        Ok(Some(used))
    }));
    let session = stage.session().await;
    let events = asked(&session, "Hi").await;
    assert_eq!(messages(&events), [("Hello", false)]);
    let last = Event::TurnEnded {
        turn: 3,
        outcome: Outcome::Completed,
        usage: Some(used),
        idle: true,
        citations: Vec::new(),
    };
    assert_eq!(events.last(), Some(&last));
    let started = Event::TurnStarted {
        turn: 3,
        agent: "agent".into(),
        model: None,
    };
    assert!(events.contains(&started));
    while session.is_running() {
        tokio::task::yield_now().await;
    }
    assert!(!stage.hub.is_busy());
}

#[tokio::test]
async fn messages_are_answered_one_after_the_other() {
    let (agent, go) = held("x");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let first = submit(&session, prompt("one")).await;
    let second = submit(&session, prompt("two")).await;
    said_something(&session, first).await;
    assert!(session.is_running() && stage.hub.is_busy());
    assert!(ends(&log(&session).await).is_empty());
    go.notify_one();
    let events = ended(&session, first).await;
    assert_eq!(ends(&events), [(first, Outcome::Completed, false)]);
    said_something(&session, second).await;
    go.notify_one();
    let events = ended(&session, second).await;
    assert_eq!(ends(&events)[1], (second, Outcome::Completed, true));
}

#[tokio::test]
async fn a_turn_that_fails_keeps_what_was_said_and_says_why() {
    let stage = Stage::new(acting(async |mut turn| {
        turn.delta("Half").await?;
        Err(AgentError {
            code: "no_model".into(),
            message: "There is no model.".into(),
            retryable: true,
        })
    }));
    let session = stage.session().await;
    let events = asked(&session, "Hi").await;
    assert_eq!(messages(&events), [("Half", true)]);
    let failed = Event::Failed {
        turn: 3,
        code: "no_model".into(),
        message: "There is no model.".into(),
        retryable: true,
    };
    assert!(events.contains(&failed));
    assert_eq!(ends(&events), [(3, Outcome::Failed, true)]);
}

#[tokio::test]
async fn an_agent_that_panics_fails_its_turn_and_the_next_one_is_taken() {
    let stage = Stage::new(acting(async |mut turn| {
        turn.delta("Half").await?;
        assert!(turn.prompt() != "panic", "as the test wants it");
        Ok(None)
    }));
    let session = stage.session().await;
    let events = asked(&session, "panic").await;
    assert_eq!(messages(&events), [("Half", true)]);
    assert_eq!(ends(&events)[0].1, Outcome::Failed);
    let crashed =
        |event: &Event| matches!(event, Event::Failed { code, .. } if code == "agent_crashed");
    assert!(events.iter().any(crashed));
    let events = asked(&session, "go on").await;
    assert_eq!(ends(&events)[1].1, Outcome::Completed);
}

#[tokio::test]
async fn a_stop_ends_the_running_turn_and_all_that_wait_at_once() {
    let (agent, _go) = held("Half");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let nothing = Receipt::Stopped {
        running: false,
        dropped: 0,
    };
    assert_eq!(session.submit(Command::Stop).await, Ok(nothing));
    let first = submit(&session, prompt("one")).await;
    let waiting = [
        submit(&session, prompt("two")).await,
        submit(&session, prompt("three")).await,
    ];
    said_something(&session, first).await;
    let stopped = Receipt::Stopped {
        running: true,
        dropped: 2,
    };
    assert_eq!(session.submit(Command::Stop).await, Ok(stopped));
    let events = log(&session).await;
    assert_eq!(messages(&events), [("Half", true)]);
    let outcome = Outcome::Stopped;
    let all = [
        (first, outcome, false),
        (waiting[0], outcome, false),
        (waiting[1], outcome, true),
    ];
    assert_eq!(ends(&events), all);
    assert!(!session.is_running());
}

#[tokio::test]
async fn some_turns_can_be_stopped_and_the_others_continue() {
    let (agent, go) = held("x");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let running = submit(&session, prompt("one")).await;
    let from_notes = submit(&session, applet_prompt("notes")).await;
    let from_map = submit(&session, applet_prompt("map")).await;
    said_something(&session, running).await;
    let stop = |turns| session.submit(Command::StopOnly(turns));
    let dropped = |dropped| {
        let running = false;
        Ok(Receipt::Stopped { running, dropped })
    };
    assert_eq!(stop(Turns::Of("notes".parse().unwrap())).await, dropped(1));
    assert_eq!(stop(Turns::Numbered(from_map)).await, dropped(1));
    assert_eq!(stop(Turns::Numbered(999)).await, dropped(0));
    let so_far = [
        (from_notes, Outcome::Stopped, false),
        (from_map, Outcome::Stopped, false),
    ];
    assert_eq!(ends(&log(&session).await), so_far);
    assert!(session.is_running());
    go.notify_one();
    let events = ended(&session, running).await;
    assert_eq!(ends(&events)[2], (running, Outcome::Completed, true));
    let last = submit(&session, prompt("two")).await;
    said_something(&session, last).await;
    let stopped = Receipt::Stopped {
        running: true,
        dropped: 0,
    };
    assert_eq!(stop(Turns::Numbered(last)).await, Ok(stopped));
}

#[tokio::test]
async fn deltas_of_a_turn_stay_until_the_next_turn_is_over() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let deltas = async || {
        let events = log(&session).await;
        let deltas = events.iter().filter_map(|event| match event {
            Event::Delta { text, .. } => Some(text.clone()),
            _ => None,
        });
        deltas.collect::<Vec<_>>()
    };
    asked(&session, "one").await;
    assert_eq!(deltas().await, ["one"]);
    asked(&session, "two").await;
    // What follows an answer is processed before the next command.
    session.submit(Command::Stop).await.unwrap();
    assert_eq!(deltas().await, ["two"]);
    asked(&session, "three").await;
    session.submit(Command::Stop).await.unwrap();
    assert_eq!(deltas().await, ["three"]);
}

#[tokio::test]
async fn queued_messages_are_limited_in_number_and_bytes() {
    const MIB: usize = 1 << 20;
    let (agent, _go) = held("x");
    let limits = Limits {
        queued_prompts: 3,
        ..Limits::default()
    };
    let stage = Stage::with(vec![("agent", agent)], limits);
    let session = stage.session().await;
    let running = submit(&session, prompt("running")).await;
    said_something(&session, running).await;
    let submits = |bytes: usize| session.submit(prompt(&"x".repeat(bytes)));
    submits(5 * MIB).await.unwrap();
    let too_long = Err(Error::QueueTooLong { limit: 8 * MIB });
    assert_eq!(submits(3 * MIB + 1).await, too_long);
    submits(3 * MIB - 1).await.unwrap();
    assert_eq!(submits(2).await, too_long);
    submits(1).await.unwrap();
    assert_eq!(submits(0).await, Err(Error::QueueFull { limit: 3 }));
    // A single message may be longer than the limit of the queue.
    session
        .submit(Command::StopOnly(Turns::Numbered(running)))
        .await
        .unwrap();
    let stopped = session.submit(Command::Stop).await.unwrap();
    assert!(matches!(stopped, Receipt::Stopped { running: true, .. }));
    let running = submit(&session, prompt("running")).await;
    said_something(&session, running).await;
    submits(9 * MIB).await.unwrap();
}

#[tokio::test]
async fn a_message_that_does_not_want_to_wait_is_refused_while_a_turn_runs() {
    let (agent, go) = held("x");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let at_once = |text: &str| match prompt(text) {
        Command::Prompt {
            prompt,
            source,
            shown,
            ..
        } => Command::Prompt {
            prompt,
            source,
            shown,
            when_busy: WhenBusy::Refuse,
        },
        other => other,
    };
    let turn = submit(&session, at_once("one")).await;
    said_something(&session, turn).await;
    let refused = session.submit(at_once("two")).await;
    assert_eq!(refused, Err(Error::SessionBusy));
    submit(&session, prompt("three")).await;
    go.notify_one();
    ended(&session, turn).await;
}

#[tokio::test]
async fn a_deleted_session_ends_its_turn_and_its_readers() {
    let (agent, _go) = held("x");
    let stage = Stage::new(agent);
    let session = stage.session().await;
    let turn = submit(&session, prompt("one")).await;
    submit(&session, prompt("two")).await;
    said_something(&session, turn).await;
    let mut reader = session.subscribe(session.head());
    assert_eq!(session.submit(Command::Delete).await, Ok(Receipt::Done));
    assert_eq!(
        reader.next(1).await.unwrap().unwrap_err(),
        SubscriptionEnd::Deleted
    );
    let gone = Error::SessionNotFound(session.id());
    assert_eq!(session.submit(prompt("three")).await, Err(gone.clone()));
    assert_eq!(stage.hub.open(session.id()).await.err(), Some(gone));
    assert_eq!(Arc::strong_count(&session), 2, "the reader and this test");
    assert_eq!(stage.hub.awake_count(), 0);
}
