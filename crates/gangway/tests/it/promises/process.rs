//! What the operating system says about a running server.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::support::Gangway;

/// Where the signs of life of a process are.
pub struct Vitals {
    folder: PathBuf,
}

impl Vitals {
    pub fn of(server: &Gangway) -> Self {
        Self::of_process(server.child.id())
    }

    pub fn of_process(id: u32) -> Self {
        Self {
            folder: PathBuf::from(format!("/proc/{id}")),
        }
    }

    /// Memory in use.
    pub fn memory_kib(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most memory that was ever in use.
    pub fn peak_kib(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// What its descriptors are open on, but for the databases: that of Gangway opens up to four connections as they are
    /// needed, that of the cinema is opened at its first use.
    pub fn descriptors(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.join("fd")).unwrap();
        let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        let is_database = |path: &PathBuf| path.to_string_lossy().contains("gangway.db");
        let links = links.filter(|path| !path.to_string_lossy().contains("booking.db"));
        let (database, mut open): (Vec<_>, Vec<_>) = links.partition(is_database);
        // Four connections to read, one to write and one to checkpoint, with two files each; the write-ahead log, the shared
        // memory, and the note of what was synced.
        assert!(database.len() <= 15, "{database:#?}");
        open.sort();
        open
    }

    /// Waits until no more descriptors are open than before.
    pub async fn descriptors_back_to(&self, before: &[PathBuf]) {
        let back = async {
            while self.descriptors().len() > before.len() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(10), back).await;
        let mut now = self.descriptors();
        now.retain(|open| !before.contains(open));
        let sockets = now.iter().flat_map(|open| self.connections(open));
        assert!(
            waited.is_ok(),
            "still open: {now:#?} {:#?}",
            sockets.collect::<Vec<_>>()
        );
    }

    /// The kernel's lines about a socket: its addresses and its state.
    fn connections(&self, socket: &Path) -> Vec<String> {
        let name = socket.to_string_lossy();
        let number = name.trim_start_matches("socket:[").trim_end_matches(']');
        let tables = ["tcp", "tcp6", "unix"].map(|table| self.folder.join("net").join(table));
        let tables = tables.map(|table| std::fs::read_to_string(table).unwrap_or_default());
        let lines = tables.iter().flat_map(|table| table.lines());
        let its = lines.filter(|line| line.split_whitespace().any(|word| word == number));
        its.map(str::to_owned).collect()
    }

    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(self.folder.join("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}
