//! Trusted folders of apps, and which folder owns which name; stored in `apps.json` of the data folder.
//!
//! Origin, storage and grants of an app depend on its name. So a name belongs to the first folder in which an app with
//! that name was found; the app of any other folder gets another name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io,
    path::{Path, PathBuf},
};

use gangway_core::{AppName, atomic_file};
use serde::{Deserialize, Serialize};

use gangway_files::make_private_folder;

/// Characters of a name before a suffix: a label of a host name has at most 63.
const STEM: usize = 40;

/// Hexadecimal digits of a suffix, unless they are taken.
const SUFFIX: usize = 8;

#[derive(Debug, Clone)]
pub struct Folders {
    data: PathBuf,
    keeps: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FolderRecords {
    /// The owner of each name: the real path of a folder, or `builtin`.
    #[serde(default)]
    owners: BTreeMap<AppName, String>,
    /// Real paths of trusted folders, whose apps are loaded although only the working directory names them.
    #[serde(default)]
    trusted: BTreeSet<PathBuf>,
}

impl Folders {
    /// Those of a data folder; new names are stored.
    #[must_use]
    pub fn at(data: &Path) -> Self {
        let data = data.to_owned();
        Self { data, keeps: true }
    }

    /// Read-only, for commands that only look.
    #[must_use]
    pub fn only_read(data: &Path) -> Self {
        let data = data.to_owned();
        Self { data, keeps: false }
    }

    /// Trusts a folder, or no longer; returns its real path. Blocks.
    pub fn trust(&self, folder: &Path, trusted: bool) -> io::Result<PathBuf> {
        let real = match folder.canonicalize() {
            Ok(real) => real,
            // Trust in a deleted folder can still be revoked.
            Err(_) if !trusted => std::path::absolute(folder)?,
            Err(error) => return Err(error),
        };
        if trusted && !real.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        self.change(|stored| match trusted {
            true => stored.trusted.insert(real.clone()),
            false => stored.trusted.remove(&real),
        })?;
        Ok(real)
    }

    pub(super) fn read(&self) -> io::Result<FolderRecords> {
        match std::fs::read(self.file()) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FolderRecords::default()),
            Err(error) => Err(error),
        }
    }

    /// Stores the names that were assigned since `kept` was read.
    pub(super) fn keep(&self, stored: &FolderRecords) -> io::Result<()> {
        if !self.keeps {
            return Ok(());
        }
        self.change(|now| {
            let before = now.owners.len();
            for (name, owner) in &stored.owners {
                now.owners
                    .entry(name.clone())
                    .or_insert_with(|| owner.clone());
            }
            now.owners.len() != before
        })
    }

    /// Changes the file, one process at a time.
    fn change(&self, work: impl FnOnce(&mut FolderRecords) -> bool) -> io::Result<()> {
        make_private_folder(&self.data)?;
        let alone = File::create(self.data.join("apps.lock"))?;
        alone.lock()?;
        let mut stored = self.read()?;
        if work(&mut stored) {
            atomic_file::write(&self.file(), &serde_json::to_vec_pretty(&stored)?)?;
        }
        Ok(())
    }

    /// The server-side storage of an app, for browsers that give it none; a name belongs to one folder, so it is
    /// sufficient.
    #[must_use]
    pub fn storage(&self, name: &AppName) -> PathBuf {
        self.data.join("app-storage").join(format!("{name}.json"))
    }

    fn file(&self) -> PathBuf {
        self.data.join("apps.json")
    }
}

impl FolderRecords {
    pub(super) fn trusts(&self, real: &Path) -> bool {
        self.trusted.contains(real)
    }

    /// The name of the app that declares `declared` in the folder `owner`: the declared one, unless another folder owns
    /// it.
    pub(super) fn name(&mut self, declared: &AppName, owner: &str) -> Option<AppName> {
        if self.has(declared, owner) {
            return Some(declared.clone());
        }
        let hash = blake3::hash(format!("{declared} {owner}").as_bytes()).to_hex();
        let stem: String = declared.as_str().chars().take(STEM).collect();
        // An app could declare the generated name of another; that one then gets more digits.
        (SUFFIX..=63 - STEM - 1).find_map(|digits| {
            let name = format!("{stem}-{}", &hash[..digits]).parse().ok()?;
            self.has(&name, owner).then_some(name)
        })
    }

    fn has(&mut self, name: &AppName, owner: &str) -> bool {
        let entry = self.owners.entry(name.clone());
        entry.or_insert_with(|| owner.to_owned()) == owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AppName {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_belongs_to_the_first_folder_and_others_get_names_that_stay() {
        let mut stored = FolderRecords::default();
        assert_eq!(stored.name(&name("notes"), "/a"), Some(name("notes")));
        let other = stored.name(&name("notes"), "/b").unwrap();
        assert!(other.as_str().starts_with("notes-"), "{other}");
        assert_eq!(stored.name(&name("notes"), "/b"), Some(other.clone()));
        assert_eq!(stored.name(&name("notes"), "/a"), Some(name("notes")));
        // A third app cannot take that name by declaring it.
        let third = stored.name(&other, "/c").unwrap();
        assert_ne!(third, other);
    }

    #[test]
    fn a_name_that_was_taken_in_advance_is_not_shared() {
        let expected = FolderRecords {
            owners: [(name("notes"), "/a".to_owned())].into(),
            ..FolderRecords::default()
        }
        .name(&name("notes"), "/b")
        .unwrap();
        let mut stored = FolderRecords::default();
        assert_eq!(stored.name(&expected, "/evil"), Some(expected.clone()));
        assert_eq!(stored.name(&name("notes"), "/a"), Some(name("notes")));
        let longer = stored.name(&name("notes"), "/b").unwrap();
        assert_ne!(longer, expected);
        assert!(longer.as_str().starts_with(expected.as_str()), "{longer}");
    }

    #[test]
    fn long_names_stay_names() {
        let long = name(&"a".repeat(63));
        let mut stored = FolderRecords::default();
        assert_eq!(stored.name(&long, "/a"), Some(long.clone()));
        assert!(stored.name(&long, "/b").unwrap().as_str().len() <= 63);
    }
}
