//! Counts running chats, token rates and outcomes.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Instant,
};

use futures_util::{Stream, StreamExt};
use parking_lot::{Mutex, MutexGuard};

use crate::{ChatChunk, ChatStream, Failure, ModelError};

const SECONDS: usize = 60;

/// Activity in the last minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub active: usize,
    /// Output tokens in each of the last sixty complete seconds, oldest first.
    pub tokens: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The caller dropped the stream.
    Cancelled,
    Failed(Failure),
}

#[derive(Debug)]
pub struct RequestEnd<'a> {
    pub provider: &'a str,
    pub outcome: Outcome,
    /// Input tokens, if the provider reported them.
    pub input: u64,
    /// Output tokens, if the provider reported them.
    pub output: u64,
}

type Listener = Box<dyn Fn(&RequestEnd<'_>) + Send + Sync>;

pub(super) struct Meter {
    active: AtomicUsize,
    start: Instant,
    /// The last second with output, and the tokens per second up to it, newest last.
    seconds: Mutex<(u64, VecDeque<u32>)>,
    ended: Listener,
}

impl Meter {
    pub(super) fn new(ended: Listener) -> Arc<Self> {
        Arc::new(Self {
            active: AtomicUsize::new(0),
            start: Instant::now(),
            seconds: Mutex::new((0, VecDeque::from([0; SECONDS + 1]))),
            ended,
        })
    }

    pub(super) fn begin(self: &Arc<Self>, provider: &str) -> Run {
        self.active.fetch_add(1, Ordering::Relaxed);
        Run {
            meter: Arc::clone(self),
            provider: provider.to_owned(),
            outcome: Outcome::Cancelled,
            input: 0,
            output: 0,
        }
    }

    /// The buckets, advanced to now.
    fn now(&self) -> MutexGuard<'_, (u64, VecDeque<u32>)> {
        let second = self.start.elapsed().as_secs();
        let mut seconds = self.seconds.lock();
        for _ in 0..(second - seconds.0).min(SECONDS as u64 + 1) {
            seconds.1.pop_front();
            seconds.1.push_back(0);
        }
        seconds.0 = second;
        seconds
    }

    fn token(&self) {
        if let Some(current) = self.now().1.back_mut() {
            *current += 1;
        }
    }

    pub(super) fn activity(&self) -> Activity {
        Activity {
            active: self.active.load(Ordering::Relaxed),
            // Without the current second, which is not over.
            tokens: self.now().1.iter().take(SECONDS).copied().collect(),
        }
    }
}

pub(super) struct Run {
    meter: Arc<Meter>,
    provider: String,
    outcome: Outcome,
    input: u64,
    output: u64,
}

impl Run {
    pub(super) fn watch(self, chunks: ChatStream<'static>) -> ChatStream<'static> {
        Watched { chunks, run: self }.boxed()
    }

    pub(super) fn failed(mut self, error: &ModelError) {
        self.outcome = Outcome::Failed(error.failure);
    }

    fn see(&mut self, chunk: Option<&Result<ChatChunk, ModelError>>) {
        match chunk {
            Some(Ok(ChatChunk::Text(_) | ChatChunk::ToolCall(_))) => self.meter.token(),
            Some(Ok(ChatChunk::Usage { input, output })) => {
                (self.input, self.output) = (*input, *output);
            }
            Some(Ok(ChatChunk::Notice(_) | ChatChunk::Passed(_) | ChatChunk::Truncated)) => {}
            Some(Err(error)) => self.outcome = Outcome::Failed(error.failure),
            None if self.outcome == Outcome::Cancelled => self.outcome = Outcome::Done,
            None => {}
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.meter.active.fetch_sub(1, Ordering::Relaxed);
        (self.meter.ended)(&RequestEnd {
            provider: &self.provider,
            outcome: self.outcome,
            input: self.input,
            output: self.output,
        });
    }
}

struct Watched {
    chunks: ChatStream<'static>,
    run: Run,
}

impl Stream for Watched {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.chunks.poll_next_unpin(context);
        if let Poll::Ready(chunk) = &polled {
            self.run.see(chunk.as_ref());
        }
        polled
    }
}
