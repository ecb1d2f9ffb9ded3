//! What the operating system says about a running server.

use std::{path::PathBuf, time::Duration};

use crate::support::Gangway;

/// Where the signs of life of a process are.
pub struct Vitals {
    folder: PathBuf,
}

impl Vitals {
    pub fn of(server: &Gangway) -> Self {
        Self {
            folder: PathBuf::from(format!("/proc/{}", server.child.id())),
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

    /// Open descriptors.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(self.folder.join("fd")).unwrap().count()
    }

    /// Waits until no more descriptors are open than before.
    pub async fn descriptors_back_to(&self, before: usize) {
        let back = async {
            while self.descriptors() > before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(10), back).await;
        assert!(
            waited.is_ok(),
            "{} descriptors, {before} before",
            self.descriptors()
        );
    }

    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(self.folder.join("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}
