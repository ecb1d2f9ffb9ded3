//! `gangway mcp import`: imports the MCP servers configured in other hosts.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
};

use clap::Args;
use gangway_tools::import::{ImportedServers, files, read};

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

/// Finds the config files of other hosts and asks the user which to import.
fn choose(all: bool) -> anyhow::Result<ImportedServers> {
    let files = files();
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
