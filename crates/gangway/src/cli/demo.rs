//! `gangway demo`: agents and pages of every kind work together in one chat, without a model.

use std::path::Path;

use clap::Args;
use gangway_demo::wire::{DemoInfo, DemoState, DemoStatus, DemoTask};

use super::{
    Common, block_on, browser,
    say::say,
    serve::stop_signal,
    server::{CommandServer, Kind},
};
use crate::keys::LoginCode;

#[derive(Args)]
pub struct DemoArgs {
    /// Only print the link
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: DemoArgs) -> anyhow::Result<()> {
    block_on(async {
        let server = CommandServer::find(&args.common, Kind::Whole).await?;
        let played = play(&server, &args).await;
        server.end().await;
        played
    })
}

async fn play(server: &CommandServer, args: &DemoArgs) -> anyhow::Result<()> {
    let interrupted = stop_signal()?;
    tokio::pin!(interrupted);
    let info: DemoInfo = server.post("/api/demo", &serde_json::json!({})).await?;
    let data = args.common.data()?;
    let ended = tokio::select! {
        ended = follow(server, &info, &data, args.print) => ended,
        () = &mut interrupted => {
            server.delete("/api/demo").await?;
            say!("The demo is ended; its keys are revoked.");
            return Ok(());
        }
    };
    if ended? && server.is_own() {
        say!("Gangway runs until you press Ctrl-C.");
        interrupted.await;
    }
    Ok(())
}

/// Opens a page of Gangway in the browser, logged in.
async fn open(server: &CommandServer, path: &str, data: &Path, print: bool) -> anyhow::Result<()> {
    let code: LoginCode = server.post("/api/login/codes", &()).await?;
    let url = format!("{}{path}#login={}", server.address().0, code.code);
    if !print && browser::open_login(&url, data, std::iter::empty()) {
        say!("Opening {} in your browser.", server.address().0);
    } else {
        say!("Open this link in your browser; it works once, for ten minutes:");
        say!("{url}");
    }
    Ok(())
}

/// Prints what happens until the end; returns whether everything was shown.
async fn follow(
    server: &CommandServer,
    begun: &DemoInfo,
    data: &Path,
    print: bool,
) -> anyhow::Result<bool> {
    let session = begun.session_id.as_deref().unwrap_or_default();
    let launch = begun.launch_id.as_deref().unwrap_or_default();
    let chat = format!("/sessions/{session}?app={}&launch={launch}", begun.app);
    open(server, &chat, data, print).await?;
    let (mut steps, mut task, mut version) = (0, None, 0);
    loop {
        let status: DemoStatus = server.get(&format!("/api/demo?after={version}")).await?;
        let Some(info) = status
            .demo
            .filter(|demo| demo.session_id == begun.session_id)
        else {
            anyhow::bail!("the demo is over: another one was started, or Gangway was restarted");
        };
        version = info.version;
        for step in info.steps.iter().skip(steps) {
            say!("✓ {}: {}", step.actor, step.text);
        }
        steps = info.steps.len();
        let text = info.task.map(|DemoTask { text, url }| match url {
            Some(url) => format!("{text} {url}"),
            None => text,
        });
        if let Some(text) = text.as_ref().filter(|_| text != task) {
            say!("→ {text}");
        }
        task = text;
        match info.state {
            DemoState::Running => {}
            DemoState::Done => {
                open(server, &format!("/replay/{session}"), data, print).await?;
                return Ok(true);
            }
            DemoState::Denied | DemoState::Stopped => {
                say!("{}", info.error.unwrap_or_default());
                say!(
                    "What happened until then is in {}/replay/{session}",
                    server.address().0
                );
                return Ok(true);
            }
            DemoState::Failed => anyhow::bail!("{}", info.error.unwrap_or_default()),
        }
    }
}
