//! A full-text cache of documents, in its own database file, which is recreated when it is broken.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_core::{Error, Result};
use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

/// The schema version; a file with another one is discarded.
const FORM: i64 = 1;

const TABLES: &str = "
    CREATE TABLE documents (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
    CREATE TABLE notes (value TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(name, title, body, tokenize = 'unicode61 remove_diacritics 2');
";

/// Words in a query; more find nothing new.
const WORDS: usize = 16;

/// Longer than the longest words of any language.
const WORD_CHARS: usize = 64;

/// A cache of documents. Clones share it; the database is opened on first use.
#[derive(Clone)]
pub struct Cache {
    shared: Arc<Shared>,
}

struct Shared {
    file: PathBuf,
    connection: Mutex<Option<Connection>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Unique.
    pub name: String,
    /// Ranked like the name.
    pub title: String,
    /// Ranked lower.
    pub body: String,
    /// The document itself.
    pub value: String,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Matches {
    /// The number of all matches.
    pub total: usize,
    /// The requested page, best match first.
    pub values: Vec<String>,
}

impl Cache {
    #[must_use]
    pub fn at(file: PathBuf) -> Self {
        Self {
            shared: Arc::new(Shared {
                file,
                connection: Mutex::default(),
            }),
        }
    }

    /// Replaces all documents and the note in one transaction. Of two with the same name the first counts.
    pub async fn replace(&self, documents: Vec<Document>, note: String) -> Result<()> {
        self.run(move |connection| replace(connection, &documents, &note))
            .await
    }

    /// The note of the last `replace`.
    pub async fn note(&self) -> Result<Option<String>> {
        self.run(|connection| {
            connection
                .query_row("SELECT value FROM notes", [], |row| row.get(0))
                .optional()
        })
        .await
    }

    /// The documents with all these words, the last of them as a prefix; without words all documents, in insertion
    /// order.
    pub async fn search(&self, words: &str, offset: usize, limit: usize) -> Result<Matches> {
        let wanted = query(words);
        self.run(move |connection| search(connection, wanted.as_deref(), offset, limit))
            .await
    }

    pub async fn get(&self, name: &str) -> Result<Option<String>> {
        let name = name.to_owned();
        self.run(move |connection| {
            let sql = "SELECT value FROM documents WHERE name = ?1";
            connection
                .query_row(sql, [&name], |row| row.get(0))
                .optional()
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || shared.run(work))
            .await
            .map_err(|error| Error::Storage(error.to_string()))?
    }
}

impl Shared {
    fn run<T>(&self, work: impl Fn(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let mut held = self.connection.lock();
        match self.attempt(&mut held, &work) {
            Err(error) if is_broken(&error) => {
                tracing::warn!(%error, "the catalog's file is broken and is recreated");
                *held = None;
                self.discard();
                Ok(self.attempt(&mut held, &work)?)
            }
            other => Ok(other?),
        }
    }

    fn attempt<T>(
        &self,
        held: &mut Option<Connection>,
        work: &impl Fn(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let connection = match held {
            Some(connection) => connection,
            None => held.insert(open(&self.file)?),
        };
        work(connection)
    }

    fn discard(&self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.file.display()));
        }
    }
}

/// Whether the file is at fault, not the disk or a lock.
fn is_broken(error: &rusqlite::Error) -> bool {
    let elsewhere = [
        ErrorCode::DiskFull,
        ErrorCode::ReadOnly,
        ErrorCode::CannotOpen,
        ErrorCode::PermissionDenied,
        ErrorCode::SystemIoFailure,
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::OutOfMemory,
    ];
    // Errors without a code mean unexpected tables or values.
    error
        .sqlite_error_code()
        .is_none_or(|code| !elsewhere.contains(&code))
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // Damage by a power cut is repaired by recreating it.
    connection.pragma_update(None, "synchronous", "OFF")?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found == FORM {
        return Ok(connection);
    }
    let mut connection = connection;
    let transaction = connection.transaction()?;
    // Fails on tables of another version, so that the file is discarded.
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "user_version", FORM)?;
    transaction.commit()?;
    Ok(connection)
}

fn replace(
    connection: &mut Connection,
    documents: &[Document],
    note: &str,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch("DELETE FROM documents; DELETE FROM words; DELETE FROM notes;")?;
    {
        let mut whole = transaction.prepare(
            "INSERT INTO documents (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        let mut words = transaction
            .prepare("INSERT INTO words (rowid, name, title, body) VALUES (?1, ?2, ?3, ?4)")?;
        for one in documents {
            if whole.execute(params![one.name, one.value])? == 1 {
                let id = transaction.last_insert_rowid();
                words.execute(params![id, one.name, one.title, one.body])?;
            }
        }
    }
    transaction.execute("INSERT INTO notes (value) VALUES (?1)", [note])?;
    transaction.commit()
}

fn search(
    connection: &mut Connection,
    wanted: Option<&str>,
    offset: usize,
    limit: usize,
) -> rusqlite::Result<Matches> {
    // A match in a name or title counts more than one in a description.
    let (count, rows) = match wanted {
        Some(_) => (
            "SELECT count(*) FROM words WHERE words MATCH ?1",
            "SELECT d.value FROM words JOIN documents d ON d.id = words.rowid WHERE words MATCH ?1
             ORDER BY bm25(words, 10.0, 10.0, 1.0), d.id LIMIT ?2 OFFSET ?3",
        ),
        None => (
            "SELECT count(*) FROM documents WHERE ?1 IS NULL",
            "SELECT value FROM documents WHERE ?1 IS NULL ORDER BY id LIMIT ?2 OFFSET ?3",
        ),
    };
    let total: i64 = connection.query_row(count, [wanted], |row| row.get(0))?;
    let mut statement = connection.prepare(rows)?;
    let (limit, offset) = (
        i64::try_from(limit).unwrap_or(i64::MAX),
        i64::try_from(offset).unwrap_or(i64::MAX),
    );
    let values = statement
        .query_map(params![wanted, limit, offset], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Matches {
        total: usize::try_from(total).unwrap_or(0),
        values,
    })
}

/// User input as a valid FTS query: quoted words, the last one as a prefix.
fn query(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .map(|word| word.chars().take(WORD_CHARS).collect())
        .collect();
    if words.is_empty() {
        return None;
    }
    Some(format!("\"{}\"*", words.join("\" \"")))
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str, title: &str, body: &str) -> Document {
        let (name, title, body) = (name.to_owned(), title.to_owned(), body.to_owned());
        let value = name.clone();
        Document {
            name,
            title,
            body,
            value,
        }
    }

    async fn filled(folder: &Path) -> Cache {
        let catalog = Cache::at(folder.join("catalog.db"));
        let documents = vec![
            document("io.a/zebra", "Zebra", "Reads files and the weather of Köln"),
            document("io.b/weather", "Skies", "Tells what to wear"),
            document("io.c/files", "Files", "Weather is not its business"),
            document("io.c/files", "Another", "of the same name"),
        ];
        catalog.replace(documents, "note".into()).await.unwrap();
        catalog
    }

    #[tokio::test]
    async fn documents_are_found_by_words_and_names_count_more() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = filled(folder.path()).await;
        let found = |words: &'static str| {
            let catalog = catalog.clone();
            async move { catalog.search(words, 0, 10).await.unwrap().values }
        };
        assert_eq!(found("weather").await[0], "io.b/weather");
        assert_eq!(found("weather").await.len(), 3);
        assert_eq!(found("WEATHER koln").await, ["io.a/zebra"]);
        assert_eq!(found("read fil").await, Vec::<String>::new());
        assert_eq!(found("reads fil").await, ["io.a/zebra"]);
        assert_eq!(found("io.b/wea").await, ["io.b/weather"]);
        let all = ["io.a/zebra", "io.b/weather", "io.c/files"];
        assert_eq!(found("").await, all);
        let page = catalog.search("", 1, 1).await.unwrap();
        assert_eq!((page.total, page.values.len()), (3, 1));
        assert_eq!(
            catalog.get("io.c/files").await.unwrap().as_deref(),
            Some("io.c/files")
        );
        assert_eq!(catalog.get("none").await.unwrap(), None);
        assert_eq!(catalog.note().await.unwrap().as_deref(), Some("note"));
    }

    #[tokio::test]
    async fn no_search_term_makes_a_search_fail() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = filled(folder.path()).await;
        let long = "x ".repeat(5000);
        for words in [
            "\"",
            "'",
            "\"\"\"",
            "*",
            "a*",
            "(",
            "a AND",
            "OR",
            "NOT x",
            "NEAR(a b, 2)",
            "name:x",
            "{a b}:c",
            "^a",
            "-a",
            "a -b",
            "+",
            "\0",
            "a\0b",
            "%_",
            "🦀",
            "文字",
            "é",
            "\u{202e}",
            ";--",
            &long,
        ] {
            let found = catalog.search(words, 0, 10).await;
            assert!(found.is_ok(), "{words:?}: {found:?}");
        }
        let far = catalog.search("", usize::MAX, usize::MAX).await.unwrap();
        assert_eq!((far.total, far.values.len()), (3, 0));
    }

    #[tokio::test]
    async fn a_broken_or_foreign_file_is_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.db");
        std::fs::write(&file, "this was a catalog once, ".repeat(100)).unwrap();
        let catalog = Cache::at(file.clone());
        assert_eq!(
            catalog.search("x", 0, 10).await.unwrap(),
            Matches::default()
        );
        drop(catalog);
        let other = Connection::open(&file).unwrap();
        other
            .execute_batch("PRAGMA user_version = 99; DELETE FROM documents;")
            .unwrap();
        drop(other);
        let catalog = filled(folder.path()).await;
        assert_eq!(catalog.search("", 0, 10).await.unwrap().total, 3);
        std::fs::remove_file(&file).unwrap();
        drop(catalog);
        let catalog = Cache::at(file);
        assert_eq!(catalog.note().await.unwrap(), None);
    }
}
