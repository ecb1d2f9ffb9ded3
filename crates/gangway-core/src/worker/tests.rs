//! Turns of agents that continue while the process is down.

mod commands;
mod lasting;
mod stage;
mod taken;
mod turns;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    Agent, AgentError, Agents, CallId, Command, Event, Hub, Limits, NewSession, Outcome, Readiness,
    Session, SessionId, Source, Store, Turn, Usage, WhenBusy,
};

/// The next step of the test's agent.
enum Step {
    Say(u64, &'static str),
    Call(u64),
    Result(u64),
    Ask(u64),
    Finish,
}

/// An agent that lives elsewhere: each run takes its steps from the test and reports what it found.
struct Elsewhere {
    steps: tokio::sync::Mutex<mpsc::Receiver<Step>>,
    found: mpsc::Sender<Found>,
}

/// What a run found when it began, and after each step.
#[derive(Debug, PartialEq)]
enum Found {
    Begun {
        prompt: String,
        marked: u64,
        asked: Vec<Option<String>>,
    },
    Did,
    Answered(String),
}

impl Elsewhere {
    async fn take(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let asked = turn.asked_before().to_vec();
        self.publish_status(Found::Begun {
            prompt: turn.prompt().to_owned(),
            marked: turn.marked().await?,
            asked: asked.iter().map(|(_, answer)| answer.clone()).collect(),
        })
        .await;
        let open = asked.iter().find(|(_, answer)| answer.is_none());
        if let Some((question, _)) = open {
            let answer = turn.await_answer(question).await;
            self.publish_status(Found::Answered(answer.unwrap())).await;
        }
        let mut steps = self.steps.lock().await;
        while let Some(step) = steps.recv().await {
            match step {
                Step::Say(n, text) => {
                    turn.mark(n);
                    turn.delta(text).await?;
                }
                Step::Call(n) => {
                    turn.mark(n);
                    turn.tool_call("a/b", json!({})).await?;
                }
                Step::Result(n) => {
                    turn.mark(n);
                    let call = CallId::nth(turn.number(), 1);
                    turn.tool_result(call, "a/b", Ok(json!(1))).await?;
                }
                Step::Ask(n) => {
                    turn.mark(n);
                    let (_, answer) = turn.put_question("Sure?", &[]).await?;
                    turn.flushed().await?;
                    self.publish_status(Found::Did).await;
                    let answer = answer.await;
                    self.publish_status(Found::Answered(answer.unwrap_or_default()))
                        .await;
                    continue;
                }
                Step::Finish => return Ok(None),
            }
            turn.flushed().await?;
            self.publish_status(Found::Did).await;
        }
        Ok(None)
    }

    async fn publish_status(&self, found: Found) {
        self.found.send(found).await.unwrap();
    }
}

impl Agent for Elsewhere {
    fn description(&self) -> String {
        String::new()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn survives(&self) -> bool {
        true
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        self.take(turn).boxed()
    }
}

struct Stage {
    folder: tempfile::TempDir,
    hub: Arc<Hub>,
    steps: mpsc::Sender<Step>,
    found: Mutex<mpsc::Receiver<Found>>,
}

impl Stage {
    fn open(folder: tempfile::TempDir) -> Self {
        Self::open_with(folder, 0)
    }

    /// The same with an agent that blocks while this many items are not taken from it.
    fn open_with(folder: tempfile::TempDir, held: usize) -> Self {
        let store = Store::open(folder.path()).unwrap();
        let (steps, to_do) = mpsc::channel(8);
        let (found, seen) = mpsc::channel(if held > 0 { held } else { 8 });
        for _ in 0..held {
            found.try_send(Found::Did).unwrap();
        }
        let agent: Arc<dyn Agent> = Arc::new(Elsewhere {
            steps: tokio::sync::Mutex::new(to_do),
            found,
        });
        let agents = Agents::new(
            BTreeMap::from([("elsewhere".to_owned(), agent)]),
            "elsewhere",
        );
        Self {
            hub: Hub::new(store, agents.unwrap(), Limits::default()),
            folder,
            steps,
            found: Mutex::new(seen),
        }
    }

    /// Stops and starts like a server.
    async fn restart(self) -> Self {
        self.restart_with(0).await
    }

    async fn restart_with(self, held: usize) -> Self {
        self.hub.shut_down().await;
        let Self { folder, hub, .. } = self;
        drop(hub);
        let stage = Self::open_with(folder, held);
        stage.hub.recover().await.unwrap();
        stage
    }

    async fn next(&self) -> Found {
        let mut found = {
            let mut found = self.found.lock().unwrap();
            std::mem::replace(&mut *found, mpsc::channel(1).1)
        };
        let next = found.recv().await.unwrap();
        *self.found.lock().unwrap() = found;
        next
    }

    async fn does(&self, step: Step) {
        self.steps.send(step).await.unwrap();
        assert_eq!(self.next().await, Found::Did);
    }

    async fn events(&self, session: &Session) -> Vec<Event> {
        let tail = session.tail(1000).await.unwrap();
        tail.events
            .iter()
            .map(|logged| logged.event.clone())
            .collect()
    }
}

async fn begin(stage: &Stage) -> SessionId {
    let id = SessionId::new();
    stage.hub.create(id, NewSession::default()).await.unwrap();
    let session = stage.hub.open(id).await.unwrap();
    let prompt = Command::Prompt {
        prompt: "Go".into(),
        source: Source::Person,
        shown: true,
        when_busy: WhenBusy::Queue,
    };
    session.submit(prompt).await.unwrap();
    let begun = stage.next().await;
    assert!(matches!(begun, Found::Begun { marked: 0, .. }), "{begun:?}");
    id
}

#[tokio::test]
async fn a_turn_that_runs_elsewhere_is_taken_up_after_a_restart_with_nothing_lost() {
    let stage = Stage::open(tempfile::tempdir().unwrap());
    let id = begin(&stage).await;
    stage.does(Step::Say(1, "One ")).await;
    stage.does(Step::Call(2)).await;
    stage.does(Step::Say(3, "two ")).await;
    let stage = stage.restart().await;
    let begun = Found::Begun {
        prompt: "Go".into(),
        marked: 3,
        asked: Vec::new(),
    };
    assert_eq!(stage.next().await, begun);
    stage.does(Step::Result(4)).await;
    stage.does(Step::Say(5, "three")).await;
    let session = stage.hub.open(id).await.unwrap();
    assert!(session.is_running());
    stage.steps.send(Step::Finish).await.unwrap();
    let mut feed = session.subscribe(0);
    let mut texts = Vec::new();
    'read: loop {
        for logged in feed.next(1 << 20).await.unwrap().unwrap() {
            match &logged.event {
                Event::Message { text, partial, .. } => texts.push((text.clone(), *partial)),
                Event::TurnEnded { outcome, .. } => {
                    assert_eq!(*outcome, Outcome::Completed);
                    break 'read;
                }
                _ => {}
            }
        }
    }
    let whole = [("One ", false), ("two three", false)];
    assert_eq!(
        texts,
        whole.map(|(text, partial)| (text.to_owned(), partial))
    );
    let calls = stage.events(&session).await;
    let calls: Vec<_> = calls
        .iter()
        .filter_map(|event| match event {
            Event::ToolCall { call, .. } => Some(("call", call.to_string())),
            Event::ToolResult { call, .. } => Some(("result", call.to_string())),
            _ => None,
        })
        .collect();
    assert_eq!(calls[0].1, calls[1].1);
}

#[tokio::test]
async fn a_question_is_still_open_after_a_restart_and_its_answer_is_known_after_another() {
    let stage = Stage::open(tempfile::tempdir().unwrap());
    let id = begin(&stage).await;
    stage.does(Step::Ask(1)).await;
    let session = stage.hub.open(id).await.unwrap();
    let events = stage.events(&session).await;
    let question = events.into_iter().find_map(|event| match event {
        Event::Question { question, .. } => Some(question),
        _ => None,
    });
    drop(session);
    let stage = stage.restart_with(1).await;
    let session = stage.hub.open(id).await.unwrap();
    // Before the agent waits for it again.
    let answer = Command::Answer {
        question: question.unwrap(),
        text: "Yes".into(),
    };
    session.submit(answer).await.unwrap();
    assert_eq!(stage.next().await, Found::Did);
    let begun = stage.next().await;
    assert!(
        matches!(&begun, Found::Begun { asked, .. } if *asked == [None]),
        "{begun:?}"
    );
    assert_eq!(stage.next().await, Found::Answered("Yes".into()));
    drop(session);
    let stage = stage.restart().await;
    let begun = stage.next().await;
    assert!(
        matches!(&begun, Found::Begun { asked, .. } if *asked == [Some("Yes".to_owned())]),
        "{begun:?}"
    );
}

#[tokio::test]
async fn a_stop_ends_a_turn_that_runs_elsewhere() {
    let stage = Stage::open(tempfile::tempdir().unwrap());
    let id = begin(&stage).await;
    stage.does(Step::Say(1, "Half")).await;
    let stage = stage.restart().await;
    stage.next().await;
    let session = stage.hub.open(id).await.unwrap();
    session.submit(Command::Stop).await.unwrap();
    let ends = stage.events(&session).await;
    assert!(ends.iter().any(
        |event| matches!(event, Event::Message { text, partial: true, .. } if text == "Half")
    ));
    drop(session);
    let stage = stage.restart().await;
    let session = stage.hub.open(id).await.unwrap();
    assert!(!session.is_running());
}
