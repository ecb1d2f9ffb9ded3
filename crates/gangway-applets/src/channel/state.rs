//! The state that an applet shares with agents and other tabs.

use std::collections::BTreeSet;

use gangway_core::{Command, Event, Logged, Receipt, Source};
use serde_json::{Map, Value};

use super::{Channel, RequestError};
use crate::wire::channel::AppletServerMessage;

/// Changes of this connection: it has got their answer and is not notified again.
#[derive(Default)]
pub(super) struct OwnChanges {
    /// Numbers of own changes that have not come by yet.
    made: BTreeSet<u64>,
    /// The last number.
    seen: u64,
}

impl OwnChanges {
    fn note(&mut self, seq: u64) {
        if seq > self.seen {
            self.made.insert(seq);
        }
    }

    fn takes(&mut self, logged: &Logged) -> bool {
        self.seen = self.seen.max(logged.seq);
        self.made.remove(&logged.seq)
    }
}

impl Channel {
    /// Whether this connection made a change.
    pub(super) fn is_own(&self, logged: &Logged) -> bool {
        matches!(logged.event, Event::StateChanged { .. }) && self.own.lock().takes(logged)
    }

    pub(super) async fn set_state(
        &self,
        id: &Option<Value>,
        data: Map<String, Value>,
    ) -> Result<(), RequestError> {
        let applet = &self.state_of;
        let command = Command::SetState {
            applet: applet.clone(),
            patch: data.clone(),
            source: Source::Applet {
                slug: applet.to_string(),
            },
        };
        let receipt = match self.idempotency_key(id) {
            Some(name) => self.session.submit_once(command, name).await?,
            None => self.session.submit(command).await?,
        };
        let Receipt::State {
            version,
            seq,
            changed,
        } = receipt
        else {
            return Ok(());
        };
        if changed {
            // Later events are not read until this request is done.
            self.own.lock().note(seq);
        }
        if id.is_some() {
            let message = AppletServerMessage::StateUpdate {
                id: id.clone(),
                applet: applet.to_string(),
                data,
                version,
                seq,
            };
            self.out.send(&message).await;
        }
        Ok(())
    }

    pub(super) async fn get_state(
        &self,
        id: &Option<Value>,
        key: Option<String>,
    ) -> Result<(), RequestError> {
        let state = self.service.hub.state(self.session.id(), &self.state_of);
        let state = state.await?;
        let mut state = state.unwrap_or_default();
        if let Some(key) = key {
            let value = state.data.remove(&key).unwrap_or_default();
            state.data = Map::from_iter([(key, value)]);
        }
        let message = AppletServerMessage::State {
            id: id.clone().unwrap_or_default(),
            data: state.data,
            version: state.version,
        };
        self.out.send(&message).await;
        Ok(())
    }

    /// The idempotency key, valid across reconnects.
    pub(super) fn idempotency_key(&self, id: &Option<Value>) -> Option<String> {
        let (client, id) = (self.client.as_ref()?, id.as_ref()?);
        let applet = self.applet.as_ref().map_or("", |slug| slug.as_str());
        Some(format!("applet:{applet}:{client}:{id}"))
    }
}
