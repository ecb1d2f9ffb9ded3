//! What is kept of each watch and of each folder behind them.

use std::{collections::HashMap, sync::Arc};

use cap_std::fs::Metadata;

use super::queue::Queue;
use crate::FilePath;

/// One watch.
pub(super) struct Sub {
    /// As the caller named it.
    pub(super) asked: FilePath,
    /// Where that is when links are followed.
    pub(super) real: FilePath,
    pub(super) queue: Arc<Queue>,
}

impl Sub {
    /// Whether nobody reads any more: it was said, or nobody else holds the queue.
    pub(super) fn has_ended(&self) -> bool {
        self.queue.is_ended() || Arc::strong_count(&self.queue) == 1
    }
}

/// What is known of one name: a folder with its number in the file system, or anything else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Folder(u64),
    Other,
}

impl Thing {
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

/// One folder that is watched.
#[derive(Default)]
pub(super) struct Known {
    /// What is in it and matters to a watch.
    pub(super) names: HashMap<String, Thing>,
    /// There are too many names to remember.
    pub(super) crowded: bool,
}
