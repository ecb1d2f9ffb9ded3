//! What there is of remote agents on the machine.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// Ends what a test left in tmux, and checks that nothing keeps running.
pub struct Swept(pub PathBuf);

impl Drop for Swept {
    fn drop(&mut self) {
        let socket = self.0.join("agents/tmux.sock");
        if socket.exists() {
            let mut end = Command::new("tmux");
            let _ = end.arg("-S").arg(socket).arg("kill-server").output();
        }
        for _ in 0..250 {
            if processes(&self.0).is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = processes(&self.0);
        assert!(std::thread::panicking(), "this goes on: {left:#?}");
    }
}

/// The command lines of all processes that name this folder.
pub fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(folder)).collect()
}

/// The tmux sessions of this data folder.
pub fn tmux_sessions(data: &Path) -> Vec<String> {
    let mut list = Command::new("tmux");
    list.arg("-S").arg(data.join("agents/tmux.sock"));
    let listed = list.args(["list-sessions", "-F", "#{session_name}"]);
    let listed = listed.output().unwrap().stdout;
    let names = String::from_utf8(listed).unwrap();
    names.lines().map(str::to_owned).collect()
}

/// Everything there is of agents: rows of each table, files, tmux sessions, processes.
#[derive(Debug, PartialEq, Eq)]
pub struct Stock {
    rows: BTreeMap<String, i64>,
    files: Vec<String>,
    tmux: Vec<String>,
    processes: Vec<String>,
}

impl Stock {
    pub fn tmux(&self) -> &[String] {
        &self.tmux
    }

    pub fn of(data: &Path) -> Self {
        let store = rusqlite::Connection::open(data.join("gangway.db")).unwrap();
        let named = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let mut named = store.prepare(named).unwrap();
        let tables = named.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let rows = tables.map(|table| {
            let table = table.unwrap();
            let count = format!("SELECT count(*) FROM \"{table}\"");
            let count = store.query_row(&count, [], |row| row.get(0)).unwrap();
            (table, count)
        });
        let entries = std::fs::read_dir(data.join("agents")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut files: Vec<_> = names.filter(|name| !name.ends_with(".sock")).collect();
        files.sort();
        Self {
            rows: rows.collect(),
            files,
            tmux: tmux_sessions(data),
            processes: processes(&data.join("agents")),
        }
    }
}

/// Waits until there is as much in a folder as there was.
pub async fn back_to(data: &Path, before: &Stock) {
    for _ in 0..500 {
        if Stock::of(data) == *before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(Stock::of(data), *before);
}
