//! A program that an agent runs: with a small environment, in a group of its own, gone when nobody needs it.

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

/// Lines of its complaints that are kept.
const KEPT_LINES: usize = 12;

/// Bytes of one of them.
const KEPT_BYTES: usize = 500;

/// How long a program may take to end by itself once its input is closed, and then once it was told to.
const GRACE: Duration = Duration::from_millis(700);

/// How long its last complaints are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a program said last.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    /// Remembers a line.
    pub(super) fn add(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(&line[..line.len().min(KEPT_BYTES)]);
        let text = harmless(text.trim_end());
        let mut lines = self.0.lock();
        lines.push_back(text);
        if lines.len() > KEPT_LINES {
            lines.pop_front();
        }
    }

    /// All of it.
    pub(super) fn text(&self) -> String {
        let mut lines = self.0.lock();
        lines.make_contiguous().join("\n")
    }
}

/// A running program.
pub(super) struct Program {
    child: Child,
    group: Option<Pid>,
    is_guarded: bool,
    /// Ends when all it complained about is known.
    heard: Option<JoinHandle<()>>,
    /// What it complained about last.
    pub(super) last_words: LastWords,
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
            return Err("the brain has no command; write one into the settings".to_owned());
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
            // A guard that is killed can end nobody.
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
        let last_words = LastWords::default();
        let started = Self {
            heard: Some(tokio::spawn(listen(stderr, last_words.clone()))),
            child,
            group,
            is_guarded: !guard.is_empty(),
            last_words,
        };
        Ok((started, stdin, stdout))
    }

    /// How it ended, if it does within a moment, and what it said last.
    pub(super) async fn told(&mut self) -> String {
        let ended = match tokio::time::timeout(GRACE, self.child.wait()).await {
            Ok(Ok(status)) => format!("it ended with {status}"),
            Ok(Err(error)) => format!("it was lost: {error}"),
            Err(_) => "it hung up".to_owned(),
        };
        if let Some(heard) = self.heard.take() {
            // Something that it left behind may hold the pipe open.
            let _ = tokio::time::timeout(LAST_WORDS, heard).await;
        }
        match self.last_words.text() {
            words if words.is_empty() => ended,
            words => format!("{ended}. It said last:\n{words}"),
        }
    }

    /// Ends it: its input is closed already; if that does not do, it is told to, and then made to.
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

    /// Its group, unless it was waited for: then the number may be somebody else's.
    fn alive(&self) -> Option<Pid> {
        self.group.filter(|_| self.child.id().is_some())
    }

    fn make(&self) {
        match self.alive() {
            // The guard knows best what there is.
            Some(guard) if self.is_guarded => drop(kill_process(guard, Signal::INT)),
            Some(group) => drop(kill_process_group(group, Signal::KILL)),
            // What it left behind is still in its group, whose number is not given out again before it is empty.
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

/// Remembers the last lines, with a bound on what is kept of a long one.
async fn listen(output: impl AsyncRead + Unpin, words: LastWords) {
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
            words.add(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        words.add(&line);
    }
}
