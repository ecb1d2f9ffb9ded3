//! Applets that wait for the person's word. Each asks one thing at a time, in the order it came, and a question stays when
//! the page that asked it is gone.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use gangway_core::{SessionId, Slug, TurnId};
use jiff::Timestamp;
use tokio::sync::{OwnedMutexGuard, watch};
use tokio_util::sync::CancellationToken;

/// Messages of one applet that may wait in one session: more than a person would answer.
const LONGEST: usize = 8;

/// Characters of what an applet wants to say that the person is shown.
const SHOWN: usize = 2000;

/// What an applet waits to say.
#[derive(Debug, Clone)]
pub struct Asking {
    /// What it wants to say.
    pub prompt: String,
    /// Since when it waits.
    pub since: Timestamp,
}

/// Everyone who waits.
#[derive(Default)]
pub struct Lines {
    lines: Mutex<HashMap<(SessionId, Slug), Arc<Line>>>,
    pending: Mutex<HashMap<(SessionId, String), Pending>>,
}

#[derive(Default)]
struct Line {
    turn: Arc<tokio::sync::Mutex<()>>,
    asked: Mutex<Option<Asking>>,
}

/// A place in the line of an applet, until dropped.
pub struct Place {
    lines: Arc<Lines>,
    key: (SessionId, Slug),
    line: Arc<Line>,
    turn: Option<OwnedMutexGuard<()>>,
}

/// How far something that an applet wants to say has come.
#[derive(Debug, Clone)]
pub enum Step {
    /// Nothing is decided.
    Begun,
    /// The person is asked.
    Asked,
    /// It was said, and this turn answers it.
    Said(TurnId),
    /// It is not said: a word for machines, and a sentence.
    Refused(String, String),
}

/// Something that is being said, whoever waits for it.
#[derive(Clone)]
pub struct Pending {
    /// How far it has come.
    pub steps: watch::Receiver<Step>,
    /// Cancelled when it is no longer to be said, as long as it was not.
    pub withdrawn: CancellationToken,
}

/// The other end of something that is being said.
pub struct Saying {
    /// Where to tell how far it has come.
    pub steps: watch::Sender<Step>,
    /// Cancelled when it is no longer to be said.
    pub withdrawn: CancellationToken,
    lines: Arc<Lines>,
    key: Option<(SessionId, String)>,
}

impl Pending {
    /// How it ends; nothing when the server does before.
    pub async fn end(&mut self) -> Option<Step> {
        let over = |step: &Step| matches!(step, Step::Said(_) | Step::Refused(..));
        self.steps
            .wait_for(over)
            .await
            .ok()
            .map(|step| step.clone())
    }
}

impl Drop for Saying {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.lines.pending().remove(&key);
        }
    }
}

impl Lines {
    /// What is being said under this name, and whatever must be done to say it if nobody does so yet.
    pub fn say(
        self: &Arc<Self>,
        session: SessionId,
        name: Option<String>,
    ) -> (Pending, Option<Saying>) {
        let key = name.map(|name| (session, name));
        let mut pending = self.pending();
        if let Some(same) = key.as_ref().and_then(|key| pending.get(key)) {
            return (same.clone(), None);
        }
        let (steps, follow) = watch::channel(Step::Begun);
        let withdrawn = CancellationToken::new();
        let new = Pending {
            steps: follow,
            withdrawn: withdrawn.clone(),
        };
        if let Some(key) = &key {
            pending.insert(key.clone(), new.clone());
        }
        let saying = Saying {
            steps,
            withdrawn,
            lines: Arc::clone(self),
            key,
        };
        (new, Some(saying))
    }

    /// What is being said under this name.
    #[must_use]
    pub fn said_as(&self, session: SessionId, name: &str) -> Option<Pending> {
        self.pending().get(&(session, name.to_owned())).cloned()
    }

    /// A place at the end of the line, or none when it is too long.
    #[must_use]
    pub fn enter(self: &Arc<Self>, session: SessionId, applet: &Slug) -> Option<Place> {
        let key = (session, applet.clone());
        let mut lines = self.lines();
        let line = Arc::clone(lines.entry(key.clone()).or_default());
        // One hold is the table's, one is ours.
        (Arc::strong_count(&line) <= LONGEST + 1).then(|| Place {
            lines: Arc::clone(self),
            key,
            line,
            turn: None,
        })
    }

    /// The applets of a session whose question is before the person.
    #[must_use]
    pub fn asked(&self, session: SessionId) -> Vec<(Slug, Asking)> {
        let lines = self.lines();
        let here = lines.iter().filter(|((of, _), _)| *of == session);
        here.filter_map(|((_, slug), line)| Some((slug.clone(), line.asked().clone()?)))
            .collect()
    }

    /// Marks that the question of an applet was answered.
    pub fn answered(&self, session: SessionId, applet: &Slug) {
        if let Some(line) = self.lines().get(&(session, applet.clone())) {
            line.asked().take();
        }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<(SessionId, Slug), Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<(SessionId, String), Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn asked(&self) -> MutexGuard<'_, Option<Asking>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits until those before are done, then puts this before the person.
    pub async fn ask(&mut self, prompt: &str) {
        self.turn = Some(Arc::clone(&self.line.turn).lock_owned().await);
        *self.line.asked() = Some(Asking {
            prompt: prompt.chars().take(SHOWN).collect(),
            since: Timestamp::now(),
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.turn.is_some() {
            self.line.asked().take();
        }
        let mut lines = self.lines.lines();
        // The table's hold and ours: nobody waits behind.
        if Arc::strong_count(&self.line) <= 2 {
            lines.remove(&self.key);
        }
        // Given on before the next may enter, or it would find a line that is no longer in the table.
        self.turn.take();
    }
}
