//! The user's providers: configuration, health and selection.

mod choose;
mod instance;
mod meter;
mod window;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::BoxFuture, future::join_all};
pub use instance::{Health, Instance, Kind, Spec};
use meter::Meter;
pub use meter::{Activity, Outcome, RequestEnd};
use parking_lot::RwLock;
use tokio::sync::Mutex;

use crate::{ChatRequest, ChatStream, Failure, ModelError, Provider, ToolChoice, prompt_tools};

/// The timeout of a health check.
const LOOK: Duration = Duration::from_secs(2);

/// The maximum age of a cloud provider's list of models.
const LIST_AGE: Duration = Duration::from_secs(300);

/// The error when no provider is available.
pub const NO_MODEL: &str = "No model is connected yet. Run `gangway models pull` for a small one on this machine, start \
    ollama or a llamafile, or set a key with `gangway secrets set OPENAI_API_KEY` (or ANTHROPIC_API_KEY).";

pub struct Registry {
    state: RwLock<State>,
    /// The provider of models on this machine, for instances of that kind.
    embedded: Arc<dyn Provider>,
    /// The last check; locked while checking, so that others wait for its result.
    looked: Mutex<Option<Instant>>,
    /// Whether there was a check: from then on no chat waits for one.
    known: AtomicBool,
    meter: Arc<Meter>,
}

#[derive(Default, Clone)]
struct State {
    instances: Vec<Arc<Instance>>,
    /// The user's default: a provider, a kind, or either with a model.
    choice: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub provider: String,
    pub name: String,
}

impl Model {
    /// `provider/model`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.name)
    }
}

impl Registry {
    /// Without providers; `ended` is called for every finished chat.
    #[must_use]
    pub fn new(
        embedded: Arc<dyn Provider>,
        ended: impl Fn(&RequestEnd<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: RwLock::default(),
            embedded,
            looked: Mutex::default(),
            known: AtomicBool::new(false),
            meter: Meter::new(Box::new(ended)),
        }
    }

    /// Sets the providers and the default. Unchanged instances keep their state.
    pub fn set_up(&self, specs: Vec<Spec>, choice: Option<String>) {
        let mut state = self.state.write();
        let known: BTreeMap<_, _> = state
            .instances
            .drain(..)
            .map(|old| (old.spec.id.clone(), old))
            .collect();
        state.instances = specs
            .into_iter()
            .map(|spec| match known.get(&spec.id) {
                Some(old) if old.spec == spec => Arc::clone(old),
                _ => Arc::new(Instance::new(spec, Arc::clone(&self.embedded))),
            })
            .collect();
        state.choice = choice;
    }

    fn state(&self) -> State {
        self.state.read().clone()
    }

    /// In configuration order.
    #[must_use]
    pub fn instances(&self) -> Vec<Arc<Instance>> {
        self.state().instances
    }

    /// The user's default.
    #[must_use]
    pub fn choice(&self) -> Option<String> {
        self.state().choice
    }

    /// Checks which providers on this machine run, in parallel.
    pub async fn detect(&self) {
        let mut looked = self.looked.lock().await;
        self.look().await;
        *looked = Some(Instant::now());
    }

    /// The same, unless it was just done.
    async fn detect_unless_fresh(&self) {
        let mut looked = self.looked.lock().await;
        if looked.is_none_or(|at| at.elapsed() > LOOK) {
            self.look().await;
            *looked = Some(Instant::now());
        }
    }

    async fn look(&self) {
        let near = self.instances().into_iter().filter(|one| one.is_near());
        join_all(near.map(|one| async move { one.look(LOOK).await })).await;
        self.known.store(true, Ordering::Release);
    }

    /// Waits for the first check, soon after the start.
    async fn looked_once(&self) {
        if self.known.load(Ordering::Acquire) {
            return;
        }
        let mut looked = self.looked.lock().await;
        if looked.is_none() {
            self.look().await;
            *looked = Some(Instant::now());
        }
    }

    /// The models of all available providers; lists of cloud providers may be some minutes old.
    pub async fn list(&self) -> Vec<Model> {
        self.looked_once().await;
        let instances = self.instances();
        join_all(instances.iter().map(|one| async {
            if one.is_far_and_stale(LIST_AGE) {
                one.look(LOOK * 2).await;
            } else if one.is_near_and_new() {
                one.look(LOOK).await;
            }
        }))
        .await;
        let models = |one: &Arc<Instance>| {
            let provider = one.spec.id.clone();
            let names = one.models().into_iter();
            names.map(move |name| Model {
                provider: provider.clone(),
                name,
            })
        };
        instances
            .iter()
            .flat_map(|one| models(one).collect::<Vec<_>>())
            .collect()
    }

    /// The default instance, and its model if one was chosen.
    #[must_use]
    pub fn default(&self) -> Option<(Arc<Instance>, Option<String>)> {
        self.state().default()
    }

    /// Whether an instance is the default of its kind.
    #[must_use]
    pub fn is_kind_default(&self, instance: &Instance) -> bool {
        let state = self.state();
        let first = state.of_kind(instance.spec.kind);
        first.is_some_and(|first| first.spec.id == instance.spec.id)
    }

    #[must_use]
    pub fn activity(&self) -> Activity {
        self.meter.activity()
    }

    async fn pick(
        &self,
        request: Option<&str>,
    ) -> Result<(Arc<Instance>, Option<String>), ModelError> {
        self.looked_once().await;
        if let Some(found) = self.state().pick(request) {
            return Ok(found);
        }
        // A provider may have just been started.
        self.detect_unless_fresh().await;
        let state = self.state();
        state.pick(request).ok_or_else(|| {
            let message = match (request, &state.choice) {
                (Some(request), _) if state.default().is_some() => format!(
                    "Model {request:?} not found: no provider has that name or lists that model. The Models page and `/v1/models` list all models."
                ),
                (_, Some(choice)) => format!(
                    "The default model is {choice:?}, but its provider does not exist. Choose another with `gangway models use` or on the Models page."
                ),
                (_, None) => NO_MODEL.to_owned(),
            };
            ModelError::new(Failure::NoModel, message)
        })
    }
}

impl Provider for Registry {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async { Ok(self.list().await.iter().map(Model::id).collect()) }.boxed()
    }

    fn window<'a>(&'a self, model: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        async move {
            let (instance, model) = self.pick(model).await.ok()?;
            let model = model.or_else(|| instance.spec.model.clone());
            instance.window(model.as_deref()).await
        }
        .boxed()
    }

    fn chat(
        &self,
        mut request: ChatRequest,
    ) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        async move {
            let (instance, model) = self.pick(request.model.as_deref()).await?;
            request.model = model.or_else(|| instance.spec.model.clone());
            if let Some(problem) = instance.unusable() {
                return Err(problem);
            }
            let message = !request.tools.is_empty() && !instance.supports_tools();
            let forced = message
                && matches!(
                    request.tool_choice,
                    ToolChoice::Required | ToolChoice::Named(_)
                );
            if message {
                request = prompt_tools::in_prompt(request);
            }
            let run = self.meter.begin(&instance.spec.id);
            match instance.provider().chat(request).await {
                Ok(chunks) if message => Ok(run.watch(prompt_tools::find_calls(chunks, forced))),
                Ok(chunks) => Ok(run.watch(chunks)),
                Err(error) => {
                    run.failed(&error);
                    Err(error)
                }
            }
        }
        .boxed()
    }
}
