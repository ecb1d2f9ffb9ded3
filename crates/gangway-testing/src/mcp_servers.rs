//! Real MCP servers of other people, which `scripts/setup.sh mcp-servers` installs.

use std::path::PathBuf;

use serde_json::{Value, json};

/// The program of an installed server.
pub fn program(name: &str) -> PathBuf {
    installed_file(&format!("node_modules/.bin/mcp-server-{name}"))
}

/// An installed file, by its path in the folder of all of them.
pub fn installed_file(path: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-servers");
    let file = folder.join(path).canonicalize();
    file.unwrap_or_else(|_| panic!("{path} is missing: run `scripts/setup.sh mcp-servers`"))
}

/// An installed server, as an entry of the settings.
pub fn installed(name: &str) -> Value {
    json!({ "command": program(name) })
}
