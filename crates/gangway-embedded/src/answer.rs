//! One answer of the engine as a stream.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::Stream;
use gangway_models::{ChatChunk, ModelError};
use tokio::sync::mpsc;

use crate::{process::Process, wire::WINDOW};

/// Chunks that are read before the engine is granted as many again.
const GRANT: u32 = WINDOW / 4;

/// An event of a request.
#[derive(Debug)]
pub(crate) enum Update {
    Begun,
    Chunk(ChatChunk),
    Failed(ModelError),
    Done,
}

/// A running answer. Dropping it cancels the request.
pub(crate) struct AnswerStream {
    id: u64,
    process: Arc<Process>,
    updates: mpsc::Receiver<Update>,
    read: u32,
    over: bool,
}

impl AnswerStream {
    pub fn new(id: u64, process: Arc<Process>, updates: mpsc::Receiver<Update>) -> Self {
        Self {
            id,
            process,
            updates,
            read: 0,
            over: false,
        }
    }

    /// Waits until the request is being served. `None` means that the engine died before.
    pub async fn begin(&mut self) -> Option<Result<(), ModelError>> {
        let update = self.updates.recv().await;
        self.over = !matches!(update, Some(Update::Begun));
        match update? {
            Update::Begun => Some(Ok(())),
            Update::Failed(error) => Some(Err(error)),
            Update::Chunk(_) | Update::Done => Some(Err(ModelError::failed(
                "The engine sent something that is not an answer.",
            ))),
        }
    }
}

impl Stream for AnswerStream {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        let update = std::task::ready!(self.updates.poll_recv(context));
        let (item, over) = match update {
            Some(Update::Chunk(chunk)) => (Some(Ok(chunk)), false),
            Some(Update::Done) => (None, true),
            Some(Update::Failed(error)) => (Some(Err(error)), true),
            Some(Update::Begun) | None => (Some(Err(self.process.cut_off())), true),
        };
        self.over = over;
        self.read += 1;
        if self.read >= GRANT && !over {
            self.process.outbox.read(self.id, self.read);
            self.read = 0;
        }
        Poll::Ready(item)
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        self.process.close(self.id, self.over);
    }
}
