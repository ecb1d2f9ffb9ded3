//! The main loop of the process: requests on the standard input, answers on the standard output.

use std::{
    collections::HashMap,
    fs::File,
    io::Write as _,
    process::ExitCode,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use gangway_embedded::{
    Source, Status,
    wire::{FromEngine, ToEngine, VERSION, WINDOW},
};
use gangway_models::{ChatRequest, ModelError};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    sync::Semaphore,
    task::AbortHandle,
};

use crate::{Llama, limits};

/// Interval of checking the status and the progress.
const LOOK: Duration = Duration::from_millis(500);
/// No step of the engine takes this long, however slow the machine.
const STANDSTILL: Duration = Duration::from_secs(120);

/// Serves until the standard input ends.
pub fn run() -> ExitCode {
    limits::at_start();
    let served = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .and_then(|runtime| {
            let out = OutputWriter::private()?;
            runtime.block_on(serve(out))
        });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(out: OutputWriter) -> std::io::Result<()> {
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    stdin.read_until(b'\n', &mut line).await?;
    let Ok(ToEngine::Start { settings }) = serde_json::from_slice(&line) else {
        return Err(std::io::Error::other(
            "gangway-engine is started by gangway; the first line on the standard input must be its settings",
        ));
    };
    out.send(&FromEngine::Ready { version: VERSION });
    let loads = out.clone();
    let on_load = move |source: Option<&Source>| {
        loads.send(&match source.cloned() {
            Some(source) => FromEngine::Loading { source },
            None => FromEngine::Loaded,
        });
    };
    let server = Arc::new(Server {
        llama: Llama::start(settings, Box::new(on_load))?,
        out,
        shown: Mutex::default(),
        answers: Mutex::default(),
    });
    let watch = tokio::spawn(watch(Arc::clone(&server)));
    loop {
        line.clear();
        if stdin.read_until(b'\n', &mut line).await? == 0 {
            break;
        }
        match serde_json::from_slice(&line) {
            Ok(message) => server.take(message),
            Err(error) => server.unreadable(&line, &error),
        }
    }
    watch.abort();
    for (_, answer) in server.answers().drain() {
        answer.task.abort();
    }
    Ok(())
}

struct Server {
    llama: Llama,
    out: OutputWriter,
    /// The status as last sent to the server.
    shown: Mutex<Status>,
    answers: Mutex<HashMap<u64, Running>>,
}

struct Running {
    task: AbortHandle,
    /// Messages that may be sent before they are acknowledged.
    window: Arc<Semaphore>,
}

impl Server {
    fn answers(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, message: ToEngine) {
        match message {
            ToEngine::Start { .. } => {}
            ToEngine::Chat {
                id,
                source,
                request,
            } => {
                let window = Arc::new(Semaphore::new(WINDOW as usize));
                // Registered before it can end.
                let mut answers = self.answers();
                let work = Arc::clone(self).answer(id, source, *request, Arc::clone(&window));
                let task = tokio::spawn(work).abort_handle();
                answers.insert(id, Running { task, window });
            }
            ToEngine::Read { id, chunks } => {
                if let Some(answer) = self.answers().get(&id) {
                    answer.window.add_permits(chunks as usize);
                }
            }
            ToEngine::Cancel { id } => {
                if let Some(answer) = self.answers().remove(&id) {
                    answer.task.abort();
                }
            }
        }
    }

    fn unreadable(&self, line: &[u8], error: &serde_json::Error) {
        if let Some(id) = ToEngine::id_of(line) {
            let message = format!("The engine cannot read the request: {error}.");
            let error = ModelError::bad_request(message);
            self.out.send(&FromEngine::Failed { id, error });
        }
    }

    async fn answer(
        self: Arc<Self>,
        id: u64,
        source: Source,
        request: ChatRequest,
        window: Arc<Semaphore>,
    ) {
        let end = match self.stream(id, source, request, &window).await {
            Ok(()) => FromEngine::Done { id },
            Err(error) => FromEngine::Failed { id, error },
        };
        self.answers().remove(&id);
        self.show_status();
        self.out.send(&end);
    }

    async fn stream(
        &self,
        id: u64,
        source: Source,
        request: ChatRequest,
        window: &Semaphore,
    ) -> Result<(), ModelError> {
        let mut chunks = self.llama.chat(request, source).await?;
        self.show_status();
        self.out.send(&FromEngine::Begun { id });
        loop {
            // Blocking here fills the answer's own channel, which pauses its generation.
            match window.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => return Ok(()),
            }
            match chunks.next().await {
                Some(chunk) => self.out.send(&FromEngine::Chunk { id, chunk: chunk? }),
                None => return Ok(()),
            }
        }
    }

    fn show_status(&self) {
        let status = self.llama.status();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != status {
            *shown = status.clone();
            self.out.send(&FromEngine::Status { status });
        }
    }
}

/// Reports status changes, and ends this process if the engine hangs.
async fn watch(server: Arc<Server>) {
    let (mut progress, mut since) = (0, Instant::now());
    loop {
        tokio::time::sleep(LOOK).await;
        server.show_status();
        let now = server.llama.progress();
        if now != progress || !server.llama.is_busy() {
            (progress, since) = (now, Instant::now());
        } else if since.elapsed() >= STANDSTILL {
            let seconds = STANDSTILL.as_secs();
            let _ = writeln!(std::io::stderr(), "no progress for {seconds} seconds");
            std::process::abort();
        }
    }
}

/// The output of answers. Each message is written before `send` returns, so that the server knows what this process was
/// doing when it dies.
#[derive(Clone)]
struct OutputWriter(Arc<Mutex<File>>);

impl OutputWriter {
    /// Takes over the standard output: other output goes to the standard error.
    fn private() -> std::io::Result<Self> {
        #[cfg(unix)]
        let file = {
            let own = rustix::io::dup(std::io::stdout())?;
            rustix::stdio::dup2_stdout(std::io::stderr())?;
            File::from(own)
        };
        #[cfg(windows)]
        let file = {
            use std::os::windows::io::AsHandle as _;
            File::from(std::io::stdout().as_handle().try_clone_to_owned()?)
        };
        Ok(Self(Arc::new(Mutex::new(file))))
    }

    fn send(&self, message: &FromEngine) {
        if let Ok(mut line) = serde_json::to_vec(message) {
            line.push(b'\n');
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // If the server no longer reads, it has exited, and the standard input ends too.
            let _ = file.write_all(&line);
        }
    }
}
