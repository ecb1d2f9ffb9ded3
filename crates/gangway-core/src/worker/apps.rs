//! App events in the log of a session.

use super::Worker;
use crate::{
    app::{self, AppEvent, LAUNCHES, Launch, launches_prefix},
    command::Receipt,
    error::{Error, Result},
    event::Event,
    id::{AppName, LaunchId},
    store::Commit,
};

impl Worker {
    /// Event and launch are written atomically.
    pub(super) async fn launch(&mut self, launch: Launch) -> Result<(Receipt, Option<Commit>)> {
        let known = self.store.keys(&launches_prefix(self.id), LAUNCHES).await?;
        if known.len() >= LAUNCHES {
            return Err(Error::TooManyLaunches { limit: LAUNCHES });
        }
        let records = app::records(&launch)?;
        let event = Event::App {
            launch: launch.id,
            app: launch.app,
            app_event: AppEvent::Launched {
                agent: launch.agent.name,
            },
        };
        let written = self.append(vec![event], records).await?;
        let seq = written.last;
        Ok((Receipt::Logged { seq }, Some(written.commit)))
    }

    pub(super) async fn note(
        &mut self,
        launch: LaunchId,
        app: AppName,
        app_event: AppEvent,
        once: Option<String>,
    ) -> Result<(Receipt, Option<Commit>)> {
        let event = Event::App {
            launch,
            app,
            app_event,
        };
        let written = self.append_once(vec![event], Vec::new(), once).await?;
        let seq = written.last;
        Ok((Receipt::Logged { seq }, Some(written.commit)))
    }

    /// The keys of all records of this session's launches.
    pub(super) async fn launch_records(&self) -> Result<Vec<String>> {
        let hub = self.hub.upgrade().ok_or(Error::Stopping)?;
        let prefix = launches_prefix(self.id);
        let mut keys = self.store.keys(&prefix, LAUNCHES).await?;
        for launch in hub.launches(self.id).await? {
            keys.extend(hub.launch_keys(launch).await?);
        }
        Ok(keys)
    }
}
