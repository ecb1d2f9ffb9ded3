//! Requests for consent that wait for the person: of each applet one at a time, in the order they came.

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::id::{SessionId, Slug};

/// Requests of one applet that may wait in one session: more than a person would answer.
const LONGEST: usize = 8;

/// A message that waits for the person's consent.
#[derive(Debug, Clone)]
pub struct AwaitingConsent {
    /// What the applet wants to say.
    pub prompt: String,
    /// Since when it waits.
    pub since: Timestamp,
}

/// The requests of all sessions.
#[derive(Default)]
pub(super) struct ConsentQueue {
    lines: Mutex<HashMap<(SessionId, Slug), Arc<Line>>>,
}

/// The requests of one applet in one session.
#[derive(Default)]
struct Line {
    turn: Arc<tokio::sync::Mutex<()>>,
    shown: Mutex<Option<AwaitingConsent>>,
}

/// A place in the line of an applet, until dropped.
pub(super) struct Place {
    queue: Arc<ConsentQueue>,
    key: (SessionId, Slug),
    line: Arc<Line>,
    turn: Option<OwnedMutexGuard<()>>,
}

impl ConsentQueue {
    /// A place at the end of the line, or none when it is too long.
    pub(super) fn enter(self: &Arc<Self>, session: SessionId, applet: &Slug) -> Option<Place> {
        let key = (session, applet.clone());
        let mut lines = self.lines.lock();
        let line = Arc::clone(lines.entry(key.clone()).or_default());
        // One hold is the table's, one is ours.
        (Arc::strong_count(&line) <= LONGEST + 1).then(|| Place {
            queue: Arc::clone(self),
            key,
            line,
            turn: None,
        })
    }

    /// The applets of a session whose request is before the person.
    pub(super) fn waiting(&self, session: SessionId) -> Vec<(Slug, AwaitingConsent)> {
        let lines = self.lines.lock();
        let here = lines.iter().filter(|((of, _), _)| *of == session);
        here.filter_map(|((_, slug), line)| Some((slug.clone(), line.shown.lock().clone()?)))
            .collect()
    }

    /// Marks that the request of an applet was answered.
    pub(super) fn answered(&self, session: SessionId, applet: &Slug) {
        if let Some(line) = self.lines.lock().get(&(session, applet.clone())) {
            line.shown.lock().take();
        }
    }
}

impl Place {
    /// Waits until those before are done, then puts this before the person.
    pub(super) async fn show(&mut self, prompt: String) {
        self.turn = Some(Arc::clone(&self.line.turn).lock_owned().await);
        *self.line.shown.lock() = Some(AwaitingConsent {
            prompt,
            since: Timestamp::now(),
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.turn.is_some() {
            self.line.shown.lock().take();
        }
        let mut lines = self.queue.lines.lock();
        // The table's hold and ours: nobody waits behind.
        if Arc::strong_count(&self.line) <= 2 {
            lines.remove(&self.key);
        }
        // Given on before the next may enter, or it would find a line that is no longer in the table.
        self.turn.take();
    }
}
