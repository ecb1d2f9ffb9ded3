//! Processes of this machine, identified by their arguments.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// A number of seconds that no other test sleeps.
pub fn unique_seconds() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}{n:02}", 10_000 + std::process::id())
}

/// Counts processes with this argument.
pub fn count(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let has = |line: Vec<u8>| {
        line.split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes())
    };
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| has(line.clone()))
        .count()
}

pub async fn until(argument: &str, wanted: usize) {
    for _ in 0..1000 {
        if count(argument) == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} instead of {wanted} processes", count(argument));
}
