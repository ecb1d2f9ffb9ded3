//! The state of watches and watched folders.

use std::{collections::HashMap, sync::Arc};

use cap_std::fs::Metadata;

use super::queue::Queue;
use crate::FilePath;

pub(super) struct WatchSubscription {
    /// As requested.
    pub(super) asked: FilePath,
    /// With symlinks resolved.
    pub(super) real: FilePath,
    pub(super) queue: Arc<Queue>,
}

impl WatchSubscription {
    /// Whether the reader is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.queue.is_ended() || Arc::strong_count(&self.queue) == 1
    }
}

/// An entry: a folder with its inode, or anything else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder(u64),
    Other,
}

impl EntryKind {
    pub(super) fn of(there: &Metadata) -> Self {
        match there.is_dir() {
            #[cfg(unix)]
            true => Self::Folder(cap_std::fs::MetadataExt::ino(there)),
            #[cfg(not(unix))]
            true => Self::Folder(0),
            false => Self::Other,
        }
    }
}

#[derive(Default)]
pub(super) struct KnownEntries {
    /// Entries that are relevant to a watch.
    pub(super) names: HashMap<String, EntryKind>,
    /// There are too many names to remember.
    pub(super) crowded: bool,
}
