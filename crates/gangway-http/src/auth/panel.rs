//! Tokens of chat panels: each lets the panel use its own session, and nothing else.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use gangway_core::{
    SessionId,
    secret::{hash, new_secret},
};

pub(super) const PREFIX: &str = "gwp_";

type Sessions = Arc<Mutex<HashMap<String, SessionId>>>;

/// Open panels, by the hash of their token.
#[derive(Default)]
pub struct Panels(Sessions);

/// The token of an open panel, revoked when this is dropped.
pub struct PanelToken {
    token: String,
    sessions: Sessions,
}

impl Panels {
    #[must_use]
    pub fn issue(&self, session: SessionId) -> PanelToken {
        let token = format!("{PREFIX}{}", new_secret());
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(hash(&token), session);
        PanelToken {
            token,
            sessions: Arc::clone(&self.0),
        }
    }

    pub(super) fn session(&self, token: &str) -> Option<SessionId> {
        // Looked up by hash, so that the timing reveals nothing about the token.
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&hash(token)).copied()
    }
}

impl PanelToken {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.token
    }
}

impl Drop for PanelToken {
    fn drop(&mut self) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(&hash(&self.token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_token_is_valid_for_its_session_until_the_panel_closes() {
        let panels = Panels::default();
        let session = SessionId::new();
        let token = panels.issue(session);
        let text = token.as_str().to_owned();
        assert_eq!(panels.session(&text), Some(session));
        assert_eq!(panels.session("gwp_other"), None);
        drop(token);
        assert_eq!(panels.session(&text), None);
    }
}
