//! Models run by llama.cpp in this process: requests go into the queue of one thread that owns the model.

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
use gangway_models::{ChatRequest, Failure, ModelError, Pieces};
use tokio::runtime::Handle;

use crate::{
    answer::answer,
    engine::{Engine, Job, Order},
    gauges::Gauges,
};

/// How soon a request is worth repeating that found the queue full.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Orders beside the requests: readers who read on or leave.
const WAKES: usize = 64;

/// Is called with the weights that are about to be loaded, and with none when that is over.
pub type OnLoad = Box<dyn Fn(Option<&Source>) + Send>;

/// Models in this process.
pub struct Llama {
    settings: Settings,
    gauges: Arc<Gauges>,
    orders: SyncSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Llama {
    /// Starts the thread. Nothing is loaded before someone asks.
    pub fn start(settings: Settings, on_load: OnLoad) -> std::io::Result<Self> {
        let gauges = Arc::new(Gauges::default());
        // Each request is one order at a time.
        let (orders, received) = sync_channel(settings.capacity() + WAKES);
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
            orders,
            thread: Some(thread),
        })
    }

    /// What the engine is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        self.gauges.status()
    }

    /// Counts whatever the engine gets done, so that a standstill can be noticed.
    #[must_use]
    pub fn progress(&self) -> u64 {
        self.gauges.progress.load(SeqCst)
    }

    /// Whether there is something that the engine should get on with.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.gauges.busy.load(SeqCst)
    }

    /// Streams an answer by these weights.
    pub async fn chat(
        &self,
        request: ChatRequest,
        source: Source,
    ) -> Result<Pieces<'static>, ModelError> {
        let full = || ModelError {
            retry_after: Some(RETRY_AFTER),
            ..ModelError::new(
                Failure::RateLimited,
                "Too many requests wait for the model on this machine.",
            )
        };
        let place = self
            .gauges
            .place(self.settings.capacity())
            .ok_or_else(full)?;
        let (speaker, mut reader) = answer(self.orders.clone(), place);
        let job = Job {
            request: Arc::new(request),
            source,
            speaker,
            runtime: Handle::current(),
            wake: self.orders.clone(),
        };
        self.orders
            .try_send(Order::Chat(Box::new(job)))
            .map_err(|_| full())?;
        reader.begin().await?;
        Ok(reader.boxed())
    }

    #[cfg(test)]
    pub(crate) fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// Waits until the engine has seen everything and has nothing to do.
    #[cfg(test)]
    pub(crate) async fn settled(&self) {
        let (reply, settled) = tokio::sync::oneshot::channel();
        let sent = self.orders.try_send(Order::Settled(reply));
        assert!(sent.is_ok(), "the engine takes orders");
        // An engine that ends has nothing to do either.
        let _ = settled.await;
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        self.gauges.closing.store(true, SeqCst);
        let _ = self.orders.try_send(Order::Wake);
        if let Some(thread) = self.thread.take() {
            // llama.cpp must not compute any more when the process exits. It ends after its present step.
            let _ = thread.join();
        }
    }
}

/// Without its engine this process is of no use: the server starts another one.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
