//! A turn as its agent sees it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use tokio::sync::{Notify, mpsc};

use super::stage::{Stage, acting, applet_prompt, asked, ended, prompt, submit, until};
use crate::{
    AppEvent, AppEventKind, CallId, Command, Event, LaunchId, Limits, MessageId, NewSession,
    QuestionId, Receipt, SessionId, Source, Store,
    conversation::EntryBody,
    store::Syncer,
    turn::{MESSAGE_BYTES, Turn},
};

/// What a turn reports of itself.
#[derive(Debug, PartialEq)]
struct Told {
    prompt: String,
    source: Source,
    session: SessionId,
    number: u64,
    model: Option<String>,
    open: Option<QuestionId>,
    marked: u64,
}

async fn told(turn: &Turn) -> Told {
    Told {
        prompt: turn.prompt().to_owned(),
        source: turn.source().clone(),
        session: turn.session(),
        number: turn.number(),
        model: turn.model().map(str::to_owned),
        open: turn.open_question(),
        marked: turn.marked().await.unwrap(),
    }
}

#[tokio::test]
async fn it_contains_the_questions_with_their_senders_and_the_progress_of_the_agent() {
    let (tell, mut tells) = mpsc::channel(4);
    let stage = Stage::new(acting(move |mut turn| {
        let tell = tell.clone();
        async move {
            tell.send(told(&turn).await).await.unwrap();
            turn.mark(41 + turn.number());
            turn.notice("Hm.").await?;
            Ok(None)
        }
    }));
    let model = Some("m".to_owned());
    let spec = NewSession {
        model: model.clone(),
        ..NewSession::default()
    };
    let session = stage.session_with(spec).await;
    let first = submit(&session, applet_prompt("notes")).await;
    ended(&session, first).await;
    let source = Source::Applet {
        slug: "notes".into(),
    };
    let expected = Told {
        prompt: "from an applet".into(),
        source,
        session: session.id(),
        number: first,
        model,
        open: None,
        marked: 0,
    };
    assert_eq!(tells.recv().await, Some(expected));
    let second = submit(&session, prompt("Go")).await;
    let again = tells.recv().await.unwrap();
    assert_eq!((again.number, again.marked), (second, 41 + first));
    assert_eq!(again.source, Source::Person);
    let other = stage.session().await;
    submit(&other, prompt("Go")).await;
    let other = tells.recv().await.unwrap();
    assert_eq!(other.marked, 0, "each session has its own count");
}

#[tokio::test]
async fn everything_it_says_is_in_the_log_in_order_and_messages_end_before_it() {
    let stage = Stage::new(acting(async |mut turn| {
        turn.delta("").await?;
        turn.delta("One ").await?;
        turn.delta("two").await?;
        turn.notice("Careful.").await?;
        turn.context(10, Some(100)).await?;
        turn.delta("three").await?;
        for n in 1..=2 {
            let call = turn.tool_call("a/b", json!({ "n": n })).await?;
            turn.tool_result(call, "a/b", Ok(json!(n))).await?;
        }
        turn.end_message().await?;
        Ok(None)
    }));
    let session = stage.session().await;
    let events = asked(&session, "Go").await;
    let turn = 3;
    let message = |n, text: &str, replaces| Event::Message {
        turn,
        message: MessageId::nth(turn, n),
        text: text.into(),
        partial: false,
        replaces: Some(replaces),
    };
    let call = |n: u32| Event::ToolCall {
        turn,
        call: CallId::nth(turn, n),
        tool: "a/b".into(),
        arguments: json!({ "n": n }),
    };
    let result = |n: u32| Event::ToolResult {
        turn,
        call: CallId::nth(turn, n),
        tool: "a/b".into(),
        result: Ok(json!(n)),
        code: None,
    };
    let notice = Event::Notice {
        turn,
        text: "Careful.".into(),
    };
    let context = Event::ContextUsed {
        turn,
        used: 10,
        window: Some(100),
    };
    let is_delta = |event: &&Event| !matches!(event, Event::Delta { .. });
    let texts: Vec<_> = events[4..events.len() - 1]
        .iter()
        .filter(is_delta)
        .collect();
    let expected = [
        message(1, "One two", (5, 6)),
        notice,
        context,
        message(2, "three", (10, 10)),
        call(1),
        result(1),
        call(2),
        result(2),
    ];
    assert_eq!(texts, expected.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_message_has_a_maximum_length_and_what_was_said_of_it_stays() {
    let stage = Stage::new(acting(async |mut turn| {
        turn.delta(&"x".repeat(MESSAGE_BYTES - 1)).await?;
        turn.delta("y").await?;
        if turn.prompt() == "more" {
            turn.delta("z").await?;
        }
        Ok(None)
    }));
    let session = stage.session().await;
    let length = |events: &[Event], partial: bool| {
        events.iter().find_map(|event| match event {
            Event::Message {
                text, partial: is, ..
            } if *is == partial => Some(text.len()),
            _ => None,
        })
    };
    let events = asked(&session, "enough").await;
    assert_eq!(length(&events, false), Some(MESSAGE_BYTES));
    let events = asked(&session, "more").await;
    assert_eq!(length(&events, true), Some(MESSAGE_BYTES));
    let failed =
        |event: &Event| matches!(event, Event::Failed { code, .. } if code == "answer_too_long");
    assert!(events.iter().any(failed));
}

#[tokio::test]
async fn a_question_waits_for_its_own_answer_and_is_answered_once() {
    let (tell, mut tells) = mpsc::channel(4);
    let stage = Stage::new(acting(move |mut turn| {
        let tell = tell.clone();
        async move {
            for text in ["Tea?", "Milk?"] {
                let options = ["Yes".to_owned(), "No".to_owned()];
                tell.send(turn.ask(text, &options).await?).await.unwrap();
            }
            Ok(None)
        }
    }));
    let session = stage.session().await;
    let turn = submit(&session, prompt("Go")).await;
    let answer = |n, text: &str| {
        session.submit(Command::Answer {
            question: QuestionId::nth(turn, n),
            text: text.into(),
        })
    };
    for (n, text, question) in [(1, "No", "Tea?"), (2, "Perhaps", "Milk?")] {
        let is_asked =
            |event: &Event| matches!(event, Event::Question { text, .. } if text == question);
        until(&session, is_asked).await;
        assert!(answer(n + 1, "early").await.is_err());
        assert_eq!(answer(n, text).await, Ok(Receipt::Done));
        assert_eq!(tells.recv().await.as_deref(), Some(text));
        assert!(answer(n, "again").await.is_err());
    }
    let events = ended(&session, turn).await;
    let answers = events.iter().filter_map(|event| match event {
        Event::Answer { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), ["No", "Perhaps"]);
}

#[tokio::test]
async fn a_question_about_a_call_that_is_withdrawn_takes_no_answer() {
    let (go, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (wait, withdrawn) = (Arc::clone(&go), Arc::clone(&gone));
    let stage = Stage::new(acting(move |mut turn| {
        let (wait, withdrawn) = (Arc::clone(&wait), Arc::clone(&withdrawn));
        async move {
            let call = turn.tool_call("page/buy", json!({})).await?;
            let answer = turn.ask_about(&call, "Buy?", &[]).await?;
            // The agent's own questions are counted without it.
            let (own, _) = turn.put_question("Which?", &[]).await?;
            assert_eq!(own, QuestionId::nth(turn.number(), 1));
            assert!(!own.is_about_call());
            wait.notified().await;
            let question = QuestionId::about(&call);
            turn.withdraw(&question, "no longer needed").await?;
            turn.withdraw(&question, "a second time").await?;
            assert!(answer.await.is_err());
            withdrawn.notify_one();
            std::future::pending().await
        }
    }));
    let session = stage.session().await;
    let turn = submit(&session, prompt("Go")).await;
    let question = QuestionId::about(&CallId::nth(turn, 1));
    assert!(question.is_about_call());
    until(
        &session,
        |event| matches!(event, Event::Question { text, .. } if text == "Which?"),
    )
    .await;
    go.notify_one();
    gone.notified().await;
    let late = session.submit(Command::Answer {
        question,
        text: "Yes".into(),
    });
    assert!(late.await.is_err());
    session.submit(Command::Stop).await.unwrap();
    let events = ended(&session, turn).await;
    let answers = events.iter().filter_map(|event| match event {
        Event::Answer { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), ["no longer needed"]);
}

/// The texts of items.
fn texts(lines: &[crate::conversation::Entry]) -> Vec<String> {
    let texts = lines.iter().map(|entry| match &entry.line {
        EntryBody::User { text, .. } => format!("said {text}"),
        EntryBody::Assistant { text, .. } => format!("answered {text}"),
        other => format!("{other:?}"),
    });
    texts.collect()
}

#[tokio::test]
async fn it_knows_the_turns_before_it_and_what_it_said_itself() {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let (tell, mut tells) = mpsc::channel(8);
    let stage = Stage::new(acting(move |mut turn| {
        let (tell, wait) = (tell.clone(), Arc::clone(&wait));
        async move {
            wait.notified().await;
            let prompt = turn.prompt().to_owned();
            turn.delta(&format!("{prompt}!")).await?;
            turn.end_message().await?;
            let past = texts(&turn.history().await?);
            let own = texts(&turn.so_far().await?);
            tell.send((past, own)).await.unwrap();
            Ok(None)
        }
    }));
    let session = stage.session().await;
    // The third is queued while the second is answered.
    for text in ["one", "two", "three"] {
        submit(&session, prompt(text)).await;
    }
    let mut past: Vec<String> = Vec::new();
    for text in ["one", "two", "three"] {
        go.notify_one();
        let own = format!("answered {text}!");
        let expected = (past.clone(), vec![own.clone()]);
        assert_eq!(tells.recv().await, Some(expected));
        past.extend([format!("said {text}"), own]);
    }
}

#[tokio::test]
async fn it_knows_whether_a_message_carries_what_an_event_of_an_app() {
    let (tell, mut tells) = mpsc::channel(4);
    let launch = LaunchId::new();
    let stage = Stage::new(acting(move |turn| {
        let tell = tell.clone();
        async move {
            let carried = (
                turn.carries(launch, "e1").await?,
                turn.carries(launch, "e2").await?,
            );
            tell.send(carried).await.unwrap();
            Ok(None)
        }
    }));
    let session = stage.session().await;
    let emitted = AppEvent::Emitted {
        id: "e2".into(),
        event: "x".into(),
        payload: json!(null),
        declared: true,
        turn: true,
        taken: true,
    };
    let app_event = Command::App {
        launch,
        app: "app".parse().unwrap(),
        app_event: Box::new(emitted),
    };
    session.submit(app_event).await.unwrap();
    let name = AppEventKind::Carried.name(launch, "e1");
    session.submit_once(prompt("Go"), name).await.unwrap();
    assert_eq!(tells.recv().await, Some((true, false)));
}

#[tokio::test]
async fn what_it_said_is_on_the_disk_once_it_waited_for_that() {
    let folder = tempfile::tempdir().unwrap();
    let syncs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&syncs);
    let syncer: Syncer = Arc::new(move |file| {
        counted.fetch_add(1, Ordering::SeqCst);
        file.sync_data()
    });
    let store = Store::open_with(folder.path(), syncer).unwrap();
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let (tell, mut tells) = mpsc::channel(4);
    let agent = acting(move |mut turn| {
        let (wait, tell, syncs) = (Arc::clone(&wait), tell.clone(), Arc::clone(&syncs));
        async move {
            wait.notified().await;
            let before = syncs.load(Ordering::SeqCst);
            turn.flushed().await?;
            turn.delta("x").await?;
            let unsynced = syncs.load(Ordering::SeqCst);
            turn.flushed().await?;
            let after = syncs.load(Ordering::SeqCst);
            tell.send((before, unsynced, after)).await.unwrap();
            Ok(None)
        }
    });
    let stage = Stage::on(store, folder, vec![("agent", agent)], Limits::default());
    let session = stage.session().await;
    submit(&session, prompt("Go")).await;
    go.notify_one();
    let (before, unsynced, after) = tells.recv().await.unwrap();
    assert_eq!((unsynced, after), (before, before + 1));
}
