//! `gangway mcp search`, `refresh` and `runtimes`.

use clap::Args;
use gangway_tools::catalog::wire::{
    CatalogPage, CatalogRefresh, CatalogState, RefreshState, RuntimeList,
};

use gangway_client::encode::in_url;

use super::{CommandServer, Common, LOOK, Output, ask, print_json, say};

const SHOWN: usize = 20;

#[derive(Args)]
pub(super) struct SearchArgs {
    /// Search terms; without any, the most recently updated servers are shown
    words: Vec<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) async fn run(args: SearchArgs) -> anyhow::Result<()> {
    let words = args.words.join(" ");
    let look = async |server: &CommandServer| find(server, &words, SHOWN).await;
    let page = ask(&args.output.common, look).await?;
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
            (None, Some(problem)) => say!("    not available: {problem}"),
            (None, None) => say!("    not available: no installation method is published"),
        }
    }
    match page.total.saturating_sub(page.servers.len()) {
        0 if page.total == 0 => say!("No server in the catalog matches."),
        0 => {}
        more => say!("… and {more} more; add search terms to narrow the results."),
    }
    if page.total > 0 {
        say!("Install one: gangway mcp install NAME");
    }
    complain(&page.refresh);
    Ok(())
}

pub(super) async fn find(
    server: &CommandServer,
    words: &str,
    limit: usize,
) -> anyhow::Result<CatalogPage> {
    let path = format!("/api/mcp/catalog?limit={limit}&q={}", in_url(words));
    let page: CatalogPage = server.get(&path).await?;
    // A server started for this command ends before later results arrive.
    if page.refresh.state != RefreshState::Running || !server.is_own() {
        return Ok(page);
    }
    fetch(server).await?;
    server.get(&path).await
}

/// Refreshes the catalog and waits until it is done.
async fn fetch(server: &CommandServer) -> anyhow::Result<CatalogState> {
    let mut state: CatalogState = server.post("/api/mcp/catalog/refresh", &()).await?;
    while state.refresh.state == RefreshState::Running {
        tokio::time::sleep(LOOK).await;
        let page: CatalogPage = server.get("/api/mcp/catalog?limit=1").await?;
        (state.total, state.refresh) = (page.total, page.refresh);
        state.source = page.source;
    }
    Ok(state)
}

fn complain(refresh: &CatalogRefresh) {
    if let Some(problem) = &refresh.problem {
        crate::cli::say::complain!("gangway: {problem}");
    }
}

pub(super) async fn refresh(common: &Common) -> anyhow::Result<()> {
    let state = ask(common, fetch).await?;
    let problem = state.refresh.problem.clone().unwrap_or_default();
    anyhow::ensure!(state.refresh.state != RefreshState::Failed, "{problem}");
    say!("{} servers from {}", state.total, state.source);
    complain(&state.refresh);
    Ok(())
}

pub(super) async fn runtimes(output: Output) -> anyhow::Result<()> {
    let path = "/api/mcp/runtimes";
    let list: RuntimeList = ask(&output.common, async |server| server.get(path).await).await?;
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
