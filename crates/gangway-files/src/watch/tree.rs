//! What is known of the folders that are watched, so that a hint of the kernel becomes a change that can be told.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::Arc,
};

use cap_std::fs::Dir;

use super::{
    ChangeEvent,
    kernel::{Raw, Watcher},
    known::{Known, Sub, Thing},
    queue::{Queue, together},
    task::Dirty,
};
use crate::{FileError, FilePath, Limits, inside::open_folder, links, path::is_unfinished};

/// Names that are remembered for all folders together; a folder that does not fit is told as a whole.
const NAMES: usize = 200_000;

type Changes = BTreeMap<FilePath, ChangeEvent>;

/// The watches and the folders behind them.
pub(super) struct Tree {
    dir: Arc<Dir>,
    place: PathBuf,
    watcher: Watcher,
    limits: Limits,
    subs: Vec<Sub>,
    folders: BTreeMap<FilePath, Known>,
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
        self.subs.iter().any(Sub::has_ended)
    }

    /// Tells every reader that nothing follows.
    pub(super) fn end(&self) {
        for sub in &self.subs {
            sub.queue.end();
        }
    }

    /// Adds a watch; says whether there are more folders than can be watched.
    pub(super) fn add(&mut self, asked: FilePath, queue: Arc<Queue>) -> Result<bool, FileError> {
        let limit = self.limits.watches;
        if self.subs.len() >= limit {
            return Err(FileError::TooMany { limit });
        }
        let real = self.real(&asked)?;
        let before = self.subs.len();
        self.subs.push(Sub { asked, real, queue });
        let covered = self.cover(FilePath::root(), before, None);
        if covered.is_err() {
            self.subs.pop();
            self.drop_ended();
        }
        covered.map_err(|error| {
            FileError::Io(format!(
                "this system lets no more folders be watched: {error}"
            ))
        })
    }

    /// Where a path leads when links that stay inside are followed, as far as it is there.
    fn real(&self, asked: &FilePath) -> Result<FilePath, FileError> {
        links::through(&self.dir, &self.place, asked, |asked| self.real_of(asked))
    }

    fn real_of(&self, asked: &FilePath) -> Result<FilePath, FileError> {
        let mut there = asked.clone();
        loop {
            match self.dir.canonicalize(there.as_path()) {
                Ok(real) => {
                    let real = real.to_str().unwrap_or("\\").parse()?;
                    return asked
                        .moved(&there, &real)
                        .ok_or_else(|| FileError::bad_path(asked.as_str(), "it leads too deep"));
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

    /// Whether one of the first so many watches has to do with a path.
    fn matters(&self, path: &FilePath, subs: usize) -> bool {
        let mut subs = self.subs.iter().take(subs);
        subs.any(|sub| sub.real.is_in(path) || path.is_in(&sub.real))
    }

    /// Whether something that is watched is in this folder or is this folder.
    fn is_on_the_way(&self, path: &FilePath) -> bool {
        self.subs.iter().any(|sub| sub.real.is_in(path))
    }

    /// Watches a folder and those below that matter, and remembers what is in them; what was remembered for the first
    /// so many watches is left alone. What is found anew is told if there is a list for that. Says whether there are
    /// more folders than can be watched.
    fn cover(
        &mut self,
        from: FilePath,
        before: usize,
        mut found: Option<&mut Changes>,
    ) -> std::io::Result<bool> {
        let mut partial = false;
        // The upper ones first: if not all can be watched, those a person sees first are.
        let mut waiting = VecDeque::from([from]);
        while let Some(path) = waiting.pop_front() {
            let known = self.folders.contains_key(&path);
            // Without those on the way, a watch would see nothing.
            let needed = self.is_on_the_way(&path);
            if !known && !needed && self.folders.len() >= self.limits.watched_folders {
                partial = true;
                continue;
            }
            let folder = match open_folder(&self.dir, path.as_path()) {
                Ok(folder) => folder,
                // It went just now, which its own folder will tell, or it is closed to us.
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
                self.folders.insert(path.clone(), Known::default());
            }
            // Watched first, listed then: nothing falls between.
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
                        Ok(there) => Thing::of(&there),
                        Err(_) => continue,
                    },
                    _ => Thing::Other,
                };
                if thing != Thing::Other {
                    let room = waiting.len() < self.limits.watched_folders;
                    if room || self.is_on_the_way(&child) {
                        waiting.push_back(child.clone());
                    } else {
                        partial = true;
                    }
                }
                // The kernel's hint of it may be on its way to those who watch already.
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

    /// Remembers a name; says whether it is new.
    fn remember(&mut self, folder: &FilePath, name: &str, thing: Thing) -> bool {
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

    /// Forgets a name and all below it, and notes that they are gone.
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

    /// Finds out what has become of all that may have changed, and tells everyone who watches it.
    pub(super) fn tell(&mut self, mut dirty: Dirty) {
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
                Ok(now) => there.push((folder, name, path, Thing::of(&now))),
                // First of all what is gone: a folder that was moved is watched anew where it is now.
                Err(_) => self.forget(&folder, &name, &mut changes),
            }
        }
        for (folder, name, path, thing) in there {
            let was = self
                .folders
                .get(&folder)
                .and_then(|known| known.names.get(&name).copied());
            if was == Some(thing) {
                // What happens in a folder is told by that folder. When hints were lost, everything is told at once.
                if thing == Thing::Other && !dirty.everything {
                    note(&mut changes, path, ChangeEvent::Changed);
                }
                continue;
            }
            self.forget(&folder, &name, &mut changes);
            if self.remember(&folder, &name, thing) {
                note(&mut changes, path.clone(), ChangeEvent::Created);
            }
            let partial =
                thing != Thing::Other && self.cover(path, 0, Some(&mut changes)).unwrap_or(true);
            if partial {
                dirty.folders.insert(folder);
            }
        }
        for folder in dirty.folders {
            note(&mut changes, folder, ChangeEvent::Changed);
        }
        self.deliver(&changes, dirty.everything);
    }

    /// Takes every name that was or is there as one that may have changed.
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

    /// Drops the watches that ended, and the folders that no other one needs.
    pub(super) fn drop_ended(&mut self) {
        self.subs.retain(|sub| !sub.has_ended());
        let folders = std::mem::take(&mut self.folders);
        self.names = 0;
        for (path, mut known) in folders {
            if !self.matters(&path, self.subs.len()) {
                self.watcher.remove(&path);
                continue;
            }
            // In a folder that is watched itself every name matters; in one on the way, only the next.
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

/// Adds a change to those of the same moment.
fn note(changes: &mut Changes, path: FilePath, event: ChangeEvent) {
    let before = changes.remove(&path);
    if let Some(event) = together(before, event) {
        changes.insert(path, event);
    }
}
