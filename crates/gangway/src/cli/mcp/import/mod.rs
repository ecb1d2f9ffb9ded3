//! `gangway mcp import`: imports the MCP servers configured in other hosts.

mod find;
mod forms;
mod syntax;
mod variables;

use std::{
    collections::BTreeMap,
    io::{IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use gangway_tools::entry::ServerEntry;

use super::{Common, add, say};

#[derive(Args)]
pub(super) struct ImportArgs {
    /// The host's config file, `-` for stdin [default: the config files of known hosts]
    file: Option<PathBuf>,
    /// Import everything found, without asking
    #[arg(long, conflicts_with = "file")]
    yes: bool,
    #[command(flatten)]
    common: Common,
}

/// Servers by name, and notes about skipped ones.
#[derive(Debug, Default)]
struct ImportedServers {
    servers: BTreeMap<String, ServerEntry>,
    notes: Vec<String>,
}

pub(super) async fn run(args: ImportArgs) -> anyhow::Result<()> {
    let found = match &args.file {
        Some(file) => {
            let found = read(file)?;
            anyhow::ensure!(
                !found.servers.is_empty(),
                "{} has no usable MCP servers{}",
                file.display(),
                found
                    .notes
                    .iter()
                    .map(|note| format!("; {note}"))
                    .collect::<String>()
            );
            found
        }
        None => choose(args.yes)?,
    };
    for note in &found.notes {
        say!("Skipped: {note}");
    }
    if found.servers.is_empty() {
        say!("Nothing was added");
        return Ok(());
    }
    add(&args.common, found.servers).await
}

fn read(file: &Path) -> anyhow::Result<ImportedServers> {
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

/// Finds the config files of other hosts and asks the user which to import.
fn choose(all: bool) -> anyhow::Result<ImportedServers> {
    let files = find::files();
    anyhow::ensure!(
        !files.is_empty(),
        "no config files of other hosts were found; name one: gangway mcp import FILE"
    );
    let asks = std::io::stdin().is_terminal();
    let mut chosen = ImportedServers::default();
    let mut seen = 0;
    for (host, file) in files {
        let found = match read(&file) {
            Ok(found) if !found.servers.is_empty() => found,
            // Most config files have no MCP servers.
            _ => continue,
        };
        seen += 1;
        let names: Vec<_> = found.servers.keys().cloned().collect();
        say!("{host} ({}): {}", file.display(), names.join(", "));
        if all || (asks && agrees()?) {
            for (name, entry) in found.servers {
                chosen.servers.entry(name).or_insert(entry);
            }
            chosen.notes.extend(found.notes);
        }
    }
    anyhow::ensure!(
        seen > 0,
        "the config files of other hosts have no MCP servers"
    );
    anyhow::ensure!(
        all || asks,
        "standard input is not a terminal; add --yes, or name one of the files"
    );
    Ok(chosen)
}

fn agrees() -> anyhow::Result<bool> {
    let mut out = std::io::stderr();
    write!(out, "Add them? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

#[cfg(test)]
mod tests;
