//! A tmux window with a program: input and screen.

use std::{collections::BTreeMap, path::Path, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use gangway_mcp::environment;

use super::super::wire::Adopted;

/// The timeout of a tmux command.
const WITHIN: Duration = Duration::from_secs(10);

/// Bytes of screen and scrollback that are read.
const SHOWN_BYTES: u64 = 16 << 20;

/// Lines of scrollback.
const HISTORY: &str = "20000";

/// For an adopted program that ended or was put into the background.
const LEFT: &str = "is no longer in the foreground of its pane";

/// How long a program may take to end with its window.
const GRACE: Duration = Duration::from_millis(300);

/// The format to query a pane with.
const STATE: &str = "#{pane_dead} #{pane_dead_status} #{pane_dead_signal} #{cursor_x} #{cursor_y} #{history_size} #{pane_height} #{alternate_on} #{pane_pid}";

pub(super) struct Window {
    pane: String,
    group: Option<Pid>,
    /// Then the program is not ended, and its screen not cleared.
    adopted: Option<Adopted>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WindowContents {
    /// How the program ended, such as `ended with status 1`; empty while tmux does not know it yet.
    pub(super) ended: Option<String>,
    /// All lines, scrollback first; wrapped lines are joined.
    pub(super) lines: Vec<String>,
    cursor: (String, String, String),
    /// Lines of the screen.
    pub(super) rows: usize,
    /// Whether it is the alternate screen, which editors and the like use.
    pub(super) alternate: bool,
}

impl Window {
    /// Opens a window beside that of this process.
    pub(super) async fn open(
        command: &[String],
        env: &BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<Self, String> {
        let Some(own) = std::env::var("TMUX_PANE").ok() else {
            return Err("a terminal program needs tmux, but this agent runs outside of it".into());
        };
        let session = tmux(
            None,
            &["display-message", "-p", "-t", &own, "#{session_id}"],
            None,
        )
        .await?;
        let session = session.trim();
        tmux(
            None,
            &["set-option", "-t", session, "history-limit", HISTORY],
            None,
        )
        .await?;
        // Names only: values must not be visible in a list of processes.
        let mut known = tmux(None, &["show-environment", "-g"], None).await?;
        known.push_str(&tmux(None, &["show-environment", "-t", session], None).await?);
        let stored: Vec<_> = environment()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let gone = known
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0));
        let gone = gone.filter(|name| !stored.iter().any(|one| one == name));
        // A placeholder first, so that the output of a program that exits at once is still visible.
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
        let pane = tmux(None, &new, None).await?.trim().to_owned();
        let mut window = Self {
            pane,
            group: None,
            adopted: None,
        };
        let pane = window.pane.as_str();
        tmux(
            None,
            &["set-option", "-p", "-t", pane, "remain-on-exit", "on"],
            None,
        )
        .await?;
        let mut line = format!(
            "respawn-pane -k -t {} -c {}",
            quoted(pane),
            // Escaped: `#(…)` would be executed.
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
        let started = tmux(None, &["source-file", "-"], Some(line.as_bytes())).await;
        started.map_err(|error| format!("{name} could not be started: {error}"))?;
        let pid = ["display-message", "-p", "-t", pane, "#{pane_pid}"];
        let pid = tmux(None, &pid, None).await?;
        window.group = pid.trim().parse().ok().and_then(Pid::from_raw);
        Ok(window)
    }

    /// The window of an adopted program.
    pub(super) async fn adopt(adopted: &Adopted) -> Result<Self, String> {
        let window = Self {
            pane: adopted.pane.clone(),
            group: None,
            adopted: Some(adopted.clone()),
        };
        window.check().await?;
        Ok(window)
    }

    /// Types a text that was made [`typeable`] and presses Enter.
    pub(super) async fn enter(&self, text: &str) -> Result<(), String> {
        self.check().await?;
        let name = format!("gangway-{}", self.pane.trim_start_matches('%'));
        let load = ["load-buffer", "-b", &name, "-"];
        self.tmux(&load, Some(text.as_bytes())).await?;
        let paste = ["paste-buffer", "-p", "-d", "-b", &name, "-t", &self.pane];
        self.tmux(&paste, None).await?;
        self.press("Enter").await
    }

    pub(super) async fn press(&self, key: &str) -> Result<(), String> {
        self.check().await?;
        if self.adopted.is_some() {
            // In copy mode the key would go to tmux and not to the program.
            let leave = format!("send-keys -t {} -X cancel", quoted(&self.pane));
            let scrolls = [
                "if-shell",
                "-F",
                "-t",
                &self.pane,
                "#{pane_in_mode}",
                &leave,
            ];
            self.tmux(&scrolls, None).await?;
        }
        let keys = ["send-keys", "-t", &self.pane, key];
        self.tmux(&keys, None).await.map(drop)
    }

    /// Makes sure that keys reach the adopted program.
    async fn check(&self) -> Result<(), String> {
        let Some(adopted) = &self.adopted else {
            return Ok(());
        };
        let asked = ["display-message", "-p", "-t", &self.pane, "#{pane_pid}"];
        let there = match self.tmux(&asked, None).await {
            Ok(pid) => adopted.is_in_foreground(pid.trim()).await,
            Err(_) => false,
        };
        match there {
            true => Ok(()),
            false => Err(format!("{} {LEFT}", adopted.program)),
        }
    }

    async fn tmux(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<String, String> {
        let socket = self
            .adopted
            .as_ref()
            .map(|adopted| adopted.socket.as_path());
        tmux(socket, arguments, input).await
    }

    pub(super) async fn look(&self) -> Result<WindowContents, String> {
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
        let text = match (self.tmux(&both, None).await, &self.adopted) {
            (Ok(text), _) => text,
            (Err(_), Some(adopted)) => return Err(format!("{} {LEFT}", adopted.program)),
            (Err(error), None) => return Err(error),
        };
        let (state, screen) = text.split_once('\n').unwrap_or((&text, ""));
        let mut state = state.split(' ').map(str::to_owned);
        let mut next = || state.next().unwrap_or_default();
        let (dead, status, signal) = (next() == "1", next(), next());
        let mut lines: Vec<String> = screen.lines().map(str::to_owned).collect();
        if dead && status.is_empty() && signal.is_empty() {
            // Some versions of tmux miss the end of a child until another one ends.
            self.tmux(&["run-shell", "true"], None).await?;
        }
        if dead {
            // Written by tmux itself.
            lines.retain(|line| !line.starts_with("Pane is dead"));
        }
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        let mut ended = dead.then(|| match (status.is_empty(), signal.is_empty()) {
            (false, _) => format!("ended with status {status}"),
            (true, false) => format!("ended with signal {signal}"),
            (true, true) => String::new(),
        });
        let cursor = (next(), next(), next());
        let (rows, alternate) = (next().parse().unwrap_or(0), next() == "1");
        // Checked after reading: if the program still runs, the lines are its own.
        if let Some(adopted) = &self.adopted
            && !adopted.is_in_foreground(&next()).await
        {
            ended = Some(LEFT.to_owned());
            lines.clear();
        }
        Ok(WindowContents {
            ended,
            lines,
            cursor,
            rows,
            alternate,
        })
    }

    /// Clears the scrollback of our own window; returns how many lines are above the cursor, and the text beside it.
    pub(super) async fn mark(&self) -> Result<(WindowContents, usize, String), String> {
        if self.adopted.is_none() {
            self.tmux(&["clear-history", "-t", &self.pane], None)
                .await?;
        }
        let shown = self.look().await?;
        let row: i64 = shown.cursor.1.parse().unwrap_or(0);
        // Lines of the scrollback have negative numbers.
        let above = match row == 0 && shown.cursor.2 == "0" {
            true => 0,
            false => {
                let last = (row - 1).to_string();
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
                self.tmux(&above, None).await?.lines().count()
            }
        };
        let line = shown.lines.get(above).cloned().unwrap_or_default();
        Ok((shown, above, line))
    }

    /// Closes it, and ends the program; an adopted one is left as it is.
    pub(super) async fn close(mut self) {
        if self.adopted.is_some() {
            return;
        }
        let dead = ["display-message", "-p", "-t", &self.pane, "#{pane_dead}"];
        let dead = self.tmux(&dead, None).await;
        if dead.is_ok_and(|dead| dead.trim() == "1") {
            // Its id may be reused.
            self.group = None;
        }
        let _ = self.tmux(&["kill-pane", "-t", &self.pane], None).await;
        tokio::time::sleep(GRACE).await;
        // For programs that ignore SIGHUP.
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

/// Removes control characters, so that no keys are pressed.
pub(super) fn typeable(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end().chars();
    text.filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Quotes a word for tmux's command language.
fn quoted(word: &str) -> String {
    let clean = word.replace(['\n', '\r'], " ");
    format!("'{}'", clean.replace('\'', "'\\''"))
}

/// Runs tmux on the server at a socket, or on that of this process, and returns its output.
pub(super) async fn tmux(
    socket: Option<&Path>,
    arguments: &[&str],
    input: Option<&[u8]>,
) -> Result<String, String> {
    let mut command = Command::new("tmux");
    if let Some(socket) = socket {
        command.arg("-S").arg(socket);
    }
    let mut child = command
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
            // Fails only when tmux has exited, which its status shows.
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
