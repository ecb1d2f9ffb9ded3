//! A child process in its own process group, which ends with all its descendants.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::Path,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
};

use crate::{
    guard::{NOW, PARENT},
    journal::{Journal, Source},
};

/// Bytes of a line of standard error that are read; the journal keeps fewer.
const MAX_LINE: usize = 8192;

/// Environment variables for paths, user, locale and proxies.
const PASSED_ON: [&str; 25] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "TZ",
    "USER",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "LD_LIBRARY_PATH",
    "NIX_SSL_CERT_FILE",
];

/// The variables that child processes inherit: paths, user, locale and proxies. None of them contains a key.
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| is_passed_on(name))
}

/// Whether a server inherits a variable; others can be set in its entry.
pub(crate) fn is_passed_on(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    PASSED_ON.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// How long to wait for the last output; a descendant may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    is_guarded: bool,
    /// Ends when all of its standard error is in the journal.
    stderr_task: JoinHandle<()>,
}

pub(crate) struct Launch<'a> {
    pub(crate) command: &'a OsString,
    pub(crate) args: &'a [OsString],
    pub(crate) env: &'a BTreeMap<OsString, OsString>,
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) guard: Option<&'a [OsString]>,
    pub(crate) path: Option<&'a OsStr>,
}

impl Process {
    /// Starts it. Its standard error goes to the journal.
    pub(crate) fn start(
        launch: &Launch<'_>,
        journal: Arc<Journal>,
    ) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let words: Vec<&OsString> = launch
            .guard
            .unwrap_or_default()
            .iter()
            .chain([launch.command])
            .chain(launch.args)
            .collect();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            // Gangway's own environment contains keys.
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)))
            .envs(launch.path.map(|path| ("PATH", path)))
            .envs(launch.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            // A killed guard cannot clean up.
            .kill_on_drop(launch.guard.is_none());
        if launch.guard.is_some() {
            command.env(PARENT, std::process::id().to_string());
        }
        if let Some(cwd) = launch.cwd {
            command.current_dir(cwd);
        }
        let failed = |error: std::io::Error| {
            let place = launch.cwd.map_or(String::new(), |cwd| {
                format!(" in the folder {}", cwd.display())
            });
            format!(
                "{}{place} could not be started: {error}",
                launch.command.display()
            )
        };
        let mut child = command.spawn().map_err(failed)?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("its pipes could not be opened".to_owned());
        };
        let process = Self {
            stderr_task: tokio::spawn(listen(stderr, journal, Source::Stderr)),
            child,
            group,
            is_guarded: launch.guard.is_some(),
        };
        Ok((process, stdin, stdout))
    }

    /// The process id of the child, or of its guard.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub(crate) async fn status(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for its end and describes it.
    pub(crate) async fn ended(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => format!("it exited with {status}"),
            Err(error) => format!("it was lost: {error}"),
        }
    }

    /// Ends it: its input is closed already; then it gets SIGTERM, then SIGKILL. Its last output is in the journal
    /// afterwards.
    pub(crate) async fn end(mut self, grace: Duration) -> String {
        let how = self.bring_down(grace).await;
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.stderr_task).await;
        how
    }

    async fn bring_down(&mut self, grace: Duration) -> String {
        for step in [StopStep::Wait, StopStep::Tell, StopStep::Make] {
            let timeout = match step {
                StopStep::Wait => grace,
                StopStep::Tell => {
                    self.signal(Signal::TERM);
                    grace
                }
                StopStep::Make => {
                    self.make();
                    grace.max(SWEEP)
                }
            };
            if let Ok(how) = tokio::time::timeout(timeout, self.ended()).await {
                return how;
            }
        }
        self.signal(Signal::KILL);
        self.ended().await
    }

    /// Kills everything; the guard finds all descendants.
    fn make(&self) {
        // A process id that was waited for may be reused.
        match self
            .group
            .filter(|_| self.is_guarded && self.child.id().is_some())
        {
            Some(guard) => drop(kill_process(guard, NOW)),
            None => self.signal(Signal::KILL),
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only when no process is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// How long a guard may take to find and kill descendants; if it is killed before, they survive.
const SWEEP: Duration = Duration::from_secs(5);

enum StopStep {
    Wait,
    Tell,
    Make,
}

impl Drop for Process {
    // However a connection ends, the child's descendants end too. The id of a group is not reused while it has members.
    fn drop(&mut self) {
        self.make();
    }
}

/// Copies lines into the journal, truncating long ones.
pub(crate) async fn listen(output: impl AsyncRead + Unpin, journal: Arc<Journal>, source: Source) {
    let mut input = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        let part = match input.fill_buf().await {
            Ok(part) if !part.is_empty() => part,
            _ => break,
        };
        let end = part.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(part.len(), |at| at + 1);
        let room = MAX_LINE.saturating_sub(line.len());
        line.extend_from_slice(&part[..end.unwrap_or(taken).min(room)]);
        input.consume(taken);
        if end.is_some() {
            journal.log(source, &String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    if !line.is_empty() {
        journal.log(source, &String::from_utf8_lossy(&line));
    }
}
