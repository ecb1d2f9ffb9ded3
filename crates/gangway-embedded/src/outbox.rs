//! The queue of messages to the engine. Bounded by the number of running answers: each has at most one request, one
//! grant of chunks and one cancellation.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::wire::ToEngine;

/// The queue and its notification.
#[derive(Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Default)]
struct Queue {
    chats: VecDeque<ToEngine>,
    read: BTreeMap<u64, u32>,
    cancelled: Vec<u64>,
    closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn chat(&self, message: ToEngine) {
        self.lock().chats.push_back(message);
        self.changed.notify_one();
    }

    pub fn read(&self, id: u64, chunks: u32) {
        *self.lock().read.entry(id).or_default() += chunks;
        self.changed.notify_one();
    }

    /// A request that was not sent yet is dropped.
    pub fn cancel(&self, id: u64) {
        let mut queue = self.lock();
        queue.read.remove(&id);
        let unsent = queue.chats.iter().position(
            |message| matches!(message, ToEngine::Chat { id: other, .. } if *other == id),
        );
        match unsent {
            Some(place) => drop(queue.chats.remove(place)),
            None => queue.cancelled.push(id),
        }
        self.changed.notify_one();
    }

    /// Stops sending.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// The queued messages, or `None` if the outbox is closed.
    pub async fn take(&self) -> Option<Vec<ToEngine>> {
        loop {
            {
                let mut queue = self.lock();
                if queue.closed {
                    return None;
                }
                let mut messages: Vec<ToEngine> = std::mem::take(&mut queue.chats).into();
                let cancelled = std::mem::take(&mut queue.cancelled);
                messages.extend(cancelled.into_iter().map(|id| ToEngine::Cancel { id }));
                let read = std::mem::take(&mut queue.read);
                messages.extend(
                    read.into_iter()
                        .map(|(id, chunks)| ToEngine::Read { id, chunks }),
                );
                if !messages.is_empty() {
                    return Some(messages);
                }
            }
            self.changed.notified().await;
        }
    }
}
