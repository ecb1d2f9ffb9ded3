//! A window of tmux with a program in it: typed into, and looked at.

use std::{collections::BTreeMap, path::Path, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use gangway_mcp::environment;

/// A command of tmux takes no longer than this, or tmux is in trouble.
const WITHIN: Duration = Duration::from_secs(10);

/// What is looked at of a screen and what scrolled out of it.
const SHOWN_BYTES: u64 = 16 << 20;

/// Lines that tmux keeps of what scrolled out of the window.
const HISTORY: &str = "20000";

/// How long a program may take to end with its window.
const GRACE: Duration = Duration::from_millis(300);

/// What to ask about a pane.
const STATE: &str =
    "#{pane_dead} #{pane_dead_status} #{pane_dead_signal} #{cursor_x} #{cursor_y} #{history_size}";

/// A window with a program.
pub(super) struct Window {
    pane: String,
    group: Option<Pid>,
}

/// What a window shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// How the program ended, if it has; empty while tmux does not know it yet.
    pub(super) ended: Option<String>,
    /// All lines, those that scrolled out first; lines that were wrapped are whole.
    pub(super) lines: Vec<String>,
    /// Where the cursor is.
    cursor: (String, String, String),
}

impl Window {
    /// Opens one beside that of this process.
    pub(super) async fn open(
        command: &[String],
        env: &BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<Self, String> {
        let Some(own) = std::env::var("TMUX_PANE").ok() else {
            return Err(
                "a program for terminals needs tmux, and this agent runs outside of it".into(),
            );
        };
        let session = tmux(
            &["display-message", "-p", "-t", &own, "#{session_id}"],
            None,
        )
        .await?;
        let session = session.trim();
        tmux(
            &["set-option", "-t", session, "history-limit", HISTORY],
            None,
        )
        .await?;
        // Names alone: what a variable holds must not be seen in a list of processes.
        let mut known = tmux(&["show-environment", "-g"], None).await?;
        known.push_str(&tmux(&["show-environment", "-t", session], None).await?);
        let kept: Vec<_> = environment()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let gone = known
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0));
        let gone = gone.filter(|name| !kept.iter().any(|one| one == name));
        // Something to begin with, so that what a program says before it ends at once can still be seen.
        let new = [
            "new-window",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-t",
            &format!("{session}:"),
            "cat",
        ];
        let pane = tmux(&new, None).await?.trim().to_owned();
        let mut window = Self { pane, group: None };
        let pane = window.pane.as_str();
        tmux(
            &["set-option", "-p", "-t", pane, "remain-on-exit", "on"],
            None,
        )
        .await?;
        let mut line = format!(
            "respawn-pane -k -t {} -c {}",
            quoted(pane),
            // As it is: `#(…)` in it would be run.
            quoted(&folder.display().to_string().replace('#', "##"))
        );
        for (name, value) in env {
            line.push_str(&format!(" -e {}", quoted(&format!("{name}={value}"))));
        }
        line.push_str(" env");
        for name in gone.chain(["TMUX", "TMUX_PANE"]) {
            line.push_str(&format!(" -u {}", quoted(name)));
        }
        for word in command {
            line.push_str(&format!(" {}", quoted(word)));
        }
        line.push('\n');
        let name = &command[0];
        let started = tmux(&["source-file", "-"], Some(line.as_bytes())).await;
        started.map_err(|error| format!("{name} could not be started: {error}"))?;
        let pid = tmux(&["display-message", "-p", "-t", pane, "#{pane_pid}"], None).await?;
        window.group = pid.trim().parse().ok().and_then(Pid::from_raw);
        Ok(window)
    }

    /// Types a text that was made [`typeable`] and presses Enter.
    pub(super) async fn enter(&self, text: &str) -> Result<(), String> {
        let name = format!("gangway-{}", self.pane.trim_start_matches('%'));
        tmux(&["load-buffer", "-b", &name, "-"], Some(text.as_bytes())).await?;
        tmux(
            &["paste-buffer", "-p", "-d", "-b", &name, "-t", &self.pane],
            None,
        )
        .await?;
        self.press("Enter").await
    }

    /// Presses a key by its name.
    pub(super) async fn press(&self, key: &str) -> Result<(), String> {
        tmux(&["send-keys", "-t", &self.pane, key], None)
            .await
            .map(drop)
    }

    /// What it shows now.
    pub(super) async fn look(&self) -> Result<Shown, String> {
        let pane = self.pane.as_str();
        let both = [
            "display-message",
            "-p",
            "-t",
            pane,
            STATE,
            ";",
            "capture-pane",
            "-p",
            "-J",
            "-S",
            "-",
            "-t",
            pane,
        ];
        let text = tmux(&both, None).await?;
        let (state, screen) = text.split_once('\n').unwrap_or((&text, ""));
        let mut state = state.split(' ').map(str::to_owned);
        let mut next = || state.next().unwrap_or_default();
        let (dead, status, signal) = (next() == "1", next(), next());
        let mut lines: Vec<String> = screen.lines().map(str::to_owned).collect();
        if dead && status.is_empty() && signal.is_empty() {
            // Some versions of tmux miss the end of a child until another one ends.
            tmux(&["run-shell", "true"], None).await?;
        }
        if dead {
            // What tmux itself writes into it.
            lines.retain(|line| !line.starts_with("Pane is dead"));
        }
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        Ok(Shown {
            ended: dead.then(|| match (status.is_empty(), signal.is_empty()) {
                (false, _) => format!("status {status}"),
                (true, false) => format!("signal {signal}"),
                (true, true) => String::new(),
            }),
            lines,
            cursor: (next(), next(), next()),
        })
    }

    /// Forgets what scrolled out, and tells how many lines stand above the cursor now, and what stands beside it.
    pub(super) async fn mark(&self) -> Result<(Shown, usize, String), String> {
        tmux(&["clear-history", "-t", &self.pane], None).await?;
        let shown = self.look().await?;
        let row: usize = shown.cursor.1.parse().unwrap_or(0);
        let above = match row.checked_sub(1) {
            Some(last) => {
                let last = last.to_string();
                let pane = self.pane.as_str();
                let above = [
                    "capture-pane",
                    "-p",
                    "-J",
                    "-S",
                    "-",
                    "-E",
                    &last,
                    "-t",
                    pane,
                ];
                tmux(&above, None).await?.lines().count()
            }
            None => 0,
        };
        let line = shown.lines.get(above).cloned().unwrap_or_default();
        Ok((shown, above, line))
    }

    /// Closes it, and ends the program.
    pub(super) async fn close(mut self) {
        let dead = tmux(
            &["display-message", "-p", "-t", &self.pane, "#{pane_dead}"],
            None,
        )
        .await;
        if dead.is_ok_and(|dead| dead.trim() == "1") {
            // Its number may be another's by now.
            self.group = None;
        }
        let _ = tmux(&["kill-pane", "-t", &self.pane], None).await;
        tokio::time::sleep(GRACE).await;
        // Those that do not mind losing their terminal.
        self.kill();
    }

    fn kill(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A text without keys that do something: those are not for others to press.
pub(super) fn typeable(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end().chars();
    text.filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// A word for tmux's own command language.
fn quoted(word: &str) -> String {
    let clean = word.replace(['\n', '\r'], " ");
    format!("'{}'", clean.replace('\'', "'\\''"))
}

/// Runs tmux and gives what it prints.
async fn tmux(arguments: &[&str], input: Option<&[u8]>) -> Result<String, String> {
    let mut child = Command::new("tmux")
        .args(arguments)
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("tmux could not be started: {error}"))?;
    let work = async {
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            // It fails only when tmux has ended, which its status tells.
            let _ = stdin.write_all(input).await;
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            let (mut stdout, mut stderr) = (stdout.take(SHOWN_BYTES), stderr.take(4096));
            let _ = tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
        }
        let status = child.wait().await.map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(String::from_utf8_lossy(&err).trim().to_owned());
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    };
    let late = |_| Err("tmux did not answer in time".to_owned());
    tokio::time::timeout(WITHIN, work)
        .await
        .unwrap_or_else(late)
}
