//! Change notifications of the `notify` crate.

use std::{
    io,
    path::{Component, Path},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use notify::{Config, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::Raw;
use crate::FilePath;

/// Queued paths; beyond that, everything is checked again.
const WAITING: usize = 4_096;

pub(in crate::watch) struct Hints {
    raw_events: mpsc::Receiver<io::Result<Raw>>,
    lost: Arc<AtomicBool>,
}

pub(super) fn start(place: &Path) -> io::Result<(RecommendedWatcher, Hints)> {
    let (sender, message) = mpsc::channel(WAITING);
    let lost = Arc::new(AtomicBool::new(false));
    let (root, missed) = (place.to_owned(), lost.clone());
    let tell = move |event: notify::Result<notify::Event>| {
        let raws = match event {
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) if event.need_rescan() => vec![Ok(Raw::Lost)],
            Ok(event) => event
                .paths
                .iter()
                .filter_map(|path| path.strip_prefix(&root).ok())
                .map(|path| Ok(Raw::At(path.to_owned())))
                .collect(),
            Err(error) => vec![Err(io::Error::other(error))],
        };
        for raw in raws {
            // The callback must not block: overflow is handled later.
            if sender.try_send(raw).is_err() {
                missed.store(true, Ordering::Release);
            }
        }
    };
    let config = Config::default().with_follow_symlinks(false);
    let mut system = RecommendedWatcher::new(tell, config).map_err(io::Error::other)?;
    system
        .watch(place, RecursiveMode::Recursive)
        .map_err(io::Error::other)?;
    Ok((
        system,
        Hints {
            raw_events: message,
            lost,
        },
    ))
}

/// The folder and the last name of a path.
pub(super) fn locate(path: &Path) -> Option<(FilePath, Option<String>)> {
    let mut folder = FilePath::root();
    let mut components = path.components().peekable();
    while let Some(Component::Normal(name)) = components.next() {
        let name = name.to_str();
        if components.peek().is_none() {
            return Some((folder, name.map(str::to_owned)));
        }
        folder = folder.join(name?).ok()?;
    }
    None
}

impl Hints {
    pub(super) async fn next(&mut self) -> io::Result<Vec<Raw>> {
        let mut lines = Vec::new();
        if self.raw_events.recv_many(&mut lines, WAITING).await == 0 {
            return Err(io::Error::other("the system stopped reporting changes"));
        }
        let mut raws = Vec::new();
        if self.lost.swap(false, Ordering::AcqRel) {
            raws.push(Raw::Lost);
        }
        for raw in lines {
            raws.push(raw?);
        }
        Ok(raws)
    }
}
