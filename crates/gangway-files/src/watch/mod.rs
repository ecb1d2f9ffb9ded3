//! Watches on files and folders: all watches of a session's folder share one task, and none sees outside.

mod kernel;
mod known;
mod queue;
mod task;
mod tree;

#[cfg(test)]
mod tests;

use std::{path::PathBuf, sync::Arc};

use cap_std::fs::Dir;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::{FileError, FilePath, Limits, folder::stopped};
use kernel::Backend;
use queue::Queue;
use task::WatchCommand;

/// Queued commands, before backpressure.
const ORDERS: usize = 64;
/// Retries when the task ends at the same moment, because another watch ended.
const TRIES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEvent {
    Created,
    /// For a folder: everything in it may have changed.
    Changed,
    Removed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: FilePath,
    pub event: ChangeEvent,
}

/// A watch that ends when it is dropped.
#[derive(Debug)]
pub struct Watch {
    queue: Arc<Queue>,
    orders: mpsc::Sender<WatchCommand>,
    partial: bool,
}

impl Watch {
    /// The next change; `None` when watching has ended. Repeated changes are merged until they are read.
    pub async fn next(&mut self) -> Option<Change> {
        self.queue.next().await
    }

    /// Whether there are more folders than can be watched.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.partial
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.queue.end();
        // If the queue is full, the task checks after the other commands.
        let _ = self.orders.try_send(WatchCommand::LookAround);
    }
}

/// The watches of one folder; their task runs while there are any.
pub(super) struct Watches {
    dir: Arc<Dir>,
    place: PathBuf,
    limits: Limits,
    backend: Backend,
    task: Mutex<Option<mpsc::Sender<WatchCommand>>>,
}

impl Watches {
    pub(super) fn new(dir: Arc<Dir>, place: PathBuf, limits: Limits) -> Self {
        Self {
            dir,
            place,
            limits,
            backend: Backend::default(),
            task: Mutex::new(None),
        }
    }

    /// Adds a watch; every change after this returns is reported.
    pub(super) async fn add(&self, path: FilePath) -> Result<Watch, FileError> {
        for _ in 0..TRIES {
            let orders = self.running()?;
            let (reply, added) = oneshot::channel();
            let queue = Arc::new(Queue::new(path.clone(), self.limits.waiting));
            let order = WatchCommand::Add {
                path: path.clone(),
                queue: queue.clone(),
                reply,
            };
            // The task ended with its last watch: start another.
            if orders.send(order).await.is_err() {
                continue;
            }
            if let Ok(added) = added.await {
                let partial = added?;
                return Ok(Watch {
                    queue,
                    orders,
                    partial,
                });
            }
        }
        Err(stopped())
    }

    /// The channel to the task, which is started if needed.
    fn running(&self) -> Result<mpsc::Sender<WatchCommand>, FileError> {
        let mut task = self.task.lock();
        if let Some(orders) = &*task
            && !orders.is_closed()
        {
            return Ok(orders.clone());
        }
        let (watcher, hints) = kernel::start(self.backend, &self.place).map_err(|error| {
            FileError::Io(format!("this system allows no more watches: {error}"))
        })?;
        let (sender, orders) = mpsc::channel(ORDERS);
        let tree = tree::Tree::new(
            self.dir.clone(),
            self.place.clone(),
            watcher,
            self.limits.clone(),
        );
        tokio::spawn(task::run(tree, hints, orders));
        *task = Some(sender.clone());
        Ok(sender)
    }
}
