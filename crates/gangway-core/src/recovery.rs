//! Unfinished turns in the log of a session that was interrupted.

use std::collections::VecDeque;

use crate::{
    error::Result,
    event::{Event, Source},
    id::{QuestionId, SessionId},
    store::Store,
};

/// Bytes of the log read at a time.
const PAGE: usize = 1 << 20;

/// A queued message.
#[derive(Debug)]
pub(crate) struct QueuedMessage {
    pub(crate) turn: u64,
    pub(crate) prompt: String,
    pub(crate) source: Source,
}

/// The unfinished part of a log.
#[derive(Debug, Default)]
pub(crate) struct Unfinished {
    /// The running turn with its output besides the open message.
    pub(crate) running: Option<PartialTurn>,
    /// Messages whose turns had not begun.
    pub(crate) waiting: VecDeque<QueuedMessage>,
}

/// A turn that began, with its output.
#[derive(Debug)]
pub(crate) struct PartialTurn {
    /// The message that it answers.
    pub(crate) message: QueuedMessage,
    /// Its agent.
    pub(crate) agent: String,
    /// The open message, as a partial message.
    pub(crate) draft: Option<Event>,
    /// The number of messages begun.
    pub(crate) messages: u32,
    /// The number of tool calls.
    pub(crate) calls: u32,
    /// Questions, with their answers.
    pub(crate) questions: Vec<(QuestionId, Option<String>)>,
}

impl PartialTurn {
    fn apply(&mut self, seq: u64, event: &Event) {
        match event {
            Event::Delta {
                turn,
                message,
                text,
            } => match &mut self.draft {
                Some(Event::Message {
                    text: so_far,
                    replaces: Some((_, last)),
                    ..
                }) => {
                    so_far.push_str(text);
                    *last = seq;
                }
                _ => {
                    self.messages += 1;
                    self.draft = Some(Event::Message {
                        turn: *turn,
                        message: message.clone(),
                        text: text.clone(),
                        partial: true,
                        replaces: Some((seq, seq)),
                    });
                }
            },
            // Its deltas may have been dropped; then it counts as one.
            Event::Message { .. } => self.messages += u32::from(self.draft.take().is_none()),
            Event::ToolCall { .. } => self.calls += 1,
            Event::Question { question, .. } => self.questions.push((question.clone(), None)),
            Event::Answer { question, text, .. } => {
                for (asked, answer) in &mut self.questions {
                    if asked == question {
                        *answer = Some(text.clone());
                    }
                }
            }
            _ => {}
        }
    }
}

/// Reads the unfinished part; everything up to `settled` is finished.
pub(crate) async fn unfinished(
    store: &Store,
    session: SessionId,
    settled: u64,
) -> Result<Unfinished> {
    let mut found = Unfinished::default();
    let mut after = settled;
    loop {
        let page = store.read(session, after, PAGE).await?;
        for logged in &page.events {
            after = logged.seq;
            found.apply(logged.seq, &logged.event);
        }
        if !page.more {
            return Ok(found);
        }
    }
}

impl Unfinished {
    fn apply(&mut self, seq: u64, event: &Event) {
        match event {
            Event::MessageStarted { prompt, source, .. } => {
                self.waiting.push_back(QueuedMessage {
                    turn: seq,
                    prompt: prompt.clone(),
                    source: source.clone(),
                });
            }
            Event::TurnStarted { turn, agent, .. } => {
                let waits = |waiting: &QueuedMessage| waiting.turn == *turn;
                let message = self.waiting.iter().position(waits);
                self.running = message
                    .and_then(|at| self.waiting.remove(at))
                    .map(|message| PartialTurn {
                        message,
                        agent: agent.clone(),
                        draft: None,
                        messages: 0,
                        calls: 0,
                        questions: Vec::new(),
                    });
            }
            Event::TurnEnded { turn, .. } => {
                self.waiting.retain(|waiting| waiting.turn != *turn);
                // A message that was dropped during another turn ends nothing else.
                self.running
                    .take_if(|running| running.message.turn == *turn);
            }
            event => {
                if let Some(running) = &mut self.running
                    && event.turn(seq) == Some(running.message.turn)
                {
                    running.apply(seq, event);
                }
            }
        }
    }
}
