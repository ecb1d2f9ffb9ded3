//! The way of an answer from the engine to its reader: bounded, so that a reader who does not read holds up only itself.

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
use gangway_models::{ModelError, Piece};
use tokio::sync::mpsc;

use crate::{engine::Order, gauges::Place};

/// Pieces that wait for the reader.
const PIECES: usize = 64;
/// One step of the engine says less than this.
const STEP: usize = 16;

/// What the engine says to a reader.
#[derive(Debug)]
pub(crate) enum Said {
    /// Its turn has come.
    Begun,
    Piece(Piece),
    Failed(ModelError),
    /// Everything was said.
    Done,
}

/// The engine's end.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pieces: mpsc::Sender<Said>,
    wanted: Arc<AtomicBool>,
}

/// The reader's end. Dropping it ends the request.
pub(crate) struct Reader {
    pieces: mpsc::Receiver<Said>,
    wanted: Arc<AtomicBool>,
    orders: SyncSender<Order>,
    /// Until the answer is over.
    place: Option<Place>,
}

/// Both ends of an answer.
pub(crate) fn answer(orders: SyncSender<Order>, place: Place) -> (Speaker, Reader) {
    let (speaker, pieces) = mpsc::channel(PIECES);
    let wanted = Arc::new(AtomicBool::new(false));
    let speaker = Speaker {
        pieces: speaker,
        wanted: Arc::clone(&wanted),
    };
    let reader = Reader {
        pieces,
        wanted,
        orders,
        place: Some(place),
    };
    (speaker, reader)
}

impl Speaker {
    /// Whether nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.pieces.is_closed()
    }

    /// Whether there is room for what a step may say. If not, the reader wakes the engine when it reads on.
    pub fn has_room(&self) -> bool {
        if self.pieces.capacity() >= STEP {
            return true;
        }
        self.wanted.store(true, SeqCst);
        // It may have read in the meantime.
        self.pieces.capacity() >= STEP
    }

    /// Says something. An answer that sends more than there is room for is cut off, which its reader notices.
    pub fn say(&self, said: Said) -> bool {
        self.pieces.try_send(said).is_ok()
    }
}

impl Reader {
    /// Waits until the turn has come.
    pub async fn begin(&mut self) -> Result<(), ModelError> {
        match self.pieces.recv().await {
            Some(Said::Begun) => {
                self.place.as_mut().into_iter().for_each(Place::begin);
                Ok(())
            }
            Some(Said::Failed(error)) => Err(error),
            Some(Said::Piece(_) | Said::Done) | None => Err(broken()),
        }
    }
}

fn broken() -> ModelError {
    ModelError::failed(
        "The engine stopped in the middle of the answer. Asking again starts it again.",
    )
}

impl Stream for Reader {
    type Item = Result<Piece, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.place.is_none() {
            return Poll::Ready(None);
        }
        let said = std::task::ready!(self.pieces.poll_recv(context));
        if self.wanted.swap(false, SeqCst) {
            // When the orders are full the engine is awake anyway.
            let _ = self.orders.try_send(Order::Wake);
        }
        let (item, over) = match said {
            Some(Said::Piece(piece)) => (Some(Ok(piece)), false),
            Some(Said::Done) => (None, true),
            Some(Said::Failed(error)) => (Some(Err(error)), true),
            Some(Said::Begun) | None => (Some(Err(broken())), true),
        };
        if over {
            self.place = None;
        }
        Poll::Ready(item)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.pieces.close();
        let _ = self.orders.try_send(Order::Wake);
    }
}
