//! What a turn left in the log when it was cut off.

use std::collections::VecDeque;

use crate::{
    error::Result,
    event::{Event, Source},
    id::SessionId,
    store::Store,
};

/// Bytes of the log read at a time.
const PAGE: usize = 1 << 20;

/// A message that waits for its turn.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) turn: u64,
    pub(crate) prompt: String,
    pub(crate) source: Source,
}

/// What is not over in a log.
#[derive(Debug, Default)]
pub(crate) struct Unfinished {
    /// The turn that was running.
    pub(crate) running: Option<u64>,
    /// Messages that had not begun.
    pub(crate) waiting: VecDeque<Waiting>,
    /// What the open message of the running turn held, as a partial message.
    pub(crate) draft: Option<Event>,
}

/// Reads what is not over, knowing that everything up to `settled` is.
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
                self.waiting.push_back(Waiting {
                    turn: seq,
                    prompt: prompt.clone(),
                    source: source.clone(),
                });
            }
            Event::TurnStarted { turn, .. } => {
                self.waiting.retain(|waiting| waiting.turn != *turn);
                self.running = Some(*turn);
            }
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
                    self.draft = Some(Event::Message {
                        turn: *turn,
                        message: message.clone(),
                        text: text.clone(),
                        partial: true,
                        replaces: Some((seq, seq)),
                    });
                }
            },
            Event::Message { .. } => self.draft = None,
            Event::TurnEnded { turn, .. } => {
                self.waiting.retain(|waiting| waiting.turn != *turn);
                // A message that was dropped while another was answered ends nothing else.
                if self.running == Some(*turn) {
                    self.running = None;
                    self.draft = None;
                }
            }
            _ => {}
        }
    }
}
