//! Backups of a data folder: one zip archive with the databases as they were at one moment, settings, secrets and the
//! person's files. What can be fetched again is not in it.

mod pack;
mod unpack;

use std::{io, path::PathBuf};

pub use pack::{Packed, back_up};
use serde::{Deserialize, Serialize};
pub use unpack::{Restored, restore};

/// The entry that says what the archive is.
const MANIFEST: &str = "gangway-backup.json";

/// The format of archives that this version writes and reads.
const FORMAT: u32 = 1;

/// Databases, which are copied by SQLite.
const DATABASES: [&str; 2] = [gangway_core::store::DATABASE, "booking.db"];

/// What is left out: it can be fetched or made again, or belongs to a process that runs.
const LEFT_OUT: [&str; 7] = [
    "agents",
    "bridge",
    "mcp/catalog.db",
    "mcp/packages",
    "models",
    "secrets/lock",
    "server.lock",
];

/// What is in an archive although the folder around it is left out.
const KEPT: [&str; 1] = ["models/default.json"];

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    /// The version of Gangway that wrote it.
    version: String,
    made_at: jiff::Timestamp,
    /// Files in the archive, without this one.
    files: usize,
}

/// Why a backup could not be made or put back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The target is there already.
    #[error("{} is there already; choose another name, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The target would be part of what it backs up.
    #[error("{} is inside the data folder; write the backup somewhere else", .0.display())]
    Inside(PathBuf),
    /// The data folder holds nothing to back up.
    #[error("there is no gangway.db in {}; nothing to back up", .0.display())]
    Nothing(PathBuf),
    /// The database is damaged.
    #[error("{place} is damaged: {first}{}", more(*.count))]
    Damaged {
        /// `the database` or the archive.
        place: String,
        /// The first place of damage.
        first: String,
        /// Places in all.
        count: u64,
    },
    /// The archive is not one of ours, or someone changed it.
    #[error("{} is not a backup that can be restored: {reason}", path.display())]
    NoBackup {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder is in use.
    #[error(transparent)]
    Data(#[from] gangway_client::DataError),
    /// The store says no.
    #[error(transparent)]
    Store(#[from] gangway_core::Error),
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

fn more(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(", and {} places more", count - 1),
    }
}

/// Makes an error of this path.
fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |error| BackupError::Io { path, error }
}

/// Checks a folder that has a copy of the database.
fn check(
    folder: &std::path::Path,
    place: &str,
) -> Result<gangway_core::store::Examined, BackupError> {
    let found = gangway_core::store::examine(folder)?;
    match found.damage.first() {
        None => Ok(found),
        Some(first) => Err(BackupError::Damaged {
            place: place.to_owned(),
            first: first.to_string(),
            count: found.damaged_places,
        }),
    }
}

/// Whether an entry of a data folder, by its path in it, is not part of a backup.
fn is_left_out(path: &str) -> bool {
    let is = |name: &str| path == name || path.starts_with(&format!("{name}/"));
    let beside = DATABASES.iter().chain(&["mcp/catalog.db"]).any(|database| {
        let rest = path.strip_prefix(database);
        rest.is_some_and(|rest| rest.starts_with('-'))
    });
    beside || LEFT_OUT.iter().any(|name| is(name)) && !KEPT.iter().any(|name| is(name))
}
