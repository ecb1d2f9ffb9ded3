//! Opens the database, brings its tables up to date and refuses what a newer version wrote.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};

/// Each step brings the tables from the format before it to its own; steps are only ever added.
const STEPS: [&str; 2] = [
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
];

/// The connection that writes.
pub(super) fn writer(file: &Path) -> Result<Connection> {
    make_private(file).map_err(super::sync::disk)?;
    let mut connection = Connection::open(file)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // No commit syncs by itself: whoever needs the disk asks for it, many at a time.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // No write waits longer than this for readers to let a checkpoint end.
    connection.busy_timeout(std::time::Duration::from_millis(50))?;
    // Checkpoints are the sync thread's work; the writer only begins the log anew once little is left to move.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // What is deleted is overwritten: nobody should find it in the file again.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.set_prepared_statement_cache_capacity(32);
    upgrade(&mut connection, file, &STEPS)?;
    Ok(connection)
}

/// Makes the database readable for its owner alone, whatever the folder allows; the files beside it follow its mode.
#[cfg(unix)]
pub(super) fn make_private(file: &Path) -> std::io::Result<()> {
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
pub(super) fn make_private(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// A connection that only reads.
pub(super) fn reader(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    // Pages that every reader remembers, in KiB; the system remembers them for all.
    connection.pragma_update(None, "cache_size", -512)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

/// Brings the tables of a file up to date by those of these steps that it has not seen.
pub(super) fn upgrade(connection: &mut Connection, file: &Path, steps: &[&str]) -> Result<()> {
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
