//! The person's MCP servers where they meet the command line and the chat's keys.

mod approval;
mod command;
mod install;
mod scripts;

use gangway_testing::mcp_servers::installed;
use serde_json::json;

use crate::support::TestServer;

pub async fn with_memory(change: impl FnOnce(&mut gangway::config::Config)) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    // Otherwise it keeps what it learns beside its own code, for every test after this one.
    let memory = folder.path().join("memory.json");
    let server = TestServer::in_folder(folder, |config| {
        let mut entry = installed("memory");
        entry["env"] = json!({ "MEMORY_FILE_PATH": memory });
        let entry = serde_json::from_value(entry).unwrap();
        config.mcp_servers.insert("memory".into(), entry);
        change(config);
    })
    .await;
    let id = "memory".parse().unwrap();
    // The host knows its servers a moment after the start.
    server.app.tools.reload().await;
    server.app.tools.host.ready(&id).await.unwrap();
    server
}

pub async fn with_everything() -> TestServer {
    let server = TestServer::with(|config| {
        let entry = serde_json::from_value(installed("everything")).unwrap();
        config.mcp_servers.insert("everything".into(), entry);
    })
    .await;
    server.app.tools.reload().await;
    let id = "everything".parse().unwrap();
    server.app.tools.host.ready(&id).await.unwrap();
    server
}
