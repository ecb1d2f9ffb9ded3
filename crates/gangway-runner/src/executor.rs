//! The executor of turns in a runner, and the sink for their events.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use futures_util::future::BoxFuture;
use gangway_core::{AgentError, Source, ToolName, Usage};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, oneshot};

use super::{gauge::Gauge, outbox::Outbox, pane::Pane, wire::TurnEvent};

/// The maximum length of a delta.
const PIECE_BYTES: usize = 32 << 10;

/// The maximum length of other texts.
const WORDS_BYTES: usize = 64 << 10;

/// Larger arguments and results are truncated to text.
const VALUE_BYTES: usize = 512 << 10;

#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub text: String,
    pub source: Source,
}

/// Takes the turns of an agent: the built-in loop, an ACP agent, a terminal program.
pub trait Executor: Send {
    /// Starts what it needs and reads its persona; after this it can take messages.
    fn start(&mut self) -> BoxFuture<'_, Result<(), String>>;

    /// Does what can wait until the server knows that the agent is ready.
    fn settle(&mut self) {}

    /// Answers a message; its events go to `sink`. Dropping the future cancels the turn.
    fn run_turn<'a>(
        &'a mut self,
        prompt: &'a Prompt,
        sink: &'a TurnSink,
    ) -> BoxFuture<'a, Result<Option<Usage>, AgentError>>;

    /// Cleans up after a cancelled turn.
    fn stopped(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Compacts the context: summarizes the conversation and starts again with the instructions and the summary, which
    /// is returned; on an error it continues unchanged.
    fn hand_over(&mut self) -> BoxFuture<'_, Result<String, String>> {
        let message = "a terminal program cannot write a summary";
        Box::pin(std::future::ready(Err(message.to_owned())))
    }

    /// Ends, with everything it started.
    fn end(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Receives the events of a turn. Applies backpressure while the server has too much unread.
#[derive(Clone)]
pub struct TurnSink {
    turn: u64,
    outbox: Arc<Outbox>,
    pane: Pane,
    /// The number of the last call; locked while one is put into the outbox, so that they are in order there.
    calls: Arc<AsyncMutex<u32>>,
    asked: Arc<AtomicU32>,
    questions: Questions,
    gauge: Arc<Gauge>,
}

/// Open questions, by turn and number.
#[derive(Clone, Default)]
pub struct Questions(Arc<Mutex<OpenQuestions>>);

type OpenQuestions = BTreeMap<(u64, u32), oneshot::Sender<String>>;

impl Questions {
    /// Answers a question; ignored if it is not open.
    pub fn answer(&self, turn: u64, question: u32, text: String) {
        let mut open = self.0.lock();
        if let Some(waiting) = open.remove(&(turn, question)) {
            let _ = waiting.send(text);
        }
    }

    fn wait(&self, turn: u64, question: u32) -> oneshot::Receiver<String> {
        let (sender, receiver) = oneshot::channel();
        let mut open = self.0.lock();
        // Drops abandoned questions.
        open.retain(|_, waiting| !waiting.is_closed());
        open.insert((turn, question), sender);
        receiver
    }
}

impl TurnSink {
    #[must_use]
    pub fn new(
        turn: u64,
        outbox: Arc<Outbox>,
        questions: Questions,
        pane: Pane,
        gauge: Arc<Gauge>,
    ) -> Self {
        Self {
            turn,
            outbox,
            pane,
            calls: Arc::default(),
            asked: Arc::default(),
            questions,
            gauge,
        }
    }

    async fn push(&self, what: TurnEvent) {
        self.pane.show(&what);
        self.outbox.push(self.turn, what).await;
    }

    /// The message was accepted.
    pub async fn taken(&self) {
        self.push(TurnEvent::Taken).await;
    }

    /// A part of the answer.
    pub async fn delta(&self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(boundary(rest, PIECE_BYTES));
            self.push(TurnEvent::Delta { text: now.into() }).await;
            rest = later;
        }
    }

    /// The message of the deltas is complete.
    pub async fn message_end(&self) {
        self.push(TurnEvent::MessageEnd).await;
    }

    /// A tool call; returns its number, for the result.
    pub async fn call(&self, tool: &str, arguments: &Value) -> u32 {
        let mut last = self.calls.lock().await;
        *last += 1;
        let call = *last;
        let (tool, arguments) = (cut(tool, 256), bounded(arguments));
        self.push(TurnEvent::Call {
            call,
            tool,
            arguments,
        })
        .await;
        call
    }

    /// A call of a page's tool, which the server makes; `open` gets its number first, and may prevent it.
    pub(super) async fn page_call<T>(
        &self,
        tool: &ToolName,
        arguments: &Value,
        connection: u64,
        open: impl FnOnce(u32) -> Option<T>,
    ) -> Option<T> {
        let mut last = self.calls.lock().await;
        let opened = open(*last + 1)?;
        *last += 1;
        self.push(TurnEvent::PageCall {
            call: *last,
            tool: tool.to_string(),
            arguments: arguments.clone(),
            connection,
        })
        .await;
        Some(opened)
    }

    /// Shows a result in the pane only: the server knows it.
    pub(super) fn show_result(&self, call: u32, tool: &str, result: Result<&Value, &str>) {
        self.pane.show(&TurnEvent::Result {
            call,
            tool: tool.to_owned(),
            result: result.map(bounded).map_err(str::to_owned),
        });
    }

    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    pub async fn result(&self, call: u32, tool: &str, result: Result<&Value, &str>) {
        let result = match result {
            Ok(value) => Ok(bounded(value)),
            Err(message) => Err(cut(message, WORDS_BYTES)),
        };
        let tool = cut(tool, 256);
        self.push(TurnEvent::Result { call, tool, result }).await;
    }

    /// A notice for the user.
    pub async fn notice(&self, text: &str) {
        let text = cut(text, WORDS_BYTES);
        self.push(TurnEvent::Notice { text }).await;
    }

    /// How full the context window is, with a warning at thresholds.
    pub async fn context(&self, used: u64, window: Option<u64>) {
        self.push(TurnEvent::Context { used, window }).await;
        if let Some(warning) = self.gauge.note(used, window) {
            self.notice(&warning).await;
        }
    }

    /// Asks the user and waits for the answer, however long it takes.
    pub async fn ask(&self, text: &str, options: &[String]) -> String {
        let question = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let answer = self.questions.wait(self.turn, question);
        let options = options.iter().take(64).map(|option| cut(option, 1024));
        self.push(TurnEvent::Question {
            question,
            text: cut(text, WORDS_BYTES),
            options: options.collect(),
        })
        .await;
        match answer.await {
            Ok(text) => text,
            // Never answered: the turn is about to be dropped.
            Err(_) => std::future::pending().await,
        }
    }

    pub(super) async fn over(&self, how: Result<Option<Usage>, AgentError>) {
        self.push(match how {
            Ok(usage) => TurnEvent::Done { usage },
            Err(error) => TurnEvent::Failed {
                code: error.code,
                message: cut(&error.message, WORDS_BYTES),
                retryable: error.retryable,
            },
        })
        .await;
    }
}

/// Truncates a text, with a mark.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..boundary(text, most)])
}

pub(super) fn failed(message: String) -> AgentError {
    AgentError {
        code: "agent_failed".into(),
        message,
        retryable: true,
    }
}

/// The last character boundary up to here.
fn boundary(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    let places = (0..=most).rev();
    places
        .into_iter()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// A value as it is logged.
#[must_use]
pub fn bounded(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= VALUE_BYTES {
        return value.clone();
    }
    Value::String(cut(&text, VALUE_BYTES))
}
