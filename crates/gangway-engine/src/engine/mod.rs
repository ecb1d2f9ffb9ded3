//! The engine: one thread that owns llama.cpp's context, and loads and unloads models on demand.

mod generation;
mod memory;
mod queue;
mod scheduler;
mod step;

use std::sync::{
    Arc,
    atomic::Ordering::SeqCst,
    mpsc::{Receiver, SyncSender},
};

use gangway_embedded::{Settings, Source};
use gangway_models::{ChatRequest, ModelError};
use tokio::runtime::Handle;

use crate::{
    OnLoad,
    answer::{AnswerSender, Output},
    gauges::Gauges,
    model::{Backend, Model},
    quiet::Quiet,
};
use queue::{Queue, Wakeup};
use scheduler::Scheduler;

/// A command to the engine.
pub(crate) enum Command {
    /// Serve this request.
    Chat(Box<Job>),
    /// Check again: a reader has continued or left.
    Wake,
    /// Report when idle.
    #[cfg(test)]
    Idle(tokio::sync::oneshot::Sender<()>),
}

/// A queued request.
pub(crate) struct Job {
    pub request: Arc<ChatRequest>,
    pub source: Source,
    pub sender: AnswerSender,
    /// Runs blocking work outside of the engine's thread.
    pub runtime: Handle,
    /// Wakes the engine afterwards.
    pub wake: SyncSender<Command>,
}

impl Job {
    fn fail(self, error: ModelError) {
        self.sender.send(Output::Failed(error));
    }
}

/// The engine before a model is loaded.
pub(crate) struct Engine {
    settings: Settings,
    gauges: Arc<Gauges>,
    queue: Queue,
    on_load: OnLoad,
}

impl Engine {
    pub fn new(
        settings: Settings,
        gauges: Arc<Gauges>,
        commands: Receiver<Command>,
        on_load: OnLoad,
    ) -> Self {
        Self {
            settings,
            queue: Queue::new(commands, Arc::clone(&gauges)),
            gauges,
            on_load,
        }
    }

    /// Serves until all senders are dropped.
    pub fn run(self) {
        let _tidy = ResetGauges(Arc::clone(&self.gauges));
        let quiet = Quiet::new();
        quiet.run(|| self.serve(&quiet));
    }

    fn serve(mut self, quiet: &Quiet) {
        let backend = Backend::start();
        let _ = quiet.errors();
        loop {
            self.queue.take();
            let Some(job) = self.queue.waiting.front() else {
                match self.queue.wait(None) {
                    Wakeup::Check => continue,
                    Wakeup::Over => return,
                }
            };
            if self.gauges.closing.load(SeqCst) {
                return;
            }
            let source = job.source.clone();
            self.gauges.busy.store(true, SeqCst);
            let model = match &backend {
                Ok(backend) => self
                    .load(backend, quiet, &source)
                    .map(|model| (Arc::new(model), backend)),
                Err(error) => Err(ModelError::failed(format!(
                    "cannot start llama.cpp: {error}"
                ))),
            };
            let served = model.and_then(|(model, backend)| {
                // All requests for this file get the version that was loaded.
                self.queue.renew(&model.source);
                let context = scheduler::context(&model, backend, quiet, &self.settings);
                (self.on_load)(None);
                let context = context?;
                Scheduler::new(&model, context, quiet, &self.settings, &self.gauges)
                    .serve(&mut self.queue);
                Ok(())
            });
            self.gauges.set_loaded(None);
            self.gauges.active.store(0, SeqCst);
            self.gauges.busy.store(false, SeqCst);
            if let Err(error) = served {
                (self.on_load)(None);
                self.queue.fail(&source, &error);
            }
        }
    }
}

impl Engine {
    /// Loads the current contents of the file, even if it has changed since the request.
    fn load(&self, backend: &Backend, quiet: &Quiet, source: &Source) -> Result<Model, ModelError> {
        let now = source
            .now()
            .map_err(|_| source.refused("the file no longer exists"))?;
        (self.on_load)(Some(&now));
        Model::load(backend, quiet, now, &self.settings, &self.gauges)
    }
}

/// Resets the metrics when the engine ends, even by a panic.
struct ResetGauges(Arc<Gauges>);

impl Drop for ResetGauges {
    fn drop(&mut self) {
        self.0.set_loaded(None);
        self.0.active.store(0, SeqCst);
    }
}
