//! The row with the number of commits, and the epoch of the logs.
//!
//! A reader may have seen events that a power cut took back. Their numbers are not reused: if the ends of the logs may
//! have been lost, a new epoch begins, and the next event of each log gets the first number of its next block of a
//! million. So each number belongs to one epoch, and one that was taken back lies in a gap.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::{mark, sum, sync};
use crate::error::{Damage, Error, Result};

/// Minimum distance between the starts of two epochs of a log. Fewer numbers can be lost at once: the write-ahead log
/// is synced before it is moved into the database, at a few MiB.
const SPAN: u64 = 1_000_000;

/// The number of the first event after this one in a new epoch.
pub(super) fn next_start(last: u64) -> u64 {
    (last / SPAN + 1) * SPAN + 1
}

/// Whether there may be a gap before this number.
pub(super) fn is_start(seq: u64) -> bool {
    seq > SPAN && seq % SPAN == 1
}

/// The state of the whole database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// Commits that change more than deltas.
    pub(super) commits: u64,
    /// How many times the ends of logs may have been lost.
    pub(super) epoch: u64,
    /// Whether everything was synced when the last process ended.
    pub(super) clean: bool,
    /// The boot of the operating system in which it was written, if known.
    boot: String,
}

impl State {
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let sql = "SELECT commits, epoch, clean, boot, sum FROM state WHERE id = 1";
        let found = connection.query_row(sql, [], |row| {
            let state = Self {
                commits: row.get(0)?,
                epoch: row.get(1)?,
                clean: row.get(2)?,
                boot: row.get(3)?,
            };
            Ok((state, row.get(4)?))
        });
        let Some((state, stored)) = found.optional()? else {
            let what = "the row with the number of commits is missing";
            return Err(Error::Corrupted(Damage::new(what)));
        };
        sum::check(stored, state.sum(), || {
            Damage::new("the row with the number of commits has a wrong checksum")
        })?;
        Ok(state)
    }

    pub(super) fn write(&self, connection: &Connection) -> Result<()> {
        let sql = "UPDATE state SET commits = ?1, epoch = ?2, clean = ?3, boot = ?4, sum = ?5 WHERE id = 1";
        let mut statement = connection.prepare_cached(sql)?;
        let sum = self.sum();
        statement.execute(params![
            self.commits,
            self.epoch,
            self.clean,
            self.boot,
            sum
        ])?;
        Ok(())
    }

    fn sum(&self) -> i64 {
        sum::state(self.commits, self.epoch, self.clean, &self.boot)
    }
}

/// Begins a new epoch unless nothing can have been lost: after a clean stop, or in the same boot of the operating
/// system, which keeps the writes of a killed process. Without the mark of synced commits, the database is a copy of
/// unknown age.
pub(super) fn begin(connection: &Connection, file: &Path, boot: &str) -> Result<()> {
    let mut state = State::read(connection)?;
    let same_boot = !boot.is_empty() && state.boot == boot;
    let noted = mark::read(file).is_some();
    let any = connection.query_row("SELECT EXISTS (SELECT 1 FROM events)", [], |row| row.get(0));
    let whole = !any? || noted && (state.clean || same_boot);
    if whole && same_boot && !state.clean {
        return Ok(());
    }
    state.epoch += u64::from(!whole);
    state.clean = false;
    boot.clone_into(&mut state.boot);
    state.write(connection)?;
    // Before the writes that it applies to.
    let synced = std::fs::File::open(sync::wal_of(file)).and_then(|log| log.sync_data());
    let noted = synced.and_then(|()| mark::Mark::open(file)?.write(state.commits));
    noted.map_err(sync::disk)
}

/// The boot id of the operating system, if it has one.
pub(super) fn boot() -> String {
    // Elsewhere each start begins a new epoch, except after a clean stop.
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.unwrap_or_default().trim().to_owned()
}
