//! A bounded integrity check when the database is opened.

use std::path::Path;

use rusqlite::Connection;

use super::{epoch::State, mark};
use crate::error::{Damage, Error, Result};

/// The structure of the small tables is checked when a database of up to this size is opened. It takes about a
/// millisecond for each MiB; a start takes at most 20.
const CHECKED_AT_START: u64 = 8 << 20;

/// Tables in which no other read would notice a missing row.
const INDEX_TABLES: [&str; 4] = ["records", "logs", "once", "state"];

/// Fails if rows may be missing that no read would notice.
pub(super) fn at_start(connection: &Connection, file: &Path) -> Result<()> {
    let commits = State::read(connection)?.commits;
    if let Some(synced) = mark::read(file).filter(|synced| *synced > commits) {
        return Err(Error::Corrupted(cut_short(file, commits, synced)));
    }
    let size = std::fs::metadata(file).map_or(0, |found| found.len());
    if size <= CHECKED_AT_START {
        for table in INDEX_TABLES {
            if let Some(problem) = structure(connection, table)?.first() {
                let what = format!("the table {table:?} in {}: {problem}", file.display());
                return Err(Error::Corrupted(Damage::new(what)));
            }
        }
    }
    Ok(())
}

/// The error of a database that lost synced commits.
pub(super) fn cut_short(file: &Path, commits: u64, synced: u64) -> Damage {
    Damage::new(format!(
        "{} or its write-ahead log is cut short or damaged, or an older copy took its place: it has {commits} of at least \
         {synced} changes (to go on without the others: `gangway doctor --accept-loss`)",
        file.display()
    ))
}

/// Problems of a table's pages.
pub(super) fn structure(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA quick_check('{table}')"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}
