//! MCP servers that are configured in other hosts: where their config files are, and what is in them.
//!
//! - `find`: locations of the files
//! - `syntax`, `forms`: JSON, TOML and YAML; the keys that hosts use
//! - `variables`: variables in entries

mod find;
mod forms;
mod syntax;
mod variables;

use std::{collections::BTreeMap, io::Read, path::Path};

use anyhow::Context;
pub use find::files;

use crate::entry::ServerEntry;

/// Servers by name, and notes about skipped ones.
#[derive(Debug, Default)]
pub struct ImportedServers {
    pub servers: BTreeMap<String, ServerEntry>,
    pub notes: Vec<String>,
}

/// Reads the servers in a config file, `-` for the standard input.
pub fn read(file: &Path) -> anyhow::Result<ImportedServers> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text =
            std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    }
    let value = syntax::parse(file, &text)
        .with_context(|| format!("{} cannot be parsed", file.display()))?;
    let listed = forms::servers(&value).with_context(|| {
        format!(
            "{} has no MCP servers under a known key, such as `mcpServers`",
            file.display()
        )
    })?;
    let folder = std::path::absolute(file)?;
    let folder = folder.parent().unwrap_or(Path::new("/"));
    let mut found = ImportedServers::default();
    for (name, listed) in listed {
        let id = forms::id(&name);
        let entry = listed
            .and_then(|entry| variables::filled(entry, folder, |name| std::env::var(name).ok()));
        let entry = entry.and_then(|entry| match entry.check(&id) {
            Ok(_) => Ok(entry),
            Err(error) => Err(error.to_string()),
        });
        match entry {
            Ok(entry) => {
                found.servers.insert(id, entry);
            }
            Err(why) => found.notes.push(format!("{name}: {why}")),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
