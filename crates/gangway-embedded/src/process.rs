//! One running engine: its pipes, the running answers, and why it ended.

use std::{
    collections::HashMap,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use gangway_models::{ChatRequest, Failure, ModelError};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{Notify, mpsc},
};

use crate::{
    Program, Settings, Source, Status,
    answer::{AnswerStream, Update},
    outbox::Outbox,
    wire::{FromEngine, ToEngine, VERSION, WINDOW},
};

/// Retry delay after a full queue.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// How long an engine may take to exit.
const GRACE: Duration = Duration::from_secs(10);
/// Bytes of the engine's standard error that are kept.
const LAST_WORDS: usize = 4096;

/// A running engine.
pub(crate) struct Process {
    pub outbox: Outbox,
    open: Mutex<ProcessState>,
    /// The number of running answers changed.
    changed: Notify,
    death: OnceLock<EngineExit>,
}

#[derive(Default)]
struct ProcessState {
    answers: HashMap<u64, mpsc::Sender<Update>>,
    next: u64,
    loading: Option<Source>,
    status: Status,
    /// It was idle and accepts no more requests.
    closing: bool,
}

/// Why an engine ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EngineExit {
    pub reason: String,
    /// The weights being loaded.
    pub loading: Option<Source>,
    /// Whether it would happen again with the same weights.
    pub lasting: bool,
}

impl Process {
    /// Starts an engine and its supervisor task.
    pub fn start(program: &Program, settings: &Settings) -> Result<Arc<Self>, ModelError> {
        let mut command = Command::new(program.path());
        command
            // Without secrets such as API keys, only what programs need to start.
            .env_clear()
            .env("GGML_NO_BACKTRACE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let child = command.spawn().map_err(|error| {
            ModelError::new(
                Failure::Unavailable,
                format!("Cannot start the engine for local models: {error}"),
            )
        })?;
        let process = Arc::new(Self {
            outbox: Outbox::default(),
            open: Mutex::default(),
            changed: Notify::new(),
            death: OnceLock::new(),
        });
        process.outbox.chat(ToEngine::Start {
            settings: settings.clone(),
        });
        tokio::spawn(supervise(Arc::clone(&process), child, settings.idle));
        Ok(process)
    }

    fn lock(&self) -> MutexGuard<'_, ProcessState> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn status(&self) -> Status {
        self.lock().status.clone()
    }

    /// Why it ended, once it has.
    pub fn death(&self) -> Option<&EngineExit> {
        self.death.get()
    }

    /// Whether it accepts requests.
    pub fn is_open(&self) -> bool {
        self.death.get().is_none() && !self.lock().closing
    }

    /// Sends a request. `None` if this engine accepts no more.
    pub fn ask(
        self: &Arc<Self>,
        request: &ChatRequest,
        source: &Source,
        capacity: usize,
    ) -> Result<Option<AnswerStream>, ModelError> {
        let mut open = self.lock();
        if open.closing || self.death.get().is_some() {
            return Ok(None);
        }
        if open.answers.len() >= capacity {
            return Err(full());
        }
        open.next += 1;
        let id = open.next;
        // Room for the window and for what is sent without a grant: the beginning and the end.
        let (sender, updates) = mpsc::channel(WINDOW as usize + 2);
        open.answers.insert(id, sender);
        drop(open);
        self.changed.notify_one();
        self.outbox.chat(ToEngine::Chat {
            id,
            source: source.clone(),
            request: Box::new(request.clone()),
        });
        Ok(Some(AnswerStream::new(id, Arc::clone(self), updates)))
    }

    /// Removes an answer; cancels it if incomplete.
    pub fn close(&self, id: u64, over: bool) {
        self.lock().answers.remove(&id);
        if !over {
            self.outbox.cancel(id);
        }
        self.changed.notify_one();
    }

    /// The error of an incomplete answer.
    pub fn cut_off(&self) -> ModelError {
        let reason = self
            .death()
            .map_or("it exceeded the flow control window", |death| &death.reason);
        ModelError {
            details: Some(reason.to_owned()),
            ..ModelError::failed(format!(
                "The engine stopped during the answer: {reason}. Try again; it restarts automatically."
            ))
        }
    }

    fn take(&self, message: FromEngine) -> Result<(), String> {
        let mut open = self.lock();
        let (id, update) = match message {
            FromEngine::Ready { version } if version == VERSION => return Ok(()),
            FromEngine::Ready { version } => {
                return Err(format!(
                    "gangway-engine has protocol version {version}, but this server requires {VERSION}: install both from the same build"
                ));
            }
            FromEngine::Status { status } => {
                if status.loaded != open.status.loaded {
                    match &status.loaded {
                        Some(name) => tracing::info!(name, "a model was loaded"),
                        None => tracing::info!("the model was unloaded"),
                    }
                }
                open.status = status;
                return Ok(());
            }
            FromEngine::Loading { source } => {
                open.loading = Some(source);
                return Ok(());
            }
            FromEngine::Loaded => {
                open.loading = None;
                return Ok(());
            }
            FromEngine::Begun { id } => (id, Update::Begun),
            FromEngine::Chunk { id, chunk } => (id, Update::Chunk(chunk)),
            FromEngine::Done { id } => (id, Update::Done),
            FromEngine::Failed { id, error } => (id, Update::Failed(error)),
        };
        // The window bounds the chunks in flight: an engine that sends more loses that answer.
        if let Some(answer) = open.answers.get(&id)
            && answer.try_send(update).is_err()
        {
            open.answers.remove(&id);
        }
        Ok(())
    }

    /// Returns when there was no request for this long; from then on none is accepted.
    async fn idle(&self, time: Duration) {
        loop {
            let unused = self.lock().answers.is_empty();
            let changed = self.changed.notified();
            if !unused {
                changed.await;
            } else if tokio::time::timeout(time, changed).await.is_err() {
                let mut open = self.lock();
                if open.answers.is_empty() {
                    open.closing = true;
                    return;
                }
            }
        }
    }

    fn end(&self, reason: String, lasting: bool) {
        let mut open = self.lock();
        let loading = open.loading.take();
        if !open.closing {
            tracing::warn!(reason, "the engine stopped");
        }
        let _ = self.death.set(EngineExit {
            reason,
            loading,
            lasting,
        });
        open.status = Status {
            prompt_tokens: open.status.prompt_tokens,
            reused_tokens: open.status.reused_tokens,
            generated_tokens: open.status.generated_tokens,
            ..Status::default()
        };
        // Callers read the cause of death when their channel ends.
        open.answers.clear();
        self.outbox.close();
    }
}

fn full() -> ModelError {
    ModelError {
        retry_after: Some(RETRY_AFTER),
        ..ModelError::new(
            Failure::RateLimited,
            "Too many requests are queued for the local model.",
        )
    }
}

/// Transports messages both ways until the engine ends, then returns the reason.
async fn supervise(process: Arc<Process>, mut child: Child, idle: Duration) {
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        process.end("it has no pipes".to_owned(), false);
        return;
    };
    let message = tokio::spawn(last_output(stderr));
    let received = receive(&process, stdout);
    tokio::pin!(received);
    let received = tokio::select! {
        received = &mut received => received,
        // Closing its standard input makes it exit.
        () = feed(&process, stdin, idle) => {
            tokio::time::timeout(GRACE, &mut received).await.unwrap_or(Ok(()))
        }
    };
    let ended = match &received {
        Ok(()) => tokio::time::timeout(GRACE, child.wait()).await.ok(),
        Err(_) => None,
    };
    let _ = child.kill().await;
    let message = message.await.unwrap_or_default();
    let (reason, lasting) = match (received, ended) {
        (Err(reason), _) => (reason, false),
        (Ok(()), Some(Ok(status))) => judge(status, &message),
        (Ok(()), Some(Err(error))) => (error.to_string(), false),
        (Ok(()), None) => ("it did not exit and was killed".to_owned(), false),
    };
    process.end(reason, lasting);
}

/// Sends messages until the engine is idle or closed.
async fn feed(process: &Process, mut stdin: ChildStdin, idle: Duration) {
    let send = async {
        while let Some(messages) = process.outbox.take().await {
            let mut lines = Vec::new();
            for message in messages {
                if serde_json::to_writer(&mut lines, &message).is_ok() {
                    lines.push(b'\n');
                }
            }
            // If it no longer reads, it has died, which is noticed when reading its answers.
            if stdin.write_all(&lines).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = send => {}
        () = process.idle(idle) => {}
    }
}

/// Handles the engine's messages until it ends or sends an invalid one.
async fn receive(process: &Process, stdout: ChildStdout) -> Result<(), String> {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdout.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return Ok(()),
            // It died while writing.
            Ok(_) if !line.ends_with(b"\n") => return Ok(()),
            Ok(_) => {}
        }
        let message = serde_json::from_slice(&line)
            .map_err(|error| format!("it sent an invalid message: {error}"))?;
        process.take(message)?;
    }
}

/// The end of the engine's standard error.
async fn last_output(mut stderr: ChildStderr) -> String {
    let mut words = Vec::new();
    let mut part = [0; LAST_WORDS];
    while let Ok(read @ 1..) = stderr.read(&mut part).await {
        words.extend_from_slice(&part[..read]);
        words.drain(..words.len().saturating_sub(LAST_WORDS));
    }
    String::from_utf8_lossy(&words).into_owned()
}

/// Why an engine ended, and whether the same weights would end it again.
fn judge(status: ExitStatus, message: &str) -> (String, bool) {
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&status) == Some(9) {
        let reason = "the system killed it, most likely for lack of memory";
        return (reason.to_owned(), false);
    }
    let mut lines = message.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty());
    let reason = last.map_or_else(|| status.to_string(), without_folders);
    (reason, !status.success())
}

/// A line without the build machine's folders.
fn without_folders(line: &str) -> String {
    let message = line.split(' ').map(|word| {
        let path = word.starts_with('/') || word.starts_with("./");
        if path { word.rsplit('/').next() } else { None }.unwrap_or(word)
    });
    message.collect::<Vec<_>>().join(" ")
}
