//! Small keyed records with a version each, for compare-and-set.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};

/// What must be true of a record for a write to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Any,
    /// There is none yet.
    Absent,
    /// It has this version.
    Version(u64),
}

/// A record to write, or to remove when it has no value.
#[derive(Debug, Clone)]
pub struct Put {
    key: String,
    value: Option<String>,
    expect: Expect,
}

impl Put {
    /// Writes this value.
    pub fn new<T: Serialize>(key: impl Into<String>, value: &T, expect: Expect) -> Result<Self> {
        let value = serde_json::to_string(value).map_err(|e| Error::Storage(e.to_string()))?;
        Ok(Self {
            key: key.into(),
            value: Some(value),
            expect,
        })
    }

    /// Removes the record.
    #[must_use]
    pub fn remove(key: impl Into<String>, expect: Expect) -> Self {
        Self {
            key: key.into(),
            value: None,
            expect,
        }
    }
}

/// A record's value and the version it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The value.
    pub value: T,
    /// The version, to expect when writing again.
    pub version: u64,
}

pub(super) fn decode<T: DeserializeOwned>(raw: &Versioned<String>) -> Result<Versioned<T>> {
    let value = serde_json::from_str(&raw.value)
        .map_err(|e| Error::Storage(format!("a record does not read: {e}")))?;
    Ok(Versioned {
        value,
        version: raw.version,
    })
}

pub(super) fn get(connection: &Connection, key: &str) -> Result<Option<Versioned<String>>> {
    let mut statement =
        connection.prepare_cached("SELECT value, version FROM records WHERE key = ?1")?;
    Ok(statement
        .query_row([key], |row| {
            Ok(Versioned {
                value: row.get(0)?,
                version: row.get(1)?,
            })
        })
        .optional()?)
}

pub(super) fn list(
    connection: &Connection,
    prefix: &str,
    before: Option<&str>,
    limit: usize,
) -> Result<Vec<(String, Versioned<String>)>> {
    // Every key with the prefix sorts below the prefix with its highest possible continuation.
    let end = before.map_or_else(|| format!("{prefix}\u{10FFFF}"), str::to_owned);
    let mut statement = connection
        .prepare_cached("SELECT key, value, version FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key DESC LIMIT ?3")?;
    let rows = statement.query_map(params![prefix, end, limit], |row| {
        Ok((
            row.get(0)?,
            Versioned {
                value: row.get(1)?,
                version: row.get(2)?,
            },
        ))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn keys(connection: &Connection, prefix: &str, limit: usize) -> Result<Vec<String>> {
    let end = format!("{prefix}\u{10FFFF}");
    let mut statement = connection.prepare_cached(
        "SELECT key FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3",
    )?;
    let rows = statement.query_map(params![prefix, end, limit], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Fails with `Conflict` if one of them is not as expected; changes nothing.
pub(super) fn check(connection: &Connection, records: &[Put]) -> Result<()> {
    for put in records.iter().filter(|put| put.expect != Expect::Any) {
        let found = get(connection, &put.key)?.map(|record| record.version);
        let expected = match put.expect {
            Expect::Version(version) => Some(version),
            Expect::Any | Expect::Absent => None,
        };
        if found != expected {
            return Err(Error::Conflict {
                key: put.key.clone(),
            });
        }
    }
    Ok(())
}

pub(super) fn apply(connection: &Connection, records: &[Put]) -> Result<()> {
    for put in records {
        match &put.value {
            Some(value) => connection
                .prepare_cached(
                    "INSERT INTO records (key, version, value) VALUES (?1, 1, ?2)
                     ON CONFLICT (key) DO UPDATE SET version = version + 1, value = excluded.value",
                )?
                .execute([&put.key, value])?,
            None => connection
                .prepare_cached("DELETE FROM records WHERE key = ?1")?
                .execute([&put.key])?,
        };
    }
    Ok(())
}
