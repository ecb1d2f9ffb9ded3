//! The known state of the watched folders, to turn events into changes.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::Arc,
};

use cap_std::fs::Dir;

use super::{
    ChangeEvent,
    kernel::{Raw, Watcher},
    known::{EntryKind, KnownEntries, WatchSubscription},
    queue::{Queue, together},
    task::Dirty,
};
use crate::{FileError, FilePath, Limits, inside::open_folder, links, path::is_unfinished};

/// Names that are remembered in total; a folder beyond that is reported as a whole.
const NAMES: usize = 200_000;

type Changes = BTreeMap<FilePath, ChangeEvent>;

pub(super) struct Tree {
    dir: Arc<Dir>,
    place: PathBuf,
    watcher: Watcher,
    limits: Limits,
    subs: Vec<WatchSubscription>,
    folders: BTreeMap<FilePath, KnownEntries>,
    names: usize,
}

impl Tree {
    pub(super) fn new(dir: Arc<Dir>, place: PathBuf, watcher: Watcher, limits: Limits) -> Self {
        Self {
            dir,
            place,
            watcher,
            limits,
            subs: Vec::new(),
            folders: BTreeMap::new(),
            names: 0,
        }
    }

    pub(super) fn locate(&self, raw: Raw) -> Option<(FilePath, Option<String>)> {
        self.watcher.locate(raw)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.subs.is_empty()
    }

    pub(super) fn has_ended_watches(&self) -> bool {
        self.subs.iter().any(WatchSubscription::has_ended)
    }

    /// Ends all readers.
    pub(super) fn end(&self) {
        for sub in &self.subs {
            sub.queue.end();
        }
    }

    /// Adds a watch; returns whether there are more folders than can be watched.
    pub(super) fn add(&mut self, asked: FilePath, queue: Arc<Queue>) -> Result<bool, FileError> {
        let limit = self.limits.watches;
        if self.subs.len() >= limit {
            return Err(FileError::TooMany { limit });
        }
        let real = self.real(&asked)?;
        let before = self.subs.len();
        self.subs.push(WatchSubscription { asked, real, queue });
        let covered = self.cover(FilePath::root(), before, None);
        if covered.is_err() {
            self.subs.pop();
            self.drop_ended();
        }
        covered.map_err(|error| {
            FileError::Io(format!(
                "the limit of watched folders of this system is reached: {error}"
            ))
        })
    }

    /// Resolves symlinks that stay inside, as far as the path exists.
    fn real(&self, asked: &FilePath) -> Result<FilePath, FileError> {
        links::through(&self.dir, &self.place, asked, |asked| self.real_of(asked))
    }

    fn real_of(&self, asked: &FilePath) -> Result<FilePath, FileError> {
        let mut there = asked.clone();
        loop {
            match self.dir.canonicalize(there.as_path()) {
                Ok(real) => {
                    let real = real.to_str().unwrap_or("\\").parse()?;
                    return asked.moved(&there, &real).ok_or_else(|| {
                        FileError::bad_path(asked.as_str(), "it has too many levels")
                    });
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    there = there.parent().ok_or(FileError::NotFound {
                        path: asked.clone(),
                    })?;
                }
                Err(error) => return Err(FileError::at(asked)(error)),
            }
        }
    }

    /// Whether one of the first `subs` watches is about a path.
    fn matters(&self, path: &FilePath, subs: usize) -> bool {
        let mut subs = self.subs.iter().take(subs);
        subs.any(|sub| sub.real.is_in(path) || path.is_in(&sub.real))
    }

    /// Whether this folder is watched, or is a parent of a watched path.
    fn is_on_the_way(&self, path: &FilePath) -> bool {
        self.subs.iter().any(|sub| sub.real.is_in(path))
    }

    /// Watches a folder and its relevant subfolders, and remembers their entries; those that the first `before` watches
    /// remember are kept. New entries are reported if there is a list for them. Returns whether there are more folders
    /// than can be watched.
    fn cover(
        &mut self,
        from: FilePath,
        before: usize,
        mut found: Option<&mut Changes>,
    ) -> std::io::Result<bool> {
        let mut partial = false;
        // Breadth-first: if not all can be watched, the upper ones are.
        let mut waiting = VecDeque::from([from]);
        while let Some(path) = waiting.pop_front() {
            let known = self.folders.contains_key(&path);
            // Without the parents, a watch would see nothing.
            let needed = self.is_on_the_way(&path);
            if !known && !needed && self.folders.len() >= self.limits.watched_folders {
                partial = true;
                continue;
            }
            let folder = match open_folder(&self.dir, path.as_path()) {
                Ok(folder) => folder,
                // Removed just now, which its parent will report, or not accessible.
                Err(_) if !path.is_root() => continue,
                Err(error) => return Err(error),
            };
            if !known {
                match self.watcher.add(&path, &folder) {
                    Ok(()) => {}
                    Err(error) if needed => return Err(error),
                    Err(_) => {
                        partial = true;
                        continue;
                    }
                }
                self.folders.insert(path.clone(), KnownEntries::default());
            }
            // Watched before it is listed, so that nothing is missed.
            for entry in folder.entries().into_iter().flatten().flatten() {
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|name| !is_unfinished(name)) else {
                    continue;
                };
                let Ok(child) = path.join(name) else { continue };
                if !self.matters(&child, self.subs.len()) {
                    continue;
                }
                let thing = match entry.file_type() {
                    Ok(kind) if kind.is_dir() => match entry.metadata() {
                        Ok(there) => EntryKind::of(&there),
                        Err(_) => continue,
                    },
                    _ => EntryKind::Other,
                };
                if thing != EntryKind::Other {
                    let room = waiting.len() < self.limits.watched_folders;
                    if room || self.is_on_the_way(&child) {
                        waiting.push_back(child.clone());
                    } else {
                        partial = true;
                    }
                }
                // Its event may still be on its way to existing watches.
                let awaited = known && self.matters(&child, before);
                if !awaited
                    && self.remember(&path, name, thing)
                    && let Some(found) = &mut found
                {
                    note(found, child, ChangeEvent::Created);
                }
            }
        }
        Ok(partial)
    }

    /// Remembers a name; returns whether it is new.
    fn remember(&mut self, folder: &FilePath, name: &str, thing: EntryKind) -> bool {
        let Some(known) = self.folders.get_mut(folder) else {
            return false;
        };
        if self.names >= NAMES && !known.names.contains_key(name) {
            known.crowded = true;
            return false;
        }
        let new = known.names.insert(name.to_owned(), thing).is_none();
        self.names += usize::from(new);
        new
    }

    /// Forgets a name and all below it, and records their removal.
    fn forget(&mut self, folder: &FilePath, name: &str, gone: &mut Changes) {
        let Ok(path) = folder.join(name) else { return };
        let was = self
            .folders
            .get_mut(folder)
            .and_then(|known| known.names.remove(name));
        if was.is_none() {
            return;
        }
        self.names -= 1;
        let below: Vec<_> = self
            .folders
            .keys()
            .filter(|below| below.is_in(&path))
            .cloned()
            .collect();
        for below in below {
            self.watcher.remove(&below);
            let Some(known) = self.folders.remove(&below) else {
                continue;
            };
            self.names -= known.names.len();
            for name in known.names.into_keys() {
                if let Ok(path) = below.join(&name) {
                    note(gone, path, ChangeEvent::Removed);
                }
            }
        }
        note(gone, path, ChangeEvent::Removed);
    }

    /// Determines what has changed, and reports it to the watches.
    pub(super) fn report(&mut self, mut dirty: Dirty) {
        let mut changes = Changes::new();
        if dirty.everything {
            self.suspect_everything(&mut dirty);
        }
        let mut there = Vec::new();
        for (folder, name) in dirty.names {
            let Some(known) = self.folders.get(&folder) else {
                continue;
            };
            if is_unfinished(&name) {
                continue;
            }
            let Ok(path) = folder.join(&name) else {
                dirty.folders.insert(folder);
                continue;
            };
            if !self.matters(&path, self.subs.len()) {
                continue;
            }
            if known.crowded {
                dirty.folders.insert(folder.clone());
            }
            match self.dir.symlink_metadata(path.as_path()) {
                Ok(now) => there.push((folder, name, path, EntryKind::of(&now))),
                // Removals first: a folder that was moved is watched again at its new place.
                Err(_) => self.forget(&folder, &name, &mut changes),
            }
        }
        for (folder, name, path, thing) in there {
            let was = self
                .folders
                .get(&folder)
                .and_then(|known| known.names.get(&name).copied());
            if was == Some(thing) {
                // A folder reports its own changes. If events were lost, everything is reported.
                if thing == EntryKind::Other && !dirty.everything {
                    note(&mut changes, path, ChangeEvent::Changed);
                }
                continue;
            }
            self.forget(&folder, &name, &mut changes);
            if self.remember(&folder, &name, thing) {
                note(&mut changes, path.clone(), ChangeEvent::Created);
            }
            let partial = thing != EntryKind::Other
                && self.cover(path, 0, Some(&mut changes)).unwrap_or(true);
            if partial {
                dirty.folders.insert(folder);
            }
        }
        for folder in dirty.folders {
            note(&mut changes, folder, ChangeEvent::Changed);
        }
        self.deliver(&changes, dirty.everything);
    }

    /// Marks every known and current name as possibly changed.
    fn suspect_everything(&self, dirty: &mut Dirty) {
        for (path, known) in &self.folders {
            let names = known.names.keys().cloned();
            dirty.names.extend(names.map(|name| (path.clone(), name)));
            let Ok(folder) = open_folder(&self.dir, path.as_path()) else {
                continue;
            };
            for entry in folder.entries().into_iter().flatten().flatten() {
                let name = entry.file_name();
                if let Some(name) = name.to_str()
                    && !known.names.contains_key(name)
                {
                    dirty.names.insert((path.clone(), name.to_owned()));
                }
            }
        }
    }

    fn deliver(&self, changes: &Changes, everything: bool) {
        for sub in &self.subs {
            if everything {
                sub.queue.push(sub.asked.clone(), ChangeEvent::Changed);
            }
            for (path, event) in changes {
                if path.is_in(&sub.real)
                    && let Some(path) = path.moved(&sub.real, &sub.asked)
                {
                    sub.queue.push(path, *event);
                }
            }
        }
    }

    /// Drops ended watches, and folders that no other one needs.
    pub(super) fn drop_ended(&mut self) {
        self.subs.retain(|sub| !sub.has_ended());
        let folders = std::mem::take(&mut self.folders);
        self.names = 0;
        for (path, mut known) in folders {
            if !self.matters(&path, self.subs.len()) {
                self.watcher.remove(&path);
                continue;
            }
            // In a watched folder every name is relevant; in a parent, only the next one.
            if !self.subs.iter().any(|sub| path.is_in(&sub.real)) {
                let matters = |name: &String| {
                    let child = path.join(name);
                    child.is_ok_and(|child| self.is_on_the_way(&child))
                };
                known.names.retain(|name, _| matters(name));
            }
            self.names += known.names.len();
            self.folders.insert(path, known);
        }
    }
}

/// Merges a change with others of the same batch.
fn note(changes: &mut Changes, path: FilePath, event: ChangeEvent) {
    let before = changes.remove(&path);
    if let Some(event) = together(before, event) {
        changes.insert(path, event);
    }
}
