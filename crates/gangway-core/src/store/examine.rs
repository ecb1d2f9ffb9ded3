//! The full check of a database, with or without a running server.

use std::path::Path;

use rusqlite::Connection;

use super::{
    DATABASE, check,
    epoch::State,
    mark, open,
    row::{self, COLUMNS, Ends, Forward},
    sum,
};
use crate::{
    error::{Damage, Error, Result},
    id::SessionId,
};

/// Maximum number of listed places of damage; more are only counted.
const LISTED: usize = 100;

/// The result of a full check.
#[derive(Debug, Default)]
pub struct Examined {
    /// Sessions with a log.
    pub sessions: u64,
    /// Events read.
    pub events: u64,
    /// Records read.
    pub records: u64,
    /// Places of damage, at most 100.
    pub damage: Vec<Damage>,
    /// Total number of places of damage.
    pub damaged_places: u64,
}

impl Examined {
    fn note(&mut self, damage: Damage) {
        self.damaged_places += 1;
        if self.damage.len() < LISTED {
            self.damage.push(damage);
        }
    }

    /// Records damage; any other error ends the check.
    fn take<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Corrupted(damage)) => {
                self.note(damage);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Checks the structure of the database in this folder, and the checksum and link of every row. Read-only.
pub fn examine(folder: &Path) -> Result<Examined> {
    let file = folder.join(DATABASE);
    // Before the database: a commit in between makes this number too small, not too large.
    let synced = mark::read(&file);
    let mut found = Examined::default();
    let opened = open::reader(&file).and_then(|connection| {
        // One read transaction, so that all queries see the same snapshot.
        connection.execute_batch("BEGIN")?;
        Ok(connection)
    });
    let Some(connection) = found.take(opened)? else {
        return Ok(found);
    };
    for line in found.take(integrity(&connection))?.into_iter().flatten() {
        found.note(Damage::new(line));
    }
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    match found.take(version.map_err(Error::from))? {
        Some(version) if version < open::KNOWN => return Ok(found),
        Some(version) if version > open::KNOWN => return Err(open::newer(&file, version)),
        Some(_) => {}
        None => return Ok(found),
    }
    if let (Some(state), Some(synced)) = (found.take(State::read(&connection))?, synced)
        && state.commits < synced
    {
        found.note(check::cut_short(&file, state.commits, synced));
    }
    let ended = events(&connection, &mut found);
    found.take(ended)?;
    let ended = logs(&connection, &mut found);
    found.take(ended)?;
    let ended = rows(&connection, &mut found);
    found.take(ended)?;
    Ok(found)
}

/// Problems found by SQLite's integrity check; empty if there are none.
pub fn integrity_of(file: &Path) -> Result<Vec<String>> {
    match open::reader(file).and_then(|connection| integrity(&connection)) {
        Err(Error::Corrupted(damage)) => Ok(vec![damage.what]),
        other => other,
    }
}

/// Copies a consistent snapshot of a database to a new file. A server may be writing to it.
pub fn copy_database(from: &Path, to: &Path) -> Result<()> {
    open::make_private(to)?;
    let to = to
        .to_str()
        .ok_or_else(|| Error::Storage(format!("the path {} is not valid UTF-8", to.display())))?;
    // In one read transaction, so that concurrent writes do not restart it.
    open::reader(from)?.execute("VACUUM INTO ?1", [to])?;
    Ok(())
}

fn integrity(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({LISTED})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// Every event of every session, in order.
fn events(connection: &Connection, found: &mut Examined) -> Result<()> {
    let sql = format!("SELECT {COLUMNS}, session FROM events ORDER BY session, seq");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut current: Option<(SessionId, Forward)> = None;
    while let Some(row) = rows.next()? {
        found.events += 1;
        let id: Vec<u8> = row.get(6)?;
        let Some(session) = SessionId::from_slice(&id) else {
            found.note(Damage::new("an event has an invalid session id"));
            continue;
        };
        if current.as_ref().is_none_or(|(open, _)| *open != session) {
            if let Some((_, chain)) = current.take() {
                found.take(chain.end())?;
            }
            let ends = found.take(Ends::read(connection, session))?;
            let chain = Forward::new(session, ends.unwrap_or_default(), 0);
            current = Some((session, chain));
            found.sessions += 1;
        }
        let link = found.take(row::logged(session, row))?.map(|(_, link)| link);
        if let (Some((_, chain)), Some(link)) = (&mut current, link) {
            let taken = chain.take(link);
            if found.take(taken)?.is_none() {
                chain.skip_to(link);
            }
        }
    }
    if let Some((_, chain)) = current {
        found.take(chain.end())?;
    }
    Ok(())
}

/// Logs whose events are all gone, and sessions whose log is gone.
fn logs(connection: &Connection, found: &mut Examined) -> Result<()> {
    let mut statement = connection.prepare(
        "SELECT session, head FROM logs WHERE head > floor
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.session = logs.session)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, head): (Vec<u8>, u64) = (row.get(0)?, row.get(1)?);
        let what = format!("events up to {head} are missing");
        found.note(Damage {
            session: SessionId::from_slice(&id),
            event: None,
            what,
        });
    }
    drop(rows);
    let mut statement = connection
        .prepare("SELECT key FROM records WHERE key >= 'session/' AND key < 'session0'")?;
    let keys = statement.query_map([], |row| row.get::<_, String>(0))?;
    for key in keys {
        let key = key?;
        let session = key.trim_start_matches("session/").parse::<SessionId>();
        if let Ok(session) = session
            && Ends::read(connection, session).is_ok_and(|ends| ends.head == 0)
        {
            found.note(Damage::of(session, None, "its log is missing"));
        }
    }
    Ok(())
}

/// All records and idempotency keys.
fn rows(connection: &Connection, found: &mut Examined) -> Result<()> {
    let mut statement = connection.prepare("SELECT key, value, version, sum FROM records")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.records += 1;
        found.take(super::record::read(row))?;
    }
    drop(rows);
    let mut statement = connection.prepare("SELECT session, key, seq, sum FROM once")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, key): (Vec<u8>, String) = (row.get(0)?, row.get(1)?);
        let (seq, stored): (u64, i64) = (row.get(2)?, row.get(3)?);
        let checked = sum::check(stored, sum::once(&id, &key, seq), || Damage {
            session: SessionId::from_slice(&id),
            event: Some(seq),
            what: "the row of its idempotency key has a wrong checksum".into(),
        });
        found.take(checked)?;
    }
    Ok(())
}
