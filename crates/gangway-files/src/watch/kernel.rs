//! Change notifications: inotify on Linux, the `notify` crate elsewhere.

#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::{io, path::Path};

use cap_std::fs::Dir;

use crate::FilePath;

#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Backend {
    /// Each folder by its open handle, so that no symlink can lead elsewhere.
    #[cfg(target_os = "linux")]
    #[default]
    Inotify,
    /// Recursively by path, without following symlinks.
    #[cfg(any(test, not(target_os = "linux")))]
    #[cfg_attr(not(target_os = "linux"), default)]
    Notify,
}

#[derive(Debug)]
pub(super) enum Raw {
    /// In a watched folder, by its watch descriptor.
    #[cfg(target_os = "linux")]
    In(i32, Option<std::ffi::OsString>),
    /// At a path relative to the folder.
    #[cfg(any(test, not(target_os = "linux")))]
    At(std::path::PathBuf),
    /// Some changes were lost.
    Lost,
}

pub(super) enum Watcher {
    #[cfg(target_os = "linux")]
    Linux(linux::Watcher),
    #[cfg(any(test, not(target_os = "linux")))]
    Elsewhere {
        /// Watches until it is dropped.
        _system: notify::RecommendedWatcher,
    },
}

pub(super) enum Hints {
    #[cfg(target_os = "linux")]
    Linux(linux::Hints),
    #[cfg(any(test, not(target_os = "linux")))]
    Elsewhere(elsewhere::Hints),
}

/// Needs a runtime.
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
    /// Watches the entries of a folder.
    pub(super) fn add(&mut self, path: &FilePath, folder: &Dir) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(watcher) => watcher.add(path, folder),
            #[cfg(any(test, not(target_os = "linux")))]
            Self::Elsewhere { .. } => Ok(()),
        }
    }

    pub(super) fn remove(&mut self, path: &FilePath) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(watcher) => watcher.remove(path),
            #[cfg(any(test, not(target_os = "linux")))]
            Self::Elsewhere { .. } => {}
        }
    }

    /// The folder and name of an event; no name if it is not valid in a path.
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
    /// Waits for events.
    pub(super) async fn next(&mut self) -> io::Result<Vec<Raw>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Linux(hints) => hints.next().await,
            #[cfg(any(test, not(target_os = "linux")))]
            Self::Elsewhere(hints) => hints.next().await,
        }
    }
}
