//! A child program of an agent: with a small environment, in its own process group, killed on drop.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsString,
    path::Path,
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
};

use super::pane::harmless;

/// Kept lines of its standard error.
const KEPT_LINES: usize = 12;

/// Bytes of one of them.
const KEPT_BYTES: usize = 500;

/// How long a program may take to exit once its input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(700);

/// How long to wait for its last output.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The last lines of a program's standard error.
#[derive(Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<VecDeque<String>>>);

impl StderrTail {
    pub(super) fn add(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(&line[..line.len().min(KEPT_BYTES)]);
        let text = harmless(text.trim_end());
        let mut lines = self.0.lock();
        lines.push_back(text);
        if lines.len() > KEPT_LINES {
            lines.pop_front();
        }
    }

    pub(super) fn text(&self) -> String {
        let mut lines = self.0.lock();
        lines.make_contiguous().join("\n")
    }
}

pub(super) struct Program {
    child: Child,
    group: Option<Pid>,
    is_guarded: bool,
    /// Ends when its standard error is read completely.
    reader: Option<JoinHandle<()>>,
    pub(super) last_words: StderrTail,
}

impl Program {
    /// Starts it in a folder, behind a guard if there is one.
    pub(super) fn start(
        command: &[String],
        env: &BTreeMap<String, String>,
        folder: &Path,
        guard: &[OsString],
    ) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let words: Vec<OsString> = guard
            .iter()
            .cloned()
            .chain(command.iter().map(OsString::from))
            .collect();
        let (Some(first), Some(program)) = (words.first(), command.first()) else {
            return Err("the backend has no `command`; add one in the settings".to_owned());
        };
        let mut child = Command::new(first)
            .args(&words[1..])
            .env_clear()
            .envs(gangway_mcp::environment())
            .envs(env)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            // A killed guard cannot clean up.
            .kill_on_drop(guard.is_empty())
            .spawn()
            .map_err(|error| format!("{program} could not be started: {error}"))?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(format!("the pipes of {program} could not be opened"));
        };
        let last_words = StderrTail::default();
        let started = Self {
            reader: Some(tokio::spawn(listen(stderr, last_words.clone()))),
            child,
            group,
            is_guarded: !guard.is_empty(),
            last_words,
        };
        Ok((started, stdin, stdout))
    }

    /// How it ended, if it does soon, and its last output.
    pub(super) async fn exit_message(&mut self) -> String {
        let ended = match tokio::time::timeout(GRACE, self.child.wait()).await {
            Ok(Ok(status)) => format!("it exited with {status}"),
            Ok(Err(error)) => format!("it was lost: {error}"),
            Err(_) => "it closed its output".to_owned(),
        };
        if let Some(received) = self.reader.take() {
            // A descendant may keep the pipe open.
            let _ = tokio::time::timeout(LAST_WORDS, received).await;
        }
        match self.last_words.text() {
            stderr if stderr.is_empty() => ended,
            stderr => format!("{ended}. Its last output:\n{stderr}"),
        }
    }

    /// Ends it: its input is closed already; then it gets SIGTERM, then SIGKILL.
    pub(super) async fn end(mut self) {
        for signal in [None, Some(Signal::TERM)] {
            if let (Some(signal), Some(group)) = (signal, self.alive()) {
                let _ = kill_process_group(group, signal);
            }
            if tokio::time::timeout(GRACE, self.child.wait()).await.is_ok() {
                return;
            }
        }
        self.make();
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
    }

    /// Its process group, unless it was waited for: then the id may be reused.
    fn alive(&self) -> Option<Pid> {
        self.group.filter(|_| self.child.id().is_some())
    }

    fn make(&self) {
        match self.alive() {
            // The guard finds all descendants.
            Some(guard) if self.is_guarded => drop(kill_process(guard, Signal::INT)),
            Some(group) => drop(kill_process_group(group, Signal::KILL)),
            // Descendants are still in its group, whose id is not reused before it is empty.
            None => {
                if let Some(group) = self.group.filter(|_| !self.is_guarded) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.make();
    }
}

/// Keeps the last lines, truncating long ones.
async fn listen(output: impl AsyncRead + Unpin, stderr: StderrTail) {
    let mut input = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        let part = match input.fill_buf().await {
            Ok(part) if !part.is_empty() => part,
            _ => break,
        };
        let end = part.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(part.len(), |at| at + 1);
        let room = KEPT_BYTES.saturating_sub(line.len());
        line.extend_from_slice(&part[..end.unwrap_or(taken).min(room)]);
        input.consume(taken);
        if end.is_some() {
            stderr.add(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        stderr.add(&line);
    }
}
