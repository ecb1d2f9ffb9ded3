//! The provider: finds the weights, puts requests into the engine's queue, and starts the engine when it does not run.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::Ordering::SeqCst,
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture};
use gangway_models::{ChatRequest, Failure, ModelError, Pieces, Provider, weights::Shelf};
use tokio::runtime::Handle;

use crate::{
    Settings, Status, Unsupported,
    answer::answer,
    cpu::supported,
    engine::{Engine, Job, Order},
    gauges::{Gauges, Place},
    source::Source,
    trials::Trials,
};

/// How soon a request is worth repeating that found the queue full.
const AGAIN: Duration = Duration::from_secs(5);
/// Orders beside the requests: readers who read on or leave.
const WAKES: usize = 64;
/// How often a request is put to an engine.
const ATTEMPTS: usize = 2;

/// Models that run inside this process.
#[derive(Clone)]
pub struct Embedded {
    shared: Arc<Shared>,
}

struct Shared {
    shelf: Shelf,
    settings: Settings,
    gauges: Arc<Gauges>,
    trials: Trials,
    engine: Mutex<Option<Running>>,
}

/// An engine's thread.
struct Running {
    number: u64,
    orders: SyncSender<Order>,
    thread: JoinHandle<()>,
}

impl Embedded {
    /// Models from this shelf. Nothing is loaded before someone asks.
    pub fn new(shelf: Shelf, settings: Settings) -> Result<Self, Unsupported> {
        supported()?;
        let shared = Shared {
            shelf,
            settings,
            gauges: Arc::new(Gauges::default()),
            trials: Trials::default(),
            engine: Mutex::new(None),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// What the engine is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.gauges.status()
    }

    /// A place for one more request.
    pub(crate) fn place(&self) -> Result<Place, ModelError> {
        let shared = &self.shared;
        let most = shared.settings.parallel() + shared.settings.queue;
        shared.gauges.place(most).ok_or_else(full)
    }

    async fn ask(&self, request: ChatRequest) -> Result<Pieces<'static>, ModelError> {
        let shared = &self.shared;
        let place = self.place()?;
        let runtime = runtime()?;
        let (shelf, name) = (shared.shelf.clone(), request.model.clone());
        let source = on(&runtime, move || Source::find(&shelf, name.as_deref())).await?;
        if let Some(command) = &shared.settings.trial {
            shared.trials.pass(command, &source, &runtime).await?;
        }
        self.put(request, source, place, runtime).await
    }

    /// Puts a request to the engine.
    pub(crate) async fn put(
        &self,
        request: ChatRequest,
        source: Source,
        place: Place,
        runtime: Handle,
    ) -> Result<Pieces<'static>, ModelError> {
        let shared = &self.shared;
        let request = Arc::new(request);
        let mut place = Some(place);
        for _ in 0..ATTEMPTS {
            let (number, orders) = shared.orders()?;
            let (speaker, mut reader) = answer(orders.clone(), place.take());
            let job = Job {
                request: Arc::clone(&request),
                source: source.clone(),
                speaker,
                runtime: runtime.clone(),
                wake: orders.clone(),
            };
            let sent = orders.try_send(Order::Chat(Box::new(job)));
            if let Err(TrySendError::Full(_)) = sent {
                return Err(full());
            }
            match reader.begin().await {
                Some(begun) => return begun.map(|()| reader.boxed()),
                // The engine died before it came to this request, which is therefore not to blame.
                None => place = reader.leave(),
            }
            let shared = Arc::clone(shared);
            on(&runtime, move || {
                shared.bury(number);
                Ok(())
            })
            .await?;
        }
        Err(stopped())
    }

    #[cfg(test)]
    pub(crate) fn shared_gauges(&self) -> &Gauges {
        &self.shared.gauges
    }

    /// Waits until the engine has seen everything and has nothing to do.
    #[cfg(test)]
    pub(crate) async fn settled(&self) {
        let (reply, settled) = tokio::sync::oneshot::channel();
        let sent = self
            .shared
            .orders()
            .map(|(_, orders)| orders.try_send(Order::Settled(reply)));
        assert!(matches!(sent, Ok(Ok(()))), "the engine takes orders");
        // An engine that ends has nothing to do either.
        let _ = settled.await;
    }

    /// Makes the engine fail in a way that nobody foresaw.
    #[cfg(test)]
    pub(crate) fn crash(&self) {
        let _ = self
            .shared
            .orders()
            .map(|(_, orders)| orders.try_send(Order::Crash));
    }
}

fn full() -> ModelError {
    ModelError {
        retry_after: Some(AGAIN),
        ..ModelError::new(
            Failure::RateLimited,
            "Too many requests wait for the built-in model.",
        )
    }
}

fn stopped() -> ModelError {
    ModelError::failed("The built-in model's engine has stopped. Asking again starts it anew.")
}

fn runtime() -> Result<Handle, ModelError> {
    Handle::try_current()
        .map_err(|_| ModelError::failed("The built-in model needs a runtime to run on."))
}

/// Runs something that blocks beside the runtime.
async fn on<T: Send + 'static>(
    runtime: &Handle,
    work: impl FnOnce() -> Result<T, ModelError> + Send + 'static,
) -> Result<T, ModelError> {
    runtime
        .spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(stopped()))
}

impl Shared {
    /// Where the engine takes orders. It is started if it does not run, or has died.
    fn orders(&self) -> Result<(u64, SyncSender<Order>), ModelError> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = engine
            .as_ref()
            .filter(|running| !running.thread.is_finished())
        {
            return Ok((running.number, running.orders.clone()));
        }
        let number = engine.as_ref().map_or(0, |dead| dead.number + 1);
        // Each request is one order at a time.
        let room = self.settings.parallel() + self.settings.queue + WAKES;
        let (orders, received) = sync_channel(room);
        let (settings, gauges) = (self.settings.clone(), Arc::clone(&self.gauges));
        let thread = std::thread::Builder::new()
            .name("gangway-model".to_owned())
            .spawn(move || Engine::new(settings, gauges, received).run())
            .map_err(|error| {
                ModelError::failed(format!("The built-in model cannot be started: {error}"))
            })?;
        *engine = Some(Running {
            number,
            orders: orders.clone(),
            thread,
        });
        Ok((number, orders))
    }

    /// Waits for the end of an engine that is dying.
    fn bury(&self, number: u64) {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dying) = engine.take_if(|running| running.number == number) {
            let _ = dying.thread.join();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.gauges.closing.store(true, SeqCst);
        let engine = self
            .engine
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(Running { orders, thread, .. }) = engine.take() {
            let _ = orders.try_send(Order::Wake);
            drop(orders);
            // llama.cpp must not compute any more when the process takes itself down. It ends after its present step.
            let _ = thread.join();
        }
    }
}

impl Provider for Embedded {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async {
            let shelf = self.shared.shelf.clone();
            let list = on(&runtime()?, move || {
                shelf.list().map_err(|error| {
                    ModelError::failed(format!(
                        "The folder with the weights cannot be read: {error}"
                    ))
                })
            })
            .await?;
            Ok(list.into_iter().map(|weights| weights.name).collect())
        }
        .boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>> {
        self.ask(request).boxed()
    }
}
