//! Installs servers: download, store and start; rolled back on failure.

mod job;
mod order;
mod routes;
mod runtimes;
mod secret;
mod uninstall;

use std::sync::Arc;

use job::Job;
pub use order::InstallRefusal;
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

/// Maximum number of remembered installs; the oldest ended ones are dropped first.
const REMEMBERED: usize = 32;

/// Maximum number of concurrent installs: package managers already use the machine's full bandwidth.
const AT_ONCE: usize = 4;

/// Running installs, and the last ones that ended.
#[derive(Default)]
pub struct Installs {
    jobs: Mutex<Vec<Arc<Job>>>,
    tasks: TaskTracker,
}

impl Installs {
    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock()
    }

    /// All installs, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<Install> {
        self.jobs().iter().rev().map(|job| job.info()).collect()
    }

    /// An install by id.
    #[must_use]
    pub fn get(&self, install: &str) -> Option<Install> {
        let jobs = self.jobs();
        let job = jobs.iter().find(|job| job.install == install)?;
        Some(job.info())
    }

    /// Cancels a running install, or removes an ended one. False if it does not exist.
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

    /// Whether any install is running.
    #[must_use]
    pub fn are_underway(&self) -> bool {
        self.jobs().iter().any(|job| job.runs())
    }

    /// Whether a server with this id is being installed.
    fn is_underway(&self, id: &str) -> bool {
        let jobs = self.jobs();
        jobs.iter().any(|job| job.id.as_str() == id && job.runs())
    }

    /// Adds an install, unless its server is already being installed.
    fn add(&self, job: &Arc<Job>) -> Result<(), InstallRefusal> {
        let mut jobs = self.jobs();
        let running = jobs.iter().filter(|other| other.runs());
        if running.clone().any(|other| other.id == job.id) {
            return Err(InstallRefusal::Underway(job.id.to_string()));
        }
        if running.count() >= AT_ONCE {
            return Err(InstallRefusal::Busy);
        }
        if jobs.len() >= REMEMBERED
            && let Some(oldest) = jobs.iter().position(|other| !other.runs())
        {
            jobs.remove(oldest);
        }
        jobs.push(Arc::clone(job));
        Ok(())
    }

    /// Cancels all running installs, and waits for their rollback.
    pub async fn shutdown(&self) {
        for job in self.jobs().iter() {
            job.stop.cancel();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Tools {
    /// Starts to install a server.
    pub async fn install(
        self: &Arc<Self>,
        request: InstallServer,
    ) -> Result<Install, InstallRefusal> {
        let order = self.order(request).await?;
        if self.stop.is_cancelled() {
            return Err(InstallRefusal::Busy);
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
