//! `gangway mcp search`, `refresh` and `runtimes`.

use clap::Args;

use super::{Common, Output, desk::Desk, print_json, say};
use crate::tools::catalog::wire::{CatalogRefresh, RefreshState};

/// Servers that are shown at once.
const SHOWN: usize = 20;

/// What to look for.
#[derive(Args)]
pub(super) struct SearchArgs {
    /// Words; without any, what changed last is shown
    words: Vec<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) async fn run(args: SearchArgs) -> anyhow::Result<()> {
    let desk = Desk::open(&args.output.common.data()?)?;
    let page = desk.find(&args.words.join(" "), SHOWN).await;
    desk.close().await;
    let page = page?;
    if args.output.json {
        return print_json(&page);
    }
    for server in &page.servers {
        let installed = match server.installed.is_empty() {
            true => String::new(),
            false => format!("  (installed as {})", server.installed.join(", ")),
        };
        say!("{}  {}{installed}", server.name, server.version);
        say!("    {}", server.description);
        let possible = server.options.iter().find(|option| option.available);
        let problem = || server.options.iter().find_map(|o| o.problem.as_deref());
        match (possible, problem()) {
            (Some(option), _) => say!("    {}", option.label),
            (None, Some(problem)) => say!("    not here: {problem}"),
            (None, None) => say!("    not here: nobody says how to install it"),
        }
    }
    match page.total.saturating_sub(page.servers.len()) {
        0 if page.total == 0 => say!("There is no such server in the catalog."),
        0 => {}
        more => say!("… and {more} more; further words find fewer."),
    }
    if page.total > 0 {
        say!("Install one: gangway mcp install NAME");
    }
    complain(&page.refresh);
    Ok(())
}

fn complain(refresh: &CatalogRefresh) {
    if let Some(problem) = &refresh.problem {
        crate::cli::say::complain!("gangway: {problem}");
    }
}

pub(super) async fn refresh(common: &Common) -> anyhow::Result<()> {
    let desk = Desk::open(&common.data()?)?;
    let state = desk.refresh().await;
    desk.close().await;
    let state = state?;
    let problem = state.refresh.problem.clone().unwrap_or_default();
    anyhow::ensure!(state.refresh.state != RefreshState::Failed, "{problem}");
    say!("{} servers from {}", state.total, state.source);
    complain(&state.refresh);
    Ok(())
}

pub(super) async fn runtimes(output: Output) -> anyhow::Result<()> {
    let desk = Desk::open(&output.common.data()?)?;
    let list = desk.runtimes().await?;
    if output.json {
        return print_json(&list);
    }
    for one in &list.runtimes {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match one.found {
            true => say!("{}  {}  {}", one.name, text(&one.version), text(&one.path)),
            false => say!("{}  missing  {}", one.name, text(&one.hint)),
        }
    }
    Ok(())
}
