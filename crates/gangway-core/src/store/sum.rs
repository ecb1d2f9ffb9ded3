//! Checksums of stored rows. Each covers the row's content and key, so that reads notice a row that was changed, moved
//! or swapped.

use crc32fast::Hasher;
use rusqlite::{Connection, functions::FunctionFlags};

use crate::error::{Damage, Error, Result};

/// The upper half covers only the key, so that a row's place can be checked without reading all of it.
fn halves(key: u32, content: Hasher) -> i64 {
    (u64::from(key) << 32 | u64::from(content.finalize())).cast_signed()
}

/// Whether the checksum matches this key.
pub(super) fn is_of(stored: i64, key: u32) -> bool {
    stored.cast_unsigned() >> 32 == u64::from(key)
}

pub(super) fn event_key(session: &[u8], seq: u64) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(session);
    hasher.update(&seq.to_le_bytes());
    hasher.finalize()
}

pub(super) fn event(session: &[u8], seq: u64, at: i64, kind: i64, prev: u64, body: &str) -> i64 {
    let key = event_key(session, seq);
    let mut hasher = Hasher::new_with_initial(key);
    hasher.update(&at.to_le_bytes());
    hasher.update(&kind.to_le_bytes());
    hasher.update(&prev.to_le_bytes());
    hasher.update(body.as_bytes());
    halves(key, hasher)
}

pub(super) fn record_key(key: &str) -> u32 {
    crc32fast::hash(key.as_bytes())
}

pub(super) fn record(key: &str, version: u64, value: &str) -> i64 {
    let key = record_key(key);
    let mut hasher = Hasher::new_with_initial(key);
    hasher.update(&version.to_le_bytes());
    hasher.update(value.as_bytes());
    halves(key, hasher)
}

pub(super) fn once(session: &[u8], key: &str, seq: u64) -> i64 {
    let mut hasher = Hasher::new();
    hasher.update(session);
    hasher.update(&seq.to_le_bytes());
    hasher.update(key.as_bytes());
    i64::from(hasher.finalize())
}

pub(super) fn log(session: &[u8], floor: u64, head: u64, epoch: u64) -> i64 {
    let mut hasher = Hasher::new();
    hasher.update(session);
    hasher.update(&floor.to_le_bytes());
    hasher.update(&head.to_le_bytes());
    hasher.update(&epoch.to_le_bytes());
    i64::from(hasher.finalize())
}

pub(super) fn commits(commits: u64) -> i64 {
    i64::from(crc32fast::hash(&commits.to_le_bytes()))
}

pub(super) fn state(commits: u64, epoch: u64, clean: bool, boot: &str) -> i64 {
    let mut hasher = Hasher::new();
    hasher.update(&commits.to_le_bytes());
    hasher.update(&epoch.to_le_bytes());
    hasher.update(&[u8::from(clean)]);
    hasher.update(boot.as_bytes());
    i64::from(hasher.finalize())
}

/// Registers the checksum functions for SQL on this connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("event_sum", 6, flags, |row| {
        let session: Vec<u8> = row.get(0)?;
        let body: String = row.get(5)?;
        let sum = event(
            &session,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            &body,
        );
        Ok(sum)
    })?;
    connection.create_scalar_function("record_sum", 3, flags, |row| {
        let (key, value): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(record(&key, row.get(1)?, &value))
    })?;
    connection.create_scalar_function("once_sum", 3, flags, |row| {
        let (session, key): (Vec<u8>, String) = (row.get(0)?, row.get(1)?);
        Ok(once(&session, &key, row.get(2)?))
    })?;
    connection.create_scalar_function("log_sum", 4, flags, |row| {
        let session: Vec<u8> = row.get(0)?;
        Ok(log(&session, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    connection.create_scalar_function("state_sum", 4, flags, |row| {
        let boot: String = row.get(3)?;
        Ok(state(row.get(0)?, row.get(1)?, row.get(2)?, &boot))
    })
}

/// Fails if the stored checksum is wrong.
pub(super) fn check(stored: i64, computed: i64, damage: impl FnOnce() -> Damage) -> Result<()> {
    if stored == computed {
        Ok(())
    } else {
        Err(Error::Corrupted(damage()))
    }
}
