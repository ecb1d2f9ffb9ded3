//! The state of an applet in a session: keys that change separately, with a version.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    hub::Hub,
    id::{SessionId, Slug},
};

/// Maximum size of one applet's state, as JSON.
pub(crate) const STATE_BYTES: usize = 1 << 20;

/// Maximum number of applets with a state in one session.
pub(crate) const APPLETS: usize = 64;

/// The state shared by an applet and the agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AppletState {
    /// The number of changes.
    pub version: u64,
    /// The keys.
    pub data: Map<String, Value>,
}

impl AppletState {
    /// Whether a patch would change anything.
    pub(crate) fn changes(&self, patch: &Map<String, Value>) -> bool {
        patch.iter().any(|(key, value)| match self.data.get(key) {
            Some(old) => old != value,
            None => !value.is_null(),
        })
    }

    /// Merges by key; `null` removes a key.
    pub(crate) fn apply(&mut self, patch: &Map<String, Value>) -> Result<()> {
        for (key, value) in patch {
            if value.is_null() {
                self.data.remove(key);
            } else {
                self.data.insert(key.clone(), value.clone());
            }
        }
        let size = serde_json::to_vec(&self.data).map_or(usize::MAX, |text| text.len());
        if size > STATE_BYTES {
            return Err(Error::StateTooLarge { limit: STATE_BYTES });
        }
        self.version += 1;
        Ok(())
    }
}

pub(crate) fn states_prefix(session: SessionId) -> String {
    format!("state/{session}/")
}

pub(crate) fn state_key(session: SessionId, applet: &Slug) -> String {
    format!("state/{session}/{applet}")
}

impl Hub {
    /// The state of an applet in a session; empty if it never had one.
    pub async fn state(&self, session: SessionId, applet: &Slug) -> Result<Option<AppletState>> {
        let found = self.store().get(&state_key(session, applet)).await?;
        Ok(found.map(|record| record.value))
    }

    /// The applets with a state in a session.
    pub async fn applets(&self, session: SessionId) -> Result<Vec<Slug>> {
        let prefix = states_prefix(session);
        let rows = self.store().keys(&prefix, APPLETS).await?;
        let slugs = rows.iter().filter_map(|key| key.strip_prefix(&prefix));
        Ok(slugs.filter_map(|slug| slug.parse().ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn keys_are_merged_at_the_top_and_null_takes_one_away() {
        let mut state = AppletState::default();
        state
            .apply(&map(json!({ "a": { "x": 1 }, "b": 2 })))
            .unwrap();
        state
            .apply(&map(json!({ "a": { "y": 1 }, "b": null, "c": null })))
            .unwrap();
        assert_eq!(state.version, 2);
        assert_eq!(state.data, map(json!({ "a": { "y": 1 } })));
    }

    #[test]
    fn a_patch_changes_something_only_where_a_value_differs() {
        let mut state = AppletState::default();
        state
            .apply(&map(json!({ "a": { "x": [1] }, "b": 2 })))
            .unwrap();
        for (patch, changes) in [
            (json!({}), false),
            (json!({ "a": { "x": [1] } }), false),
            (json!({ "c": null }), false),
            (json!({ "a": { "x": [1] }, "b": 3 }), true),
            (json!({ "b": null }), true),
            (json!({ "c": 0 }), true),
        ] {
            assert_eq!(state.changes(&map(patch.clone())), changes, "{patch}");
        }
    }

    #[test]
    fn a_state_that_would_grow_too_large_is_refused() {
        let mut state = AppletState::default();
        let large = map(json!({ "a": "x".repeat(STATE_BYTES) }));
        assert!(matches!(
            state.apply(&large),
            Err(Error::StateTooLarge { .. })
        ));
        assert_eq!(state.version, 0);
    }
}
