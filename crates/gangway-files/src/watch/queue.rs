//! The pending changes of one reader, each path once.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Change, ChangeEvent};
use crate::FilePath;

#[derive(Debug)]
pub(super) struct Queue {
    path: FilePath,
    limit: usize,
    waiting: Mutex<PendingChanges>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct PendingChanges {
    changes: BTreeMap<FilePath, ChangeEvent>,
    ended: bool,
}

impl Queue {
    pub(super) fn new(path: FilePath, limit: usize) -> Self {
        Self {
            path,
            limit,
            waiting: Mutex::default(),
            bell: Notify::new(),
        }
    }

    /// Adds a change, merged with a pending one of the same path.
    pub(super) fn push(&self, path: FilePath, event: ChangeEvent) {
        let mut waiting = self.waiting.lock();
        let before = waiting.changes.remove(&path);
        if let Some(event) = together(before, event) {
            if waiting.changes.len() >= self.limit {
                // Too many: the reader must look at everything again.
                waiting.changes.clear();
                let path = self.path.clone();
                waiting.changes.insert(path, ChangeEvent::Changed);
            } else {
                waiting.changes.insert(path, event);
            }
        }
        drop(waiting);
        self.bell.notify_one();
    }

    pub(super) fn end(&self) {
        self.waiting.lock().ended = true;
        self.bell.notify_one();
    }

    #[cfg(test)]
    pub(super) fn waiting_now(&self) -> usize {
        self.waiting.lock().changes.len()
    }

    pub(super) fn is_ended(&self) -> bool {
        self.waiting.lock().ended
    }

    /// The next change; `None` after the end.
    pub(super) async fn next(&self) -> Option<Change> {
        loop {
            {
                let mut waiting = self.waiting.lock();
                if let Some((path, event)) = waiting.changes.pop_first() {
                    return Some(Change { path, event });
                }
                if waiting.ended {
                    return None;
                }
            }
            self.bell.notified().await;
        }
    }
}

/// Merges two successive changes of a path; `None` if they cancel out.
pub(super) fn together(before: Option<ChangeEvent>, after: ChangeEvent) -> Option<ChangeEvent> {
    use ChangeEvent::{Changed, Created, Removed};
    match (before, after) {
        (Some(Created), Removed) => None,
        (Some(Created), _) => Some(Created),
        (Some(Removed), Created) => Some(Changed),
        (_, after) => Some(after),
    }
}
