//! Requests are bounded, ordered, answered once, and withdrawn by their owner.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{
    command::Command,
    grant::Scope,
    id::SessionId,
    notes::{NoteWriter, Notes},
};

fn asks() -> Arc<Asks> {
    Arc::default()
}

fn request(lane: &str, text: &str) -> NewAsk {
    NewAsk {
        asker: Asker::Server("files".to_owned()),
        body: AskBody::Message {
            session: SessionId::new(),
            text: text.to_owned(),
        },
        lane: Lane {
            name: lane.to_owned(),
            limit: 3,
            one_at_a_time: true,
        },
        timeout: None,
        hidden: false,
        session: None,
    }
}

fn ignored() -> Answering {
    Arc::new(|_, _| Box::pin(async { Ok(()) }))
}

fn texts(asks: &Asks) -> Vec<String> {
    let text = |ask: &Arc<Ask>| match &ask.body {
        AskBody::Message { text, .. } => text.clone(),
        _ => unreachable!(),
    };
    asks.list().iter().map(text).collect()
}

fn once() -> Reply {
    Reply {
        decision: AskDecision::Once,
        ..Reply::default()
    }
}

#[tokio::test]
async fn a_lane_is_shown_one_at_a_time_in_the_order_of_asking() {
    let asks = asks();
    let first = asks.open(request("a", "1"), ignored()).unwrap();
    let second = asks.open(request("a", "2"), ignored()).unwrap();
    let _other = asks.open(request("b", "3"), ignored()).unwrap();
    assert_eq!(texts(&asks), ["1", "3"]);
    assert!(asks.get(second.id()).is_none());
    let early = asks.answer(second.id(), once()).await;
    assert!(matches!(early, Err(AskError::NotFound)));
    first.shown().await;
    drop(first);
    second.shown().await;
    assert_eq!(texts(&asks), ["2", "3"]);
}

#[tokio::test]
async fn a_lane_has_a_limit_that_other_lanes_do_not_share() {
    let asks = asks();
    let open = |lane| asks.open(request(lane, "x"), ignored());
    let full: Vec<_> = (0..3).map(|_| open("a").unwrap()).collect();
    assert!(open("a").is_err());
    assert!(open("b").is_ok());
    drop(full);
    assert!(open("a").is_ok());
}

#[tokio::test]
async fn a_lane_without_order_shows_all() {
    let asks = asks();
    let open = |text| {
        let mut new = request("a", text);
        new.lane.one_at_a_time = false;
        asks.open(new, ignored()).unwrap()
    };
    let _both = [open("1"), open("2")];
    assert_eq!(texts(&asks), ["1", "2"]);
}

#[tokio::test]
async fn a_request_is_answered_once_and_keeps_its_place_until_its_asker_is_done() {
    let asks = asks();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let answering: Answering = Arc::new(move |_, reply| {
        assert_eq!(reply.decision, AskDecision::Once);
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(()) })
    });
    let first = asks.open(request("a", "1"), answering).unwrap();
    let _second = asks.open(request("a", "2"), ignored()).unwrap();
    asks.answer(first.id(), once()).await.unwrap();
    let again = asks.answer(first.id(), once()).await;
    assert!(matches!(again, Err(AskError::NotFound)));
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert!(texts(&asks).is_empty());
    drop(first);
    assert_eq!(texts(&asks), ["2"]);
}

#[tokio::test]
async fn a_rejected_answer_leaves_the_request_open() {
    let asks = asks();
    let asking = tokio::spawn({
        let asks = Arc::clone(&asks);
        async move {
            let check = |reply: &Reply| match reply.content {
                Some(_) => Ok(()),
                None => Err(AskError::invalid("fill in the form")),
            };
            asks.ask(request("a", "1"), check).await.unwrap()
        }
    });
    let mut changes = asks.changes();
    changes.wait_for(|_| !asks.list().is_empty()).await.unwrap();
    let id = asks.list()[0].id.clone();
    let empty = asks.answer(&id, once()).await;
    assert!(matches!(empty, Err(AskError::Invalid { .. })));
    assert_eq!(texts(&asks), ["1"]);
    let filled = Reply {
        content: Some(serde_json::Map::new()),
        ..once()
    };
    asks.answer(&id, filled.clone()).await.unwrap();
    assert_eq!(asking.await.unwrap(), filled);
    assert!(texts(&asks).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_times_out_was_dismissed() {
    let asks = asks();
    let mut new = request("a", "1");
    new.timeout = Some(Duration::from_secs(60));
    let reply = asks.ask(new, |_| Ok(())).await.unwrap();
    assert_eq!(reply.decision, AskDecision::Dismiss);
    assert!(asks.list().is_empty());
}

#[tokio::test]
async fn a_withdrawn_request_is_gone_at_once() {
    let asks = asks();
    let open = asks.open(request("a", "1"), ignored()).unwrap();
    let id = open.id().clone();
    let mut changes = asks.changes();
    changes.borrow_and_update();
    drop(open);
    assert!(changes.has_changed().unwrap());
    assert!(texts(&asks).is_empty());
    let late = asks.answer(&id, once()).await;
    assert!(matches!(late, Err(AskError::NotFound)));
}

#[tokio::test]
async fn a_hidden_request_is_found_by_its_id_alone() {
    let asks = asks();
    let mut new = request("a", "1");
    new.hidden = true;
    let open = asks.open(new, ignored()).unwrap();
    assert!(asks.list().is_empty());
    assert!(asks.get(open.id()).is_some());
    asks.answer(open.id(), once()).await.unwrap();
}

#[tokio::test]
async fn what_was_decided_otherwise_is_shown_no_more() {
    let asks = asks();
    let open = |lane, text| asks.open(request(lane, text), ignored()).unwrap();
    let [first, second, third] = [open("a", "1"), open("a", "2"), open("a", "3")];
    let _other = open("b", "4");
    asks.settle("a", false);
    assert_eq!(texts(&asks), ["4"]);
    drop(first);
    assert_eq!(texts(&asks), ["2", "4"]);
    asks.settle("a", true);
    drop(second);
    assert_eq!(texts(&asks), ["4"]);
    drop(third);
}

#[tokio::test]
async fn a_changed_request_is_announced_and_an_unchanged_one_is_not() {
    let asks = asks();
    let open = asks.open(request("a", "1"), ignored()).unwrap();
    let mut changes = asks.changes();
    changes.borrow_and_update();
    open.update(asks.list()[0].body.clone());
    assert!(!changes.has_changed().unwrap());
    open.update(request("a", "2").body);
    assert!(changes.has_changed().unwrap());
    assert_eq!(texts(&asks), ["2"]);
}

#[tokio::test(start_paused = true)]
async fn closing_the_last_window_dismisses_the_request_and_reloading_it_does_not() {
    let asks = asks();
    let dismissed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&dismissed);
    let answering: Answering = Arc::new(move |_, reply| {
        assert_eq!(reply.decision, AskDecision::Dismiss);
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(()) })
    });
    let open = asks.open(request("a", "1"), answering).unwrap();
    assert!(!asks.has_window(open.id()));
    let window = asks.window(open.id()).unwrap();
    assert!(asks.has_window(open.id()));
    drop(window);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let reloaded = asks.window(open.id()).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(dismissed.load(Ordering::Relaxed), 0);
    drop(reloaded);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(dismissed.load(Ordering::Relaxed), 1);
    assert!(texts(&asks).is_empty());
}

fn entry((_, command): (SessionId, Command)) -> AskEntry {
    match command {
        Command::Ask { entry, .. } => *entry,
        _ => unreachable!(),
    }
}

/// All that was put, once nobody can put more.
async fn entries(mut writer: NoteWriter) -> Vec<AskEntry> {
    let mut all = Vec::new();
    while let Some(note) = writer.next().await {
        all.push(entry(note));
    }
    all
}

fn logged(text: &str) -> NewAsk {
    NewAsk {
        session: Some(SessionId::new()),
        ..request("a", text)
    }
}

fn closed(outcome: AskOutcome) -> AskEntry {
    let by = outcome.is_decision().then_some(Actor::Person);
    AskEntry::Closed { outcome, by }
}

#[tokio::test]
async fn a_decision_is_in_the_log_before_its_asker_goes_on() {
    let (notes, mut writer) = Notes::new();
    let asks = Arc::new(Asks::new(notes));
    let asking = tokio::spawn({
        let asks = Arc::clone(&asks);
        async move { asks.ask(logged("1"), |_| Ok(())).await }
    });
    let opened = entry(writer.next().await.unwrap());
    let request = AskedFor::Message {
        text: "1".to_owned(),
    };
    assert!(matches!(opened, AskEntry::Opened { request: one, .. } if one == request));
    let id = asks.list()[0].id.clone();
    let answering = tokio::spawn({
        let asks = Arc::clone(&asks);
        async move { asks.answer(&id, once()).await }
    });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(!asking.is_finished());
    let note = writer.next().await.unwrap();
    assert_eq!(entry(note), closed(AskOutcome::Once));
    answering.await.unwrap().unwrap();
    assert_eq!(asking.await.unwrap().unwrap(), once());
    drop(asks);
    assert!(entries(writer).await.is_empty());
}

#[tokio::test]
async fn a_request_that_is_over_without_an_answer_says_why() {
    let (notes, writer) = Notes::new();
    let asks = Arc::new(Asks::new(notes));
    drop(asks.open(logged("1"), ignored()));
    let mut new = logged("2");
    new.timeout = Some(Duration::ZERO);
    drop(asks.open(new, ignored()));
    drop(asks);
    let closed: Vec<_> = entries(writer)
        .await
        .into_iter()
        .skip(1)
        .step_by(2)
        .collect();
    let expected = [AskOutcome::Withdrawn, AskOutcome::Expired].map(self::closed);
    assert_eq!(closed, expected);
}

#[tokio::test]
async fn a_page_that_asks_all_the_time_does_not_fill_the_log_and_decisions_are_in_it() {
    let (notes, writer) = Notes::new();
    let asks = Arc::new(Asks::new(notes));
    let session = SessionId::new();
    let new = |text: &str| NewAsk {
        session: Some(session),
        ..request("a", text)
    };
    for _ in 0..1_000 {
        drop(asks.open(new("again"), ignored()));
    }
    let open = asks.open(new("last"), ignored()).unwrap();
    let reading = tokio::spawn(entries(writer));
    asks.answer(open.id(), once()).await.unwrap();
    drop((open, asks));
    let all = reading.await.unwrap();
    assert!(all.len() <= 204, "{}", all.len());
    let [.., AskEntry::Opened { request, .. }, last] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(*last, closed(AskOutcome::Once));
    assert_eq!(
        *request,
        AskedFor::Message {
            text: "last".to_owned()
        }
    );
}

#[test]
fn neither_values_of_forms_nor_the_paths_of_urls_are_logged() {
    let secret = "s3cret";
    let url = format!("https://login.example/{secret}?token={secret}");
    let form = serde_json::json!({ "properties": { "password": { "default": secret } } });
    let bodies = [
        AskBody::Elicitation {
            message: "Log in".to_owned(),
            schema: Some(form),
            url: Some(url.clone()),
        },
        AskBody::Action {
            message: format!("open {url}"),
            lasting: false,
            url: Some(url.clone()),
        },
        AskBody::Permission(PermissionRequest {
            embedder: None,
            scopes: vec![Scope::ServersRegister],
            reason: None,
            tools: None,
            server: Some(RequestedServer {
                url,
                name: "s".to_owned(),
                description: None,
                tools: Vec::new(),
            }),
            once_only: false,
            waiting: 0,
        }),
    ];
    for body in &bodies {
        let logged = serde_json::to_string(&AskedFor::from(body)).unwrap();
        assert!(logged.contains("https://login.example"), "{logged}");
        assert!(!logged.contains(secret), "{logged}");
    }
}
