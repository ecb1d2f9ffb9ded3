//! A program that ran in the user's own tmux before it became an agent.

use std::{io, path::Path};

use super::{super::wire::Adopted, window::tmux};

/// The format to query a pane with.
const PANE: &str = "#{pane_id}\t#{pane_pid}\t#{pane_dead}\t#{pane_current_command}";

/// Programs that execute what is typed.
const SHELLS: [&str; 12] = [
    "bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "csh", "tcsh", "nu", "pwsh", "xonsh",
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAdoptable {
    #[error("{0}; list all panes with `tmux list-panes -a`")]
    NoPane(String),
    #[error("the program in this pane has ended")]
    Ended,
    #[error(
        "the pane shows a shell, {0}, which would run every message as a command; start the agent in it first, or say that this is meant (`--shell`)"
    )]
    Shell(String),
    #[error("the foreground process of this pane cannot be found: {0}")]
    NoProcess(String),
}

impl Adopted {
    /// Adopts the foreground program of a pane.
    pub async fn find(
        socket: &Path,
        target: &str,
        shell: bool,
        prompt: Option<String>,
        quiet_ms: u64,
    ) -> Result<Self, NotAdoptable> {
        let asked = ["display-message", "-p", "-t", target, PANE];
        let pane = tmux(Some(socket), &asked, None).await;
        let pane = pane.map_err(NotAdoptable::NoPane)?;
        let fields: Vec<&str> = pane.trim_end_matches('\n').split('\t').collect();
        let [pane, pid, dead, program] = fields[..] else {
            return Err(NotAdoptable::NoPane(format!(
                "unexpected output of tmux: {pane}"
            )));
        };
        if pane.is_empty() {
            return Err(NotAdoptable::NoPane(format!("pane {target} not found")));
        }
        if dead == "1" {
            return Err(NotAdoptable::Ended);
        }
        let program = program.trim_start_matches('-');
        if !shell && SHELLS.contains(&program) {
            return Err(NotAdoptable::Shell(program.to_owned()));
        }
        let no_process = |error: io::Error| NotAdoptable::NoProcess(error.to_string());
        let foreground = foreground(pid).await.map_err(no_process)?;
        Ok(Self {
            socket: socket.to_owned(),
            pane: pane.to_owned(),
            foreground,
            program: program.to_owned(),
            prompt,
            quiet_ms,
        })
    }

    /// Whether the program is still in the foreground of its pane, given the pane's first process: if it has ended, a
    /// shell would execute messages as commands.
    pub(super) async fn is_in_foreground(&self, pane_pid: &str) -> bool {
        foreground(pane_pid)
            .await
            .is_ok_and(|now| now == self.foreground)
    }
}

/// The foreground process group of a process's terminal, and its leader's start time, since ids are reused.
#[cfg(target_os = "linux")]
async fn foreground(pid: &str) -> io::Result<String> {
    let group = stat(pid, 8).await?;
    let started = stat(&group, 22).await?;
    Ok(format!("{group} {started}"))
}

/// A field of a process, numbered as in proc(5). The program's name, the second one, may contain anything.
#[cfg(target_os = "linux")]
async fn stat(pid: &str, field: usize) -> io::Result<String> {
    let number: u32 = pid.parse().map_err(io::Error::other)?;
    let all = tokio::fs::read_to_string(format!("/proc/{number}/stat")).await?;
    let fields = all.rsplit_once(") ").map(|(_, fields)| fields.split(' '));
    let found = fields.and_then(|mut fields| fields.nth(field - 3));
    let found = found.ok_or_else(|| io::Error::other("its state cannot be read"))?;
    Ok(found.to_owned())
}

#[cfg(not(target_os = "linux"))]
async fn foreground(pid: &str) -> io::Result<String> {
    let group = ps("tpgid=", pid).await?;
    let started = ps("lstart=", &group).await?;
    Ok(format!("{group} {started}"))
}

#[cfg(not(target_os = "linux"))]
async fn ps(field: &str, pid: &str) -> io::Result<String> {
    let mut command = tokio::process::Command::new("ps");
    let output = command.args(["-o", field, "-p", pid]).output().await?;
    let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.success() && !found.is_empty() {
        true => Ok(found),
        false => Err(io::Error::other("its state cannot be read")),
    }
}
