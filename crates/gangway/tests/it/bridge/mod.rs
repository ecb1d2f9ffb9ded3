//! The native messaging host, as a browser starts it: a process, two pipes, and frames on them.

mod attaching;
mod bad_input;
mod hostile;
mod junk;
mod manifests;
mod named;
mod pages;
mod pipe;
mod streams;
mod tools;

use std::{path::Path, process::Command};

use gangway_client::{DataFolder, ServerNote};
use pipe::Pipe;
use serde_json::json;

use crate::support::TestServer;

/// Settings of a Gangway that looks at nothing around it.
const ALONE: &str = "listen: 127.0.0.1:0\ndefault_agent: demo\nmodels: {detect: false}\ntools: {catalog_url: 'off'}\n";

/// A folder for bridges, which may start a server; dropping it ends all of them.
struct Swept(tempfile::TempDir);

impl Swept {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Swept {
    fn drop(&mut self) {
        // It may have been started a moment ago, and not have said yet where it is.
        for pid in processes(self.path()) {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
    }
}

/// The processes that name a folder.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let named = entries.filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(folder)
    });
    named
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// A folder for a bridge that finds no server.
fn alone() -> Swept {
    let folder = Swept::new();
    std::fs::write(folder.path().join("config.yaml"), ALONE).unwrap();
    folder
}

/// Waits until no process holds the folder.
fn eventually_free(data: &Path) {
    for _ in 0..500 {
        if DataFolder::take(data).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("a process still holds {}", data.display());
}

/// Announces a server of this process, as `gangway serve` does for its own.
fn announce(server: &TestServer) -> DataFolder {
    let mut folder = DataFolder::take(server.folder.path()).unwrap();
    let note = ServerNote {
        pid: std::process::id(),
        url: format!("http://{}", server.address),
        token: "local-token".into(),
        for_browser: false,
    };
    folder.announce(&note).unwrap();
    folder
}

/// A bridge on a server of this process, after its hello.
fn bridged(server: &TestServer) -> (Pipe, DataFolder) {
    let note = announce(server);
    let mut pipe = Pipe::start(server.folder.path());
    let hello = pipe.hello();
    assert_eq!(hello["attached"], "server");
    assert_eq!(
        hello["base_url"],
        json!(format!("http://{}", server.address))
    );
    (pipe, note)
}
