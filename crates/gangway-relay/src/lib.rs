//! The relay: external agents and the pages that they see and drive, joined in relay sessions by name.

mod ask;
mod config;
mod message;
mod name;
mod page_schema;
mod page_tools;
mod ring;
pub mod routes;
mod seat;
mod session;
mod socket;
pub mod study;
mod switch;
mod token;
pub mod wire;

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use gangway_core::{Result, SessionId, Store};
use gangway_http::Http;
use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

pub use ask::Answer;
pub use config::RelayConfig;
pub use message::{
    Code, Envelope, ErrorPayload, FromAgent, FromHost, Presence, Refusal, Role, VERSION,
    error_text, message_text, raw,
};
pub use name::{BadName, RelayName, StudyId};
pub use page_tools::PageTools;
pub use seat::{Inbox, Seat, StudyAsker};
pub use session::{Join, Joined, RelaySession, Whose};
pub use switch::Out;
pub use token::{NewTokens, Pass, Tokens};

use study::Studies;

/// Where it is.
pub const SOCKET: &str = "/agent/ws";

/// How often it is looked for questions that nobody answered.
const LOOK: Duration = Duration::from_millis(500);

/// Relay sessions at once.
const SESSIONS: usize = 256;

/// How long what was said last is kept for those who may come back, once nobody is there.
const KEPT: Duration = Duration::from_secs(600);

/// The page of an app that connects from the app's own host.
#[derive(Debug, Clone)]
pub struct AppPage {
    /// The app.
    pub app: String,
    /// The chat that it was launched from, where the browser shows that it was.
    pub chat: Option<SessionId>,
}

/// What the routes of the relay use.
pub struct RelayState {
    /// What all protocols over HTTP share.
    pub http: Arc<Http>,
    /// The relay sessions.
    pub relay: Arc<Relay>,
    /// Bytes of a message; the setting `relay.message_bytes`.
    pub message_bytes: usize,
}

/// All relay sessions.
pub struct Relay {
    /// The study sessions.
    pub studies: Studies,
    /// What lets in where the person wants tokens.
    pub tokens: Tokens,
    sessions: Mutex<HashMap<RelayName, Arc<RelaySession>>>,
    /// Held while one is made: the log of its study session must not be opened twice.
    making: tokio::sync::Mutex<()>,
    /// How long a page may take to answer.
    patience: Duration,
    /// Counts up when a page comes or goes, or offers other tools.
    changes: Arc<watch::Sender<u64>>,
}

impl Relay {
    /// With the study sessions of this data folder.
    pub async fn load(config: &RelayConfig, data: &Path, store: Store) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            studies: Studies::new(data, store.clone()),
            tokens: Tokens::load(store).await?,
            sessions: Mutex::default(),
            making: tokio::sync::Mutex::default(),
            patience: Duration::from_secs(config.answer_seconds),
            changes: Arc::new(watch::Sender::new(0)),
        }))
    }

    /// The relay session of this name, made when it is not there; none where there are too many. A study session that was
    /// open in it goes on.
    pub async fn open(&self, name: &RelayName) -> Result<Option<Arc<RelaySession>>> {
        if let Some(session) = self.get(name) {
            return Ok(Some(session));
        }
        let _making = self.making.lock().await;
        if let Some(session) = self.get(name) {
            return Ok(Some(session));
        }
        if self.sessions.lock().len() >= SESSIONS {
            self.forget(Instant::now(), Duration::ZERO);
        }
        if self.sessions.lock().len() >= SESSIONS {
            return Ok(None);
        }
        let study = self.studies.open_in(name).await?;
        let session = RelaySession::new(
            name.clone(),
            self.patience,
            study,
            Arc::clone(&self.changes),
        );
        let session = Arc::new(session);
        self.sessions
            .lock()
            .insert(name.clone(), Arc::clone(&session));
        Ok(Some(session))
    }

    /// The relay session of this name, if it is known.
    #[must_use]
    pub fn get(&self, name: &RelayName) -> Option<Arc<RelaySession>> {
        self.sessions.lock().get(name).cloned()
    }

    /// Counts up when a page comes or goes, or offers other tools.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Those that are known, by name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<RelaySession>> {
        let mut all: Vec<_> = self.sessions.lock().values().cloned().collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    /// Those with a page, by name.
    #[must_use]
    pub fn hosted(&self) -> Vec<Arc<RelaySession>> {
        let mut hosted = self.all();
        hosted.retain(|session| session.has_host());
        hosted
    }

    /// Tells those who wait in vain, until the server stops.
    pub async fn look_after(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => return,
            }
            let now = Instant::now();
            let all: Vec<_> = self.sessions.lock().values().cloned().collect();
            for session in &all {
                session.give_up(now);
            }
            drop(all);
            self.forget(now, KEPT);
        }
    }

    /// Forgets those where nobody has been for this long. Their study sessions stay open, and go on when somebody joins.
    fn forget(&self, now: Instant, after: Duration) {
        self.sessions.lock().retain(|_, session| {
            let long = session
                .empty_since()
                .is_some_and(|since| now - since >= after);
            // Whoever holds it is about to join.
            !long || Arc::strong_count(session) > 1
        });
    }
}
