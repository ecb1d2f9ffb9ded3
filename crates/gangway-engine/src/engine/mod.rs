//! The engine: one thread that owns llama.cpp's context, loads what is asked for and forgets what nobody asks.

mod desk;
mod generation;
mod hall;
mod room;
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
    answer::{Said, Speaker},
    gauges::Gauges,
    model::{Backend, Model},
    quiet::Quiet,
};
use desk::{Desk, Rest};
use hall::Hall;

/// What the engine is told.
pub(crate) enum Order {
    /// Answer this.
    Chat(Box<Job>),
    /// Look again: somebody reads on, or has left.
    Wake,
    /// Say when there is nothing to do.
    #[cfg(test)]
    Settled(tokio::sync::oneshot::Sender<()>),
}

/// A request on its way.
pub(crate) struct Job {
    pub request: Arc<ChatRequest>,
    pub source: Source,
    pub speaker: Speaker,
    /// Where what blocks can be done beside the engine.
    pub runtime: Handle,
    /// Wakes the engine afterwards.
    pub wake: SyncSender<Order>,
}

impl Job {
    fn fail(self, error: ModelError) {
        self.speaker.say(Said::Failed(error));
    }
}

/// The engine before anything is loaded.
pub(crate) struct Engine {
    settings: Settings,
    gauges: Arc<Gauges>,
    desk: Desk,
    on_load: OnLoad,
}

impl Engine {
    pub fn new(
        settings: Settings,
        gauges: Arc<Gauges>,
        orders: Receiver<Order>,
        on_load: OnLoad,
    ) -> Self {
        Self {
            settings,
            desk: Desk::new(orders, Arc::clone(&gauges)),
            gauges,
            on_load,
        }
    }

    /// Serves until nobody can ask any more.
    pub fn run(self) {
        let _tidy = Tidy(Arc::clone(&self.gauges));
        let quiet = Quiet::new();
        quiet.run(|| self.serve(&quiet));
    }

    fn serve(mut self, quiet: &Quiet) {
        let backend = Backend::start();
        let _ = quiet.errors();
        loop {
            self.desk.take();
            let Some(job) = self.desk.waiting.front() else {
                match self.desk.rest(None) {
                    Rest::Look => continue,
                    Rest::Over => return,
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
                    "llama.cpp cannot be started: {error}"
                ))),
            };
            let served = model.and_then(|(model, backend)| {
                // What changed between the asking and the loading is what everyone who waits for it gets.
                self.desk.renew(&model.source);
                let context = hall::context(&model, backend, quiet, &self.settings);
                (self.on_load)(None);
                let context = context?;
                Hall::new(&model, context, quiet, &self.settings, &self.gauges)
                    .serve(&mut self.desk);
                Ok(())
            });
            self.gauges.set_loaded(None);
            self.gauges.active.store(0, SeqCst);
            self.gauges.busy.store(false, SeqCst);
            if let Err(error) = served {
                (self.on_load)(None);
                self.desk.fail(&source, &error);
            }
        }
    }
}

impl Engine {
    /// Loads what is in the file now, whatever was there when it was asked for.
    fn load(&self, backend: &Backend, quiet: &Quiet, source: &Source) -> Result<Model, ModelError> {
        let now = source
            .now()
            .map_err(|_| source.refused("the file is gone"))?;
        (self.on_load)(Some(&now));
        Model::load(backend, quiet, now, &self.settings, &self.gauges)
    }
}

/// Takes the figures back when the engine ends, however it ends.
struct Tidy(Arc<Gauges>);

impl Drop for Tidy {
    fn drop(&mut self) {
        self.0.set_loaded(None);
        self.0.active.store(0, SeqCst);
    }
}
