//! The provider: finds the weights, starts the engine on demand, restarts it after a crash, and rejects weights that
//! crash it.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture};
use gangway_models::{ChatRequest, ChatStream, ModelError, Provider, weights::WeightsStore};

use crate::{
    Availability, Program, Settings, Source, Status,
    process::{EngineExit, Process},
};

/// Maximum number of engines that a request is sent to: one that was not served is not to blame for a crash.
const ATTEMPTS: usize = 2;

/// Local models.
#[derive(Clone)]
pub struct Embedded {
    shared: Arc<Shared>,
}

struct Shared {
    store: WeightsStore,
    settings: Settings,
    program: Program,
    engine: Mutex<Engine>,
    /// Weights that crashed an engine, until the file changes.
    refused: Mutex<HashMap<PathBuf, (Source, String)>>,
}

#[derive(Default)]
struct Engine {
    process: Option<Arc<Process>>,
    /// Totals of earlier engines.
    past: Status,
}

impl Embedded {
    /// Models from this folder, run by this program. Nothing is started before the first request.
    #[must_use]
    pub fn new(store: WeightsStore, settings: Settings, program: Program) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                settings,
                program,
                engine: Mutex::default(),
                refused: Mutex::default(),
            }),
        }
    }

    /// Whether the engine can be started. Accesses the file system.
    #[must_use]
    pub fn availability(&self) -> Availability {
        self.shared.program.availability()
    }

    /// The status of the engine.
    #[must_use]
    pub fn status(&self) -> Status {
        let engine = lock(&self.shared.engine);
        match &engine.process {
            Some(process) => sum(process.status(), &engine.past),
            None => engine.past.clone(),
        }
    }

    async fn ask(&self, request: ChatRequest) -> Result<ChatStream<'static>, ModelError> {
        let shared = Arc::clone(&self.shared);
        let name = request.model.clone();
        let source = blocking(move || {
            shared.program.availability().check()?;
            Source::find(&shared.store, name.as_deref())
        })
        .await?;
        let mut reason = None;
        for _ in 0..ATTEMPTS {
            self.shared.check(&source)?;
            let process = self.shared.process()?;
            let capacity = self.shared.settings.capacity();
            let Some(mut answer) = process.ask(&request, &source, capacity)? else {
                continue;
            };
            if let Some(begun) = answer.begin().await {
                return begun.map(|()| answer.boxed());
            }
            let Some(death) = process.death() else {
                continue;
            };
            self.shared.blame(death, &source)?;
            reason = Some(death.reason.clone());
        }
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        Err(ModelError::failed(format!(
            "The engine for local models stopped{reason}. Try again; it restarts automatically."
        )))
    }
}

/// Runs blocking work outside of the async runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ModelError> + Send + 'static,
) -> Result<T, ModelError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(ModelError::failed("The server is stopping.")))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sum(now: Status, past: &Status) -> Status {
    Status {
        prompt_tokens: now.prompt_tokens + past.prompt_tokens,
        reused_tokens: now.reused_tokens + past.reused_tokens,
        generated_tokens: now.generated_tokens + past.generated_tokens,
        ..now
    }
}

impl Shared {
    /// The running engine; starts one if necessary.
    fn process(&self) -> Result<Arc<Process>, ModelError> {
        let mut engine = lock(&self.engine);
        match &engine.process {
            Some(process) if process.is_open() => return Ok(Arc::clone(process)),
            Some(process) => {
                let past = sum(process.status(), &engine.past);
                engine.past = Status {
                    prompt_tokens: past.prompt_tokens,
                    reused_tokens: past.reused_tokens,
                    generated_tokens: past.generated_tokens,
                    ..Status::default()
                };
                engine.process = None;
            }
            None => {}
        }
        let process = Process::start(&self.program, &self.settings)?;
        engine.process = Some(Arc::clone(&process));
        Ok(process)
    }

    /// Rejects weights that crashed an engine and have not changed since.
    fn check(&self, source: &Source) -> Result<(), ModelError> {
        match lock(&self.refused).get(&source.path) {
            Some((refused, reason)) if refused == source => Err(source.refused(reason)),
            _ => Ok(()),
        }
    }

    /// Fails if these weights crashed the engine during loading.
    fn blame(&self, death: &EngineExit, source: &Source) -> Result<(), ModelError> {
        let Some(loading) = death
            .loading
            .as_ref()
            .filter(|loading| loading.path == source.path)
        else {
            return Ok(());
        };
        let reason = format!("the file crashes the engine: {}", death.reason);
        if death.lasting {
            let verdict = (loading.clone(), reason.clone());
            lock(&self.refused).insert(loading.path.clone(), verdict);
        }
        Err(source.refused(&reason))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(process) = &lock(&self.engine).process {
            process.outbox.close();
        }
    }
}

impl Provider for Embedded {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        let shared = Arc::clone(&self.shared);
        blocking(move || {
            shared.program.availability().check()?;
            let list = shared.store.list().map_err(|error| {
                ModelError::failed(format!("Cannot read the folder with the weights: {error}"))
            })?;
            Ok(list.into_iter().map(|weights| weights.name).collect())
        })
        .boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        self.ask(request).boxed()
    }
}
