//! Opens the database, migrates it and rejects one of a newer version.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::{sum, sync::CHECKPOINT_BYTES};
use crate::error::{Error, Result};

/// Each step migrates from the format before it to its own; steps are only ever appended.
pub(super) const STEPS: [&str; 4] = [
    "
    CREATE TABLE events (
        session BLOB NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;
    CREATE TABLE records (
        key TEXT NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        value TEXT NOT NULL
    ) WITHOUT ROWID;
",
    "
    CREATE TABLE once (
        session BLOB NOT NULL,
        key TEXT NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (session, key)
    ) WITHOUT ROWID;
",
    // Adds a checksum to every row, the number of the previous non-delta to every event, and its ends to every log.
    "
    CREATE TABLE summed_events (
        session BLOB NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        prev INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;
    INSERT INTO summed_events
        SELECT session, seq, at, kind, prev, event_sum(session, seq, at, kind, prev, body), body FROM (
            SELECT *, coalesce(max(CASE WHEN kind <> 1 THEN seq END) OVER (
                PARTITION BY session ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0) AS prev FROM events
        );
    DROP TABLE events;
    ALTER TABLE summed_events RENAME TO events;
    CREATE TABLE logs (
        session BLOB NOT NULL PRIMARY KEY,
        floor INTEGER NOT NULL,
        head INTEGER NOT NULL,
        sum INTEGER NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO logs
        SELECT session, floor, head, 0 FROM (
            SELECT session, min(seq) - 1 AS floor, coalesce(max(CASE WHEN kind <> 1 THEN seq END), 0) AS head
            FROM events GROUP BY session
        );
    ALTER TABLE records ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    UPDATE records SET sum = record_sum(key, version, value);
    ALTER TABLE once ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
    UPDATE once SET sum = once_sum(session, key, seq);
    CREATE TABLE state (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        commits INTEGER NOT NULL,
        sum INTEGER NOT NULL
    );
    INSERT INTO state VALUES (1, 0, 0);
",
    // Adds the epoch of the database and of each log.
    "
    ALTER TABLE state ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE state ADD COLUMN clean INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE state ADD COLUMN boot TEXT NOT NULL DEFAULT '';
    UPDATE state SET sum = state_sum(commits, epoch, clean, boot);
    ALTER TABLE logs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
    UPDATE logs SET sum = log_sum(session, floor, head, epoch);
",
];

/// The current format.
pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// The writer's connection.
pub(super) fn writer(file: &Path) -> Result<Connection> {
    make_private(file)?;
    let mut connection = Connection::open(file)?;
    keep_log_on_close(&connection, true)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Commits do not sync; callers that need durability request it, many at a time.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // The longest that a write waits for readers to let a checkpoint end.
    connection.busy_timeout(std::time::Duration::from_millis(50))?;
    // Checkpoints are the sync thread's job; the writer only restarts the log once little is left to move.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A log that grew beyond it shrinks again when it is restarted.
    connection.pragma_update(None, "journal_size_limit", CHECKPOINT_BYTES)?;
    // Deleted data is overwritten, so that it cannot be recovered from the file.
    connection.pragma_update(None, "secure_delete", "ON")?;
    // Detects damaged pages before a cell outside of them is used.
    connection.pragma_update(None, "cell_size_check", "ON")?;
    connection.set_prepared_statement_cache_capacity(48);
    sum::register(&connection)?;
    upgrade(&mut connection, file, &STEPS)?;
    keep_log_on_close(&connection, false)?;
    Ok(connection)
}

/// Whether closing leaves the write-ahead log alone: a rejected database must not change.
pub(super) fn keep_log_on_close(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    let setting = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(setting, keep)?;
    Ok(())
}

/// Creates the database file if necessary, readable by its owner only, whatever the folder allows; the files that
/// SQLite puts beside it get the same mode.
pub fn make_private(file: &Path) -> Result<()> {
    restrict(file).map_err(super::sync::disk)
}

#[cfg(unix)]
fn restrict(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.open(file)?;
    for suffix in ["", "-wal", "-shm"] {
        let beside = PathBuf::from(format!("{}{suffix}", file.display()));
        match std::fs::metadata(&beside) {
            Ok(found) if found.permissions().mode() & 0o077 != 0 => {
                std::fs::set_permissions(&beside, PermissionsExt::from_mode(0o600))?;
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// A read-only connection.
pub(super) fn reader(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    // More than there are: preparing one takes longer than most reads.
    connection.set_prepared_statement_cache_capacity(48);
    // Page cache per reader, in KiB; the system's cache is shared by all.
    connection.pragma_update(None, "cache_size", -512)?;
    connection.pragma_update(None, "cell_size_check", "ON")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

/// The error for a file of a newer version.
pub(super) fn newer(file: &Path, found: i64) -> Error {
    Error::NewerData {
        path: file.to_owned(),
        found,
        known: KNOWN,
    }
}

/// Migrates a database: runs the steps that it has not seen, each in a transaction, and rejects a file that has seen
/// more.
pub fn upgrade(connection: &mut Connection, file: &Path, steps: &[&str]) -> Result<()> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(Error::NewerData {
            path: file.to_owned(),
            found,
            known,
        });
    }
    for (step, sql) in (1_i64..).zip(steps).skip_while(|(step, _)| *step <= found) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", step)?;
        transaction.commit()?;
    }
    Ok(())
}
