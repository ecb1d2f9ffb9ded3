//! Servers for tests.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use gangway_core::{ToolError, ToolName};
use gangway_mcp::{Host, JournalLine, ServerId, ServerSpec, Settings, State, Status};
use serde_json::Value;

/// Longer than anything here takes; only a bug waits for it.
pub const SOON: Duration = Duration::from_secs(60);

/// A file that `scripts/setup.sh mcp-servers` installs.
pub fn installed(path: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-servers");
    let found = root.join(path);
    assert!(
        found.exists(),
        "{} is missing; run: scripts/setup.sh mcp-servers",
        found.display()
    );
    found
}

pub fn id(text: &str) -> ServerId {
    text.parse().unwrap()
}

pub fn tool(text: &str) -> ToolName {
    text.parse().unwrap()
}

pub fn npm(name: &str, args: &[&str]) -> ServerSpec {
    let path = format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js");
    let mut words: Vec<OsString> = vec![installed(&path).into()];
    words.extend(args.iter().map(OsString::from));
    ServerSpec::stdio(id(name), "node", words)
}

pub fn pypi(name: &str, args: &[&str]) -> ServerSpec {
    let program = installed(&format!("python/bin/mcp-server-{name}"));
    ServerSpec::stdio(id(name), program, args.iter().map(OsString::from).collect())
}

/// The command line of the faulty server.
pub fn fault_words(how: &str) -> Vec<OsString> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults.py");
    let python = installed("python/bin/python");
    // Without site packages it starts in a few milliseconds.
    vec![python.into(), "-S".into(), script.into(), how.into()]
}

/// The faulty server.
pub fn fault(how: &str) -> ServerSpec {
    let words = fault_words(how);
    ServerSpec::stdio(id("faults"), &words[0], words[1..].to_vec())
}

/// Settings with short timeouts.
pub fn brisk() -> Settings {
    Settings {
        start_timeout: Duration::from_secs(20),
        backoff: Duration::from_millis(10),
        grace: Duration::from_millis(200),
        ..Settings::default()
    }
}

/// A host with these servers, all ready.
pub async fn host(settings: Settings, specs: Vec<ServerSpec>) -> Arc<Host> {
    let host = Host::new(settings, None);
    set_up(&host, specs).await;
    host
}

pub async fn set_up(host: &Host, specs: Vec<ServerSpec>) {
    let ids: Vec<ServerId> = specs.iter().map(|spec| spec.id.clone()).collect();
    host.set_up(specs).await;
    for id in ids {
        if let Err(reason) = host.ready(&id).await {
            panic!("{reason}\n{:#?}", host.logs(&id, 0));
        }
    }
}

pub fn status(host: &Host) -> Status {
    host.status().remove(0)
}

/// Waits for a state of the only server.
pub async fn until(host: &Host, wanted: impl Fn(&State) -> bool) -> Status {
    let mut changes = host.changes();
    let waiting = async {
        loop {
            changes.borrow_and_update();
            let status = status(host);
            if wanted(&status.state) {
                return status;
            }
            changes.changed().await.unwrap();
        }
    };
    match tokio::time::timeout(SOON, waiting).await {
        Ok(status) => status,
        Err(_) => panic!("{:#?}\n{:#?}", host.status(), logs(host)),
    }
}

pub fn logs(host: &Host) -> Vec<JournalLine> {
    host.logs(&status(host).id, 0).unwrap()
}

/// Waits for a line in the log of the only server. Its standard error is not synchronized with its results.
pub async fn until_said(host: &Host, text: &str) -> JournalLine {
    for _ in 0..600 {
        if let Some(line) = logs(host).into_iter().find(|line| line.text.contains(text)) {
            return line;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{text:?} was not said: {:#?}", logs(host));
}

pub async fn call(host: &Host, name: &str, arguments: Value) -> Result<Value, ToolError> {
    host.call("tester", &tool(name), arguments, None).await
}
