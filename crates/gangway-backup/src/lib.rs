//! Backups of a data folder: one zip archive with a consistent copy of the databases, settings, secrets and the user's
//! files. Anything that can be downloaded again is left out.

mod pack;
mod unpack;

use std::{io, path::PathBuf};

pub use pack::{Packed, back_up};
use serde::{Deserialize, Serialize};
pub use unpack::{Restored, restore};

/// The archive's manifest.
const MANIFEST: &str = "gangway-backup.json";

/// Archive format that this version writes and reads.
const FORMAT: u32 = 1;

/// Copied with SQLite's backup API.
const DATABASES: [&str; 2] = [gangway_core::store::DATABASE, "booking.db"];

/// Left out: can be downloaded or created again, or belongs to a running process.
const LEFT_OUT: [&str; 7] = [
    "agents",
    "bridge",
    "mcp/catalog.db",
    "mcp/packages",
    "models",
    "secrets/lock",
    "server.lock",
];

/// Included although its folder is left out.
const KEPT: [&str; 1] = ["models/default.json"];

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    version: String,
    made_at: jiff::Timestamp,
    /// Number of files in the archive, without this one.
    files: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} already exists; choose another name, or replace it with --force", .0.display())]
    Exists(PathBuf),
    #[error("{} is inside the data folder; write the backup somewhere else", .0.display())]
    Inside(PathBuf),
    #[error("there is no gangway.db in {}; nothing to back up", .0.display())]
    Nothing(PathBuf),
    #[error("{place} is damaged: {first}{}", more(*.count))]
    Damaged {
        /// `the database`, or the path of the archive.
        place: String,
        /// The first problem found.
        first: String,
        /// Number of problems.
        count: u64,
    },
    /// Not an archive of ours, or modified.
    #[error("{} is not a backup that can be restored: {reason}", path.display())]
    NoBackup { path: PathBuf, reason: String },
    #[error(transparent)]
    Data(#[from] gangway_client::DataError),
    #[error(transparent)]
    Store(#[from] gangway_core::Error),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

fn more(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(", and {} more problems", count - 1),
    }
}

fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |error| BackupError::Io { path, error }
}

/// Checks the integrity of the databases in this folder.
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

/// Whether an entry of a data folder, by relative path, is left out of backups.
fn is_left_out(path: &str) -> bool {
    let is = |name: &str| path == name || path.starts_with(&format!("{name}/"));
    let beside = DATABASES.iter().chain(&["mcp/catalog.db"]).any(|database| {
        let rest = path.strip_prefix(database);
        rest.is_some_and(|rest| rest.starts_with('-'))
    });
    beside || LEFT_OUT.iter().any(|name| is(name)) && !KEPT.iter().any(|name| is(name))
}
