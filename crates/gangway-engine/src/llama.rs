//! Models run by llama.cpp in this process: requests are queued for one thread that owns the model.

use std::{
    sync::{
        Arc,
        atomic::Ordering::SeqCst,
        mpsc::{SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use futures_util::StreamExt as _;
use gangway_embedded::{Settings, Source, Status};
use gangway_models::{ChatRequest, ChatStream, Failure, ModelError};
use tokio::runtime::Handle;

use crate::{
    answer::answer,
    engine::{Command, Engine, Job},
    gauges::Gauges,
};

/// Retry delay after a full queue.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Queue capacity for commands other than requests: readers that continue or leave.
const WAKES: usize = 64;

/// Called with the weights before they are loaded, and with `None` afterwards.
pub type OnLoad = Box<dyn Fn(Option<&Source>) + Send>;

/// Models in this process.
pub struct Llama {
    settings: Settings,
    gauges: Arc<Gauges>,
    commands: SyncSender<Command>,
    thread: Option<JoinHandle<()>>,
}

impl Llama {
    /// Starts the thread. Nothing is loaded before the first request.
    pub fn start(settings: Settings, on_load: OnLoad) -> std::io::Result<Self> {
        let gauges = Arc::new(Gauges::default());
        // Each request is one command at a time.
        let (commands, received) = sync_channel(settings.capacity() + WAKES);
        let engine = Engine::new(settings.clone(), Arc::clone(&gauges), received, on_load);
        let thread = std::thread::Builder::new()
            .name("gangway-model".to_owned())
            .spawn(move || {
                let _abort = AbortOnPanic;
                engine.run();
            })?;
        Ok(Self {
            settings,
            gauges,
            commands,
            thread: Some(thread),
        })
    }

    /// The status of the engine.
    #[must_use]
    pub fn status(&self) -> Status {
        self.gauges.status()
    }

    /// Progress counter of the engine, to detect a hang.
    #[must_use]
    pub fn progress(&self) -> u64 {
        self.gauges.progress.load(SeqCst)
    }

    /// Whether the engine has work to do.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.gauges.busy.load(SeqCst)
    }

    /// Streams an answer of these weights.
    pub async fn chat(
        &self,
        request: ChatRequest,
        source: Source,
    ) -> Result<ChatStream<'static>, ModelError> {
        let full = || ModelError {
            retry_after: Some(RETRY_AFTER),
            ..ModelError::new(
                Failure::RateLimited,
                "Too many requests are queued for the local model.",
            )
        };
        let place = self
            .gauges
            .place(self.settings.capacity())
            .ok_or_else(full)?;
        let (sender, mut reader) = answer(self.commands.clone(), place);
        let job = Job {
            request: Arc::new(request),
            source,
            sender,
            runtime: Handle::current(),
            wake: self.commands.clone(),
        };
        self.commands
            .try_send(Command::Chat(Box::new(job)))
            .map_err(|_| full())?;
        reader.begin().await?;
        Ok(reader.boxed())
    }

    #[cfg(test)]
    pub(crate) fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// Waits until the engine is idle.
    #[cfg(test)]
    pub(crate) async fn idle(&self) {
        let (reply, idle) = tokio::sync::oneshot::channel();
        let sent = self.commands.try_send(Command::Idle(reply));
        assert!(sent.is_ok(), "the engine takes commands");
        // An engine that has ended is idle too.
        let _ = idle.await;
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        self.gauges.closing.store(true, SeqCst);
        let _ = self.commands.try_send(Command::Wake);
        if let Some(thread) = self.thread.take() {
            // llama.cpp must not compute while the process exits. It ends after its current step.
            let _ = thread.join();
        }
    }
}

/// Without its engine this process is useless: the server starts another one.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
