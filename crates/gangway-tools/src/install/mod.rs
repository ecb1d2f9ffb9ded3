//! Installs servers: a package comes in, is written down and started, or leaves nothing behind.

mod job;
mod order;
mod routes;
mod runtimes;
mod secret;
mod uninstall;

use std::sync::Arc;

use job::Job;
pub use order::Refusal;
use parking_lot::{Mutex, MutexGuard};
pub use routes::Documented;
pub use routes::routes;
pub(crate) use runtimes::missing;
pub use runtimes::search_path;
use tokio_util::task::TaskTracker;

use super::{
    Tools,
    catalog::wire::{Install, InstallServer},
};

/// Installs that are remembered; those that ended first are forgotten first.
const REMEMBERED: usize = 32;

/// Installs at the same time: package managers take all of a machine's network already.
const AT_ONCE: usize = 4;

/// Installs that go on, and the last that ended.
#[derive(Default)]
pub struct Installs {
    jobs: Mutex<Vec<Arc<Job>>>,
    tasks: TaskTracker,
}

impl Installs {
    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock()
    }

    /// All of them, the newest first.
    #[must_use]
    pub fn list(&self) -> Vec<Install> {
        self.jobs().iter().rev().map(|job| job.info()).collect()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, install: &str) -> Option<Install> {
        let jobs = self.jobs();
        let job = jobs.iter().find(|job| job.install == install)?;
        Some(job.info())
    }

    /// Cancels one that goes on, forgets one that ended. Says whether there is one.
    pub fn end(&self, install: &str) -> bool {
        let mut jobs = self.jobs();
        let Some(at) = jobs.iter().position(|job| job.install == install) else {
            return false;
        };
        match jobs[at].runs() {
            true => jobs[at].stop.cancel(),
            false => drop(jobs.remove(at)),
        }
        true
    }

    /// Whether anything is being installed.
    #[must_use]
    pub fn are_underway(&self) -> bool {
        self.jobs().iter().any(|job| job.runs())
    }

    /// Whether a server of this name is being installed.
    fn is_underway(&self, id: &str) -> bool {
        let jobs = self.jobs();
        jobs.iter().any(|job| job.id.as_str() == id && job.runs())
    }

    /// Adds one, unless its id is being installed already.
    fn add(&self, job: &Arc<Job>) -> Result<(), Refusal> {
        let mut jobs = self.jobs();
        let running = jobs.iter().filter(|other| other.runs());
        if running.clone().any(|other| other.id == job.id) {
            return Err(Refusal::Underway(job.id.to_string()));
        }
        if running.count() >= AT_ONCE {
            return Err(Refusal::Busy);
        }
        if jobs.len() >= REMEMBERED
            && let Some(oldest) = jobs.iter().position(|other| !other.runs())
        {
            jobs.remove(oldest);
        }
        jobs.push(Arc::clone(job));
        Ok(())
    }

    /// Cancels all that go on and waits until nothing of them is left.
    pub async fn shutdown(&self) {
        for job in self.jobs().iter() {
            job.stop.cancel();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Tools {
    /// Begins to install a server, or says why that cannot be.
    pub async fn install(self: &Arc<Self>, wish: InstallServer) -> Result<Install, Refusal> {
        let order = self.order(wish).await?;
        if self.stop.is_cancelled() {
            return Err(Refusal::Busy);
        }
        let job = Arc::new(Job::new(order.id.clone(), self.stop.child_token()));
        self.installs.add(&job)?;
        self.want(job.id.as_str());
        let (tools, begun) = (Arc::clone(self), Arc::clone(&job));
        self.installs
            .tasks
            .spawn(async move { begun.run(&tools, order).await });
        Ok(job.info())
    }
}
