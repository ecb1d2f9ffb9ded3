//! The task behind the watches of one folder: debounces events and reports changes.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    kernel::{Hints, Raw},
    queue::Queue,
    tree::Tree,
};
use crate::{FileError, FilePath};

/// The debounce time: the save of an editor is one change, and the delay is not noticeable.
const GATHERED: Duration = Duration::from_millis(75);
/// Debounced names; more become a change of everything.
const NAMES: usize = 10_000;

#[derive(Debug)]
pub(super) enum WatchCommand {
    /// Adds a watch; replies whether there are more folders than can be watched.
    Add {
        path: FilePath,
        queue: Arc<Queue>,
        reply: oneshot::Sender<Result<bool, FileError>>,
    },
    LookAround,
}

#[derive(Default)]
pub(super) struct Dirty {
    /// Folders and names in them.
    pub(super) names: BTreeSet<(FilePath, String)>,
    /// Folders with unknown changes.
    pub(super) folders: BTreeSet<FilePath>,
    /// Events were lost, so anything may have changed.
    pub(super) everything: bool,
}

impl Dirty {
    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.folders.is_empty() && !self.everything
    }

    fn add(&mut self, folder: FilePath, name: Option<String>) {
        match name {
            Some(name) => drop(self.names.insert((folder, name))),
            None => drop(self.folders.insert(folder)),
        }
        if self.names.len() + self.folders.len() > NAMES {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.names.clear();
        self.folders.clear();
        self.everything = true;
    }
}

/// Runs until there is no watch left.
pub(super) async fn run(
    mut tree: Tree,
    mut hints: Hints,
    mut orders: mpsc::Receiver<WatchCommand>,
) {
    let mut dirty = Dirty::default();
    let mut due = Instant::now();
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(WatchCommand::Add { path, queue, reply }) => {
                    let added = blocking(tree, move |tree| tree.add(path, queue)).await;
                    let Some((stored, added)) = added else { return };
                    tree = stored;
                    // A caller that is gone has dropped its end of the queue, which is noticed.
                    let _ = reply.send(added);
                }
                Some(WatchCommand::LookAround) => {}
                None => return,
            },
            raws = hints.next() => {
                if dirty.is_empty() {
                    due = Instant::now() + GATHERED;
                }
                match raws {
                    Ok(raws) => for raw in raws {
                        if let Raw::Lost = raw {
                            dirty.lose();
                        } else if let Some((folder, name)) = tree.locate(raw) {
                            dirty.add(folder, name);
                        }
                    },
                    Err(error) => {
                        tracing::warn!(%error, "watching files failed");
                        tree.end();
                        return;
                    }
                }
            }
            () = tokio::time::sleep_until(due), if !dirty.is_empty() => {
                let gathered = std::mem::take(&mut dirty);
                let message = blocking(tree, move |tree| tree.report(gathered)).await;
                let Some((stored, ())) = message else { return };
                tree = stored;
            }
        }
        let looked = match tree.has_ended_watches() {
            true => blocking(tree, Tree::drop_ended).await,
            false => Some((tree, ())),
        };
        let Some((stored, ())) = looked else { return };
        tree = stored;
        if tree.is_idle() {
            return;
        }
    }
}

/// Runs blocking work on the tree; `None` on shutdown.
async fn blocking<T: Send + 'static>(
    mut tree: Tree,
    work: impl FnOnce(&mut Tree) -> T + Send + 'static,
) -> Option<(Tree, T)> {
    let done = tokio::task::spawn_blocking(move || {
        let done = work(&mut tree);
        (tree, done)
    });
    done.await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_names_than_can_be_kept_are_reported_as_a_change_of_everything() {
        let mut dirty = Dirty::default();
        assert!(dirty.is_empty());
        dirty.add(FilePath::root(), None);
        assert!(!dirty.is_empty());
        for number in 1..NAMES {
            dirty.add(FilePath::root(), Some(number.to_string()));
        }
        assert!(!dirty.everything);
        dirty.add(FilePath::root(), Some("last".to_owned()));
        assert!(dirty.everything && dirty.names.is_empty() && dirty.folders.is_empty());
        assert!(!dirty.is_empty());
    }
}
