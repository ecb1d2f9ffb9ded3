//! The channel of an answer from the engine to its reader, bounded so that a slow reader delays only itself.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc::SyncSender,
    },
    task::{Context, Poll},
};

use futures_util::Stream;
use gangway_models::{ChatChunk, ModelError};
use tokio::sync::mpsc;

use crate::{engine::Command, gauges::QueuePlace};

/// Capacity of the channel.
const CHUNKS: usize = 64;
/// Maximum number of messages that one step sends.
const STEP: usize = 16;

/// A message to the reader.
#[derive(Debug)]
pub(crate) enum Output {
    /// The request is being served.
    Begun,
    Chunk(ChatChunk),
    Failed(ModelError),
    /// The answer is complete.
    Done,
}

/// The engine's end.
#[derive(Debug, Clone)]
pub(crate) struct AnswerSender {
    chunks: mpsc::Sender<Output>,
    wanted: Arc<AtomicBool>,
}

/// The reader's end. Dropping it ends the request.
pub(crate) struct Reader {
    chunks: mpsc::Receiver<Output>,
    wanted: Arc<AtomicBool>,
    commands: SyncSender<Command>,
    /// Held until the answer is complete.
    place: Option<QueuePlace>,
}

/// Both ends of an answer's channel.
pub(crate) fn answer(commands: SyncSender<Command>, place: QueuePlace) -> (AnswerSender, Reader) {
    let (sender, chunks) = mpsc::channel(CHUNKS);
    let wanted = Arc::new(AtomicBool::new(false));
    let sender = AnswerSender {
        chunks: sender,
        wanted: Arc::clone(&wanted),
    };
    let reader = Reader {
        chunks,
        wanted,
        commands,
        place: Some(place),
    };
    (sender, reader)
}

impl AnswerSender {
    /// Whether the reader has left.
    pub fn is_closed(&self) -> bool {
        self.chunks.is_closed()
    }

    /// Whether the channel has room for the output of a step. If not, the reader wakes the engine when it continues.
    pub fn has_room(&self) -> bool {
        if self.chunks.capacity() >= STEP {
            return true;
        }
        self.wanted.store(true, SeqCst);
        // It may have read in the meantime.
        self.chunks.capacity() >= STEP
    }

    /// Sends a message. An answer that exceeds the capacity is cut off, which its reader notices.
    pub fn send(&self, output: Output) -> bool {
        self.chunks.try_send(output).is_ok()
    }
}

impl Reader {
    /// Waits until the request is being served.
    pub async fn begin(&mut self) -> Result<(), ModelError> {
        match self.chunks.recv().await {
            Some(Output::Begun) => {
                self.place.as_mut().into_iter().for_each(QueuePlace::begin);
                Ok(())
            }
            Some(Output::Failed(error)) => Err(error),
            Some(Output::Chunk(_) | Output::Done) | None => Err(broken()),
        }
    }
}

fn broken() -> ModelError {
    ModelError::failed(
        "The engine stopped during the answer. Try again; it restarts automatically.",
    )
}

impl Stream for Reader {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.place.is_none() {
            return Poll::Ready(None);
        }
        let message = std::task::ready!(self.chunks.poll_recv(context));
        if self.wanted.swap(false, SeqCst) {
            // If the queue is full, the engine is awake anyway.
            let _ = self.commands.try_send(Command::Wake);
        }
        let (item, over) = match message {
            Some(Output::Chunk(chunk)) => (Some(Ok(chunk)), false),
            Some(Output::Done) => (None, true),
            Some(Output::Failed(error)) => (Some(Err(error)), true),
            Some(Output::Begun) | None => (Some(Err(broken())), true),
        };
        if over {
            self.place = None;
        }
        Poll::Ready(item)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.chunks.close();
        let _ = self.commands.try_send(Command::Wake);
    }
}
