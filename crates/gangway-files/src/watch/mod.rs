//! Watches on files and folders: all of one session's folder share one view of the kernel, and none sees outside.

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
use task::Order;

/// Orders that may wait; more callers wait outside.
const ORDERS: usize = 64;
/// How often a watch is begun anew when the task ends just then, which needs another watch to end at that moment.
const TRIES: usize = 8;

/// What happened to a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEvent {
    /// It is there now.
    Created,
    /// It is another than before; of a folder: look at all of it again.
    Changed,
    /// It is gone.
    Removed,
}

/// One change below a session's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changed.
    pub path: FilePath,
    /// How.
    pub event: ChangeEvent,
}

/// A watch that goes on until it is dropped.
#[derive(Debug)]
pub struct Watch {
    queue: Arc<Queue>,
    orders: mpsc::Sender<Order>,
    partial: bool,
}

impl Watch {
    /// The next change; none when nothing can be watched any more. What happens again and again before it is asked for
    /// is told once.
    pub async fn next(&mut self) -> Option<Change> {
        self.queue.next().await
    }

    /// Whether there are more folders below than are watched.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.partial
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.queue.end();
        // If there are orders in the way, the task looks around after those.
        let _ = self.orders.try_send(Order::LookAround);
    }
}

/// The watches of one folder; the task behind them runs while there are any.
pub(super) struct Watches {
    dir: Arc<Dir>,
    place: PathBuf,
    limits: Limits,
    backend: Backend,
    task: Mutex<Option<mpsc::Sender<Order>>>,
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

    /// Begins a watch; whatever changes after this returns is told.
    pub(super) async fn add(&self, path: FilePath) -> Result<Watch, FileError> {
        for _ in 0..TRIES {
            let orders = self.running()?;
            let (reply, added) = oneshot::channel();
            let queue = Arc::new(Queue::new(path.clone(), self.limits.waiting));
            let order = Order::Add {
                path: path.clone(),
                queue: queue.clone(),
                reply,
            };
            // The task ended with its last watch: another one begins.
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

    /// The way to the task, which is started unless it runs.
    fn running(&self) -> Result<mpsc::Sender<Order>, FileError> {
        let mut task = self.task.lock();
        if let Some(orders) = &*task
            && !orders.is_closed()
        {
            return Ok(orders.clone());
        }
        let (watcher, hints) = kernel::start(self.backend, &self.place).map_err(|error| {
            FileError::Io(format!("this system lets nothing more be watched: {error}"))
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
