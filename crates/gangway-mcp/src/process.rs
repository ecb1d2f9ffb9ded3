//! A child process in a group of its own, which ends with everything it started.

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

/// Bytes of one line of standard error that are looked at; the journal keeps fewer.
const MAX_LINE: usize = 8192;

/// What a program needs to find its way: itself, its owner, its language, and the way out to the network.
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

/// The variables of ours that a program sees which we start: where things are, its owner, its language, and the way out to the
/// network. None of them holds a key.
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| is_passed_on(name))
}

/// Whether a server sees a variable of Gangway's; whatever else it needs stands in its entry.
pub(crate) fn is_passed_on(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    PASSED_ON.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// How long what it said last is waited for; something that it left behind may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A running child.
pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    is_guarded: bool,
    /// Ends when all of its standard error is in the journal.
    heard: JoinHandle<()>,
}

/// What to start.
pub(crate) struct Launch<'a> {
    pub(crate) command: &'a OsString,
    pub(crate) args: &'a [OsString],
    pub(crate) env: &'a BTreeMap<OsString, OsString>,
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) guard: Option<&'a [OsString]>,
    pub(crate) path: Option<&'a OsStr>,
}

impl Process {
    /// Starts it. Its standard error goes to the journal until its end.
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
            // Gangway's own environment holds keys that are none of a server's business.
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)))
            .envs(launch.path.map(|path| ("PATH", path)))
            .envs(launch.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            // A guard that is killed can end nobody.
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
            heard: tokio::spawn(listen(stderr, journal, Source::Stderr)),
            child,
            group,
            is_guarded: launch.guard.is_some(),
        };
        Ok((process, stdin, stdout))
    }

    /// The id of the child, or of its guard.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for its end.
    pub(crate) async fn status(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for its end and says how it ended.
    pub(crate) async fn ended(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("it was lost: {error}"),
        }
    }

    /// Ends it: its input is closed already; if that does not do, it is told to end, and then made to. What it said
    /// last is in the journal then.
    pub(crate) async fn end(mut self, grace: Duration) -> String {
        let how = self.bring_down(grace).await;
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.heard).await;
        how
    }

    async fn bring_down(&mut self, grace: Duration) -> String {
        for step in [Step::Wait, Step::Tell, Step::Make] {
            let patience = match step {
                Step::Wait => grace,
                Step::Tell => {
                    self.signal(Signal::TERM);
                    grace
                }
                Step::Make => {
                    self.make();
                    grace.max(SWEEP)
                }
            };
            if let Ok(how) = tokio::time::timeout(patience, self.ended()).await {
                return how;
            }
        }
        self.signal(Signal::KILL);
        self.ended().await
    }

    /// Ends everything at once: the guard knows best what there is.
    fn make(&self) {
        // An id that was waited for may be somebody else's by now.
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
            // It fails only when nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// How long a guard may take to find and end what ran away; one that is killed before leaves it behind.
const SWEEP: Duration = Duration::from_secs(5);

/// How a child is brought to its end.
enum Step {
    Wait,
    Tell,
    Make,
}

impl Drop for Process {
    // However a connection ends, what the child started ends too. A group's number is not given out again while
    // anyone is in it, and one that is empty now was so a moment ago.
    fn drop(&mut self) {
        self.make();
    }
}

/// Copies lines into the journal, with a bound on what is kept of a long one.
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
            journal.say(source, &String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    if !line.is_empty() {
        journal.say(source, &String::from_utf8_lossy(&line));
    }
}
