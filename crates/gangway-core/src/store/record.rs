//! Small versioned records by key, with compare-and-set.

use rusqlite::{Connection, Row};
use serde::{Serialize, de::DeserializeOwned};

use super::sum;
use crate::error::{Damage, Error, Result};

/// The precondition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// None.
    Any,
    /// The record does not exist.
    Absent,
    /// It has this version.
    Version(u64),
}

/// A record to write, or to remove if it has no value.
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

/// A record's value and version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The value.
    pub value: T,
    /// The version to expect for the next write.
    pub version: u64,
}

pub(super) fn decode<T: DeserializeOwned>(raw: &Versioned<String>) -> Result<Versioned<T>> {
    let value = serde_json::from_str(&raw.value)
        .map_err(|e| Error::Storage(format!("cannot parse a record: {e}")))?;
    Ok(Versioned {
        value,
        version: raw.version,
    })
}

/// A record from its row, if the checksum matches.
pub(super) fn read(row: &Row<'_>) -> Result<(String, Versioned<String>)> {
    let (key, value): (String, String) = (row.get(0)?, row.get(1)?);
    let (version, stored): (u64, i64) = (row.get(2)?, row.get(3)?);
    sum::check(stored, sum::record(&key, version, &value), || misfit(&key))?;
    Ok((key, Versioned { value, version }))
}

/// The first key from this one on, checked. A record with a damaged key is not where it is looked for; it is noticed
/// as the neighbor of the gap.
fn check_above(connection: &Connection, key: &str) -> Result<Option<String>> {
    check_place(
        connection,
        "SELECT key, sum FROM records WHERE key >= ?1 ORDER BY key LIMIT 1",
        key,
    )
}

/// The same for the last record before this key.
fn check_below(connection: &Connection, key: &str) -> Result<Option<String>> {
    check_place(
        connection,
        "SELECT key, sum FROM records WHERE key < ?1 ORDER BY key DESC LIMIT 1",
        key,
    )
}

fn check_place(connection: &Connection, sql: &str, key: &str) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([key])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (found, stored): (String, i64) = (row.get(0)?, row.get(1)?);
    in_place(&found, stored)?;
    Ok(Some(found))
}

fn in_place(key: &str, stored: i64) -> Result<()> {
    if sum::is_of(stored, sum::record_key(key)) {
        Ok(())
    } else {
        Err(Error::Corrupted(misfit(key)))
    }
}

fn misfit(key: &str) -> Damage {
    let shown: String = key.chars().take(80).collect();
    Damage::new(format!("the record {shown:?} has a wrong checksum"))
}

pub(super) fn get(connection: &Connection, key: &str) -> Result<Option<Versioned<String>>> {
    let mut statement =
        connection.prepare_cached("SELECT key, value, version, sum FROM records WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    match rows.next()? {
        Some(row) => Ok(Some(read(row)?.1)),
        None => {
            check_above(connection, key)?;
            check_below(connection, key)?;
            Ok(None)
        }
    }
}

pub(super) fn list(
    connection: &Connection,
    prefix: &str,
    before: Option<&str>,
    limit: usize,
) -> Result<Vec<(String, Versioned<String>)>> {
    // Every key with the prefix sorts below the prefix with its highest possible continuation.
    let end = before.map_or_else(|| after_all(prefix), str::to_owned);
    check_above(connection, &end)?;
    // Without a lower bound: the record before the prefix is checked as well.
    let mut statement = connection.prepare_cached(
        "SELECT key, value, version, sum FROM records WHERE key < ?1 ORDER BY key DESC",
    )?;
    let mut rows = statement.query([end])?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let key = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if key < prefix {
            in_place(key, row.get(3)?)?;
            break;
        }
        found.push(read(row)?);
    }
    Ok(found)
}

pub(super) fn keys(connection: &Connection, prefix: &str, limit: usize) -> Result<Vec<String>> {
    let end = after_all(prefix);
    check_below(connection, prefix)?;
    let mut statement =
        connection.prepare_cached("SELECT key, sum FROM records WHERE key >= ?1 ORDER BY key")?;
    let mut rows = statement.query([prefix])?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let key: String = row.get(0)?;
        in_place(&key, row.get(1)?)?;
        if key >= end {
            break;
        }
        found.push(key);
    }
    Ok(found)
}

fn after_all(prefix: &str) -> String {
    format!("{prefix}\u{10FFFF}")
}

/// Fails with `Conflict` and changes nothing if one of them is not as expected.
pub(super) fn check(connection: &Connection, records: &[Put]) -> Result<()> {
    for put in records {
        let as_expected = match put.expect {
            Expect::Any => true,
            Expect::Version(version) => {
                let found = get(connection, &put.key)?;
                found.is_some_and(|found| found.version == version)
            }
            Expect::Absent => {
                let found = check_above(connection, &put.key)?;
                check_below(connection, &put.key)?;
                found.as_ref() != Some(&put.key)
            }
        };
        if !as_expected {
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
                    "INSERT INTO records (key, version, value, sum) VALUES (?1, 1, ?2, record_sum(?1, 1, ?2))
                     ON CONFLICT (key) DO UPDATE SET version = version + 1, value = excluded.value,
                     sum = record_sum(key, version + 1, excluded.value)",
                )?
                .execute([&put.key, value])?,
            None => connection
                .prepare_cached("DELETE FROM records WHERE key = ?1")?
                .execute([&put.key])?,
        };
    }
    Ok(())
}
