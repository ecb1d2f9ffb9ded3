//! How the kernel is asked for changes: folder by folder on Linux, by the `notify` crate elsewhere.

#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::{io, path::Path};

use cap_std::fs::Dir;

use crate::FilePath;

/// Which way the kernel is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Backend {
    /// Folder by folder, each by its open handle, so that no link can lead elsewhere.
    #[cfg(target_os = "linux")]
    #[default]
    Inotify,
    /// By the path of the folder and all below it, links not followed.
    #[cfg(any(test, not(target_os = "linux")))]
    #[cfg_attr(not(target_os = "linux"), default)]
    Notify,
}

/// What the kernel said.
#[derive(Debug)]
pub(super) enum Raw {
    /// Something in a folder that was added, by the kernel's number.
    #[cfg(target_os = "linux")]
    In(i32, Option<std::ffi::OsString>),
    /// Something at a path from the folder.
    #[cfg(any(test, not(target_os = "linux")))]
    At(std::path::PathBuf),
    /// Some changes were lost.
    Lost,
}

/// What is watched.
pub(super) enum Watcher {
    #[cfg(target_os = "linux")]
    Linux(linux::Watcher),
    #[cfg(any(test, not(target_os = "linux")))]
    Elsewhere {
        /// It tells while it is kept.
        _system: notify::RecommendedWatcher,
    },
}

/// What the kernel says, as it comes.
pub(super) enum Hints {
    #[cfg(target_os = "linux")]
    Linux(linux::Hints),
    #[cfg(any(test, not(target_os = "linux")))]
    Elsewhere(elsewhere::Hints),
}

/// Begins to listen; within a runtime.
#[cfg_attr(
    all(target_os = "linux", not(test)),
    expect(unused_variables, reason = "Linux goes by handles, not by the path")
)]
pub(super) fn start(backend: Backend, place: &Path) -> io::Result<(Watcher, Hints)> {
    match backend {
        #[cfg(target_os = "linux")]
        Backend::Inotify => {
            let (watcher, hints) = linux::start()?;
            Ok((Watcher::Linux(watcher), Hints::Linux(hints)))
        }
        #[cfg(any(test, not(target_os = "linux")))]
        Backend::Notify => {
            let (_system, hints) = elsewhere::start(place)?;
            Ok((Watcher::Elsewhere { _system }, Hints::Elsewhere(hints)))
        }
    }
}

impl Watcher {
    /// Watches a folder for changes of its own entries.
    pub(super) fn add(&mut self, path: &FilePath, folder: &Dir) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(watcher) => watcher.add(path, folder),
            #[cfg(any(test, not(target_os = "linux")))]
            Self::Elsewhere { .. } => Ok(()),
        }
    }

    /// Watches a folder no longer.
    pub(super) fn remove(&mut self, path: &FilePath) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(watcher) => watcher.remove(path),
            #[cfg(any(test, not(target_os = "linux")))]
            Self::Elsewhere { .. } => {}
        }
    }

    /// In which folder something happened, and to which name; without one it is a name that no path can hold.
    pub(super) fn locate(&self, raw: Raw) -> Option<(FilePath, Option<String>)> {
        match (self, raw) {
            #[cfg(target_os = "linux")]
            (Self::Linux(watcher), Raw::In(number, name)) => watcher.locate(number, name),
            #[cfg(any(test, not(target_os = "linux")))]
            (Self::Elsewhere { .. }, Raw::At(path)) => elsewhere::locate(&path),
            _ => None,
        }
    }
}

impl Hints {
    /// What happened since; waits for something.
    pub(super) async fn next(&mut self) -> io::Result<Vec<Raw>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(hints) => hints.next().await,
            #[cfg(any(test, not(target_os = "linux")))]
            Self::Elsewhere(hints) => hints.next().await,
        }
    }
}
