//! Changes of applet states.

use serde_json::{Map, Value};

use super::Worker;
use crate::{
    command::Receipt,
    error::{Error, Result},
    event::{Event, Source},
    id::Slug,
    state::{APPLETS, AppletState, state_key, states_prefix},
    store::{self, Commit},
};

impl Worker {
    /// Event and state are written atomically.
    pub(super) async fn set_state(
        &mut self,
        applet: Slug,
        patch: Map<String, Value>,
        source: Source,
        once: Option<String>,
    ) -> Result<(Receipt, Option<Commit>)> {
        let key = state_key(self.id, &applet);
        let mut state = match self.states.get(&applet) {
            Some(state) => state.clone(),
            None => self.kept_state(&key).await?,
        };
        if !state.changes(&patch) {
            // No version and no event: otherwise tabs that answer each update with the same values would loop forever.
            let receipt = Receipt::State {
                version: state.version,
                seq: self.log.head(),
                changed: false,
            };
            // The same values may not be durable yet.
            let commit = self.store.put(Vec::new()).await?;
            return Ok((receipt, Some(commit)));
        }
        state.apply(&patch)?;
        let version = state.version;
        let records = vec![store::record(key, &state)?];
        let event = Event::StateChanged {
            applet: applet.clone(),
            version,
            patch,
            source,
        };
        let written = self.append_once(vec![event], records, once).await?;
        self.states.insert(applet, state);
        let seq = written.last;
        let changed = true;
        let receipt = Receipt::State {
            version,
            seq,
            changed,
        };
        Ok((receipt, Some(written.commit)))
    }

    async fn kept_state(&self, key: &str) -> Result<AppletState> {
        if let Some(found) = self.store.get(key).await? {
            return Ok(found.value);
        }
        let known = self.store.keys(&states_prefix(self.id), APPLETS).await?;
        if known.len() >= APPLETS {
            return Err(Error::TooManyApplets { limit: APPLETS });
        }
        Ok(AppletState::default())
    }
}
