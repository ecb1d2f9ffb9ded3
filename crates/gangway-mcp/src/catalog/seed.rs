//! A few well-known servers, for use before a registry was downloaded.

use serde_json::{Value, json};

use super::listed::{ParsedServer, RegistryServer};

/// Servers that need no account. Their latest version is installed.
#[must_use]
pub fn seed() -> Vec<RegistryServer> {
    let folder = json!([{
        "type": "positional", "valueHint": "folder", "isRequired": true, "format": "filepath",
        "description": "The folder whose files it may read and change",
    }]);
    let repository = json!([{
        "type": "named", "name": "--repository", "format": "filepath",
        "description": "The folder of the repository it works in",
    }]);
    let zone = json!([{
        "type": "named", "name": "--local-timezone",
        "description": "Your time zone, such as Europe/Berlin, if the system does not provide it",
    }]);
    let none = json!([]);
    let entries = [
        (
            "everything",
            "Everything",
            "npm",
            "Exercises every feature of the protocol. Good for a first try.",
            &none,
        ),
        (
            "filesystem",
            "Files",
            "npm",
            "Reads, writes and searches files in a folder.",
            &folder,
        ),
        (
            "memory",
            "Memory",
            "npm",
            "Remembers people, things and their relations in a knowledge graph.",
            &none,
        ),
        (
            "sequential-thinking",
            "Sequential thinking",
            "npm",
            "Helps a model to think in steps and to revise them.",
            &none,
        ),
        (
            "fetch",
            "Fetch",
            "pypi",
            "Fetches web pages as text.",
            &none,
        ),
        (
            "time",
            "Time",
            "pypi",
            "Returns the current time and converts between time zones.",
            &zone,
        ),
        (
            "git",
            "Git",
            "pypi",
            "Reads and changes Git repositories on this machine.",
            &repository,
        ),
    ];
    let listed = entries.map(|(name, title, kind, description, arguments)| {
        let package = match kind {
            "npm" => format!("@modelcontextprotocol/server-{name}"),
            _ => format!("mcp-server-{name}"),
        };
        let entry: Value = json!({
            "name": format!("io.modelcontextprotocol/{name}"),
            "title": title,
            "description": description,
            "version": "latest",
            "repository": { "url": "https://github.com/modelcontextprotocol/servers" },
            "packages": [{
                "registryType": kind, "identifier": package, "transport": { "type": "stdio" },
                "packageArguments": arguments,
            }],
        });
        RegistryServer::read(&entry)
    });
    let servers = listed.into_iter().filter_map(|reading| match reading {
        ParsedServer::Server(listed) => Some(*listed),
        _ => None,
    });
    servers.collect()
}
