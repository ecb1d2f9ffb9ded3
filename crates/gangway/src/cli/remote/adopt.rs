//! `gangway agents adopt`: turns a program in the user's own tmux into a remote agent.

use std::path::{Path, PathBuf};

use clap::Args;
use gangway_remote::wire::{AdoptAgent, CreatedAgent};

use super::{Output, agents_server};
use crate::cli::{print_json, say::say};

#[derive(Args)]
pub(super) struct AdoptArgs {
    /// The tmux pane: session:window.pane, or an id such as %3 (`tmux list-panes -a` shows them)
    pane: String,
    /// The agent's project; uploads go to its folder
    #[arg(long)]
    project: String,
    /// A persona for the agent
    #[arg(long, value_name = "SLUG")]
    persona: Option<String>,
    /// An initial message
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// A regular expression that the last line matches when the program waits for input
    #[arg(long, value_name = "REGEX")]
    prompt: Option<String>,
    /// After how many milliseconds without output a turn is over
    #[arg(long, value_name = "MS", default_value_t = 3000)]
    quiet_ms: u64,
    /// Allow a shell, which runs every message as a command
    #[arg(long)]
    shell: bool,
    /// The socket of the tmux server [default: that of this terminal, or the user's default]
    #[arg(long, value_name = "FILE")]
    socket: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) async fn run(args: AdoptArgs) -> anyhow::Result<()> {
    let server = agents_server(&args.output.common)?;
    let socket = match args.socket {
        Some(socket) => std::path::absolute(socket)?,
        None => default_socket(),
    };
    let wanted = AdoptAgent {
        project_name: args.project,
        socket: socket.to_string_lossy().into_owned(),
        target: args.pane.clone(),
        persona_slug: args.persona,
        initial_prompt: args.message,
        prompt_pattern: args.prompt,
        quiet_ms: Some(args.quiet_ms),
        shell: args.shell,
        feature_flags: None,
    };
    let created: CreatedAgent = server.post("/api/remote_agents/adopt", &wanted).await?;
    if args.output.json {
        return print_json(&created);
    }
    let id = &created.agent_id;
    say!("Adopted {} as the agent {id}.", args.pane);
    say!("Its chat, with its token: {}", created.embed_url);
    say!("`gangway agents stop {id}` releases it; the program keeps running.");
    Ok(())
}

/// The tmux socket of this terminal, or of this user.
fn default_socket() -> PathBuf {
    // Inside tmux: "SOCKET,PID,SESSION".
    if let Some(own) = std::env::var("TMUX")
        .ok()
        .and_then(|all| Some(all.rsplitn(3, ',').nth(2)?.to_owned()))
    {
        return own.into();
    }
    let folder = std::env::var_os("TMUX_TMPDIR").filter(|folder| !folder.is_empty());
    let folder = folder.unwrap_or_else(|| "/tmp".into());
    #[cfg(unix)]
    let user = rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let user = 0;
    Path::new(&folder).join(format!("tmux-{user}/default"))
}
