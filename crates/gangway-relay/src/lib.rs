//! The relay: connects external agents with the pages that they read and drive, in named relay sessions.

mod ask;
mod chat;
mod config;
mod invitation;
mod join;
mod member;
mod message;
mod name;
mod others;
mod own_log;
mod page_log;
mod page_schema;
mod page_tools;
mod ring;
mod room;
pub mod routes;
mod seat;
mod session;
mod socket;
pub mod study;
mod token;
pub mod wire;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use gangway_core::{Asks, Hub, Result, SessionId, Store};
use gangway_http::Http;
use gangway_pages::Pages;
use gangway_workspaces::Sessions;
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use ask::Answer;
pub use config::RelayConfig;
pub use invitation::{Invitation, InvitationGrant, Invitations, NewInvitation, TooManyInvitations};
pub use join::{Join, Joined, PageSource};
pub use member::OutMessage;
pub use message::{
    Code, Envelope, ErrorPayload, FromAgent, FromHost, Presence, Refusal, Role, VERSION,
    error_text, message_text, raw,
};
pub use name::{BadName, RelayName, StudyId};
pub use own_log::{AGENT, RelayAgent, is_unused};
pub use seat::{Inbox, Seat, StudyAsker};
pub use session::RelaySession;
pub use token::{NewTokens, TokenGrant, Tokens};

use chat::Chat;
use others::Others;
use study::Studies;

/// Path of the WebSocket.
pub const SOCKET: &str = "/agent/ws";

/// How often timeouts are checked.
const LOOK: Duration = Duration::from_millis(500);

/// Maximum number of relay sessions.
const SESSIONS: usize = 256;

/// How long the last messages of an empty session are kept for clients that reconnect.
const KEPT: Duration = Duration::from_secs(600);

/// The page of an app that connects from the app's own host.
#[derive(Debug, Clone)]
pub struct AppPage {
    pub app: String,
    /// The chat that it was launched from, if the browser proves it.
    pub chat: Option<SessionId>,
}

pub struct RelayState {
    pub http: Arc<Http>,
    pub relay: Arc<Relay>,
    /// The setting `relay.message_bytes`.
    pub message_bytes: usize,
}

pub struct Relay {
    pub studies: Studies,
    pub tokens: Tokens,
    /// Invitations of agents to chats.
    pub invitations: Arc<Invitations>,
    /// The sessions in whose logs relay sessions are.
    sessions_of_logs: Sessions,
    sessions: Mutex<HashMap<RelayName, Arc<RelaySession>>>,
    /// Held while a session is created: the log of its study session must not be opened twice.
    making: tokio::sync::Mutex<()>,
    /// Timeout of a page's answer.
    timeout: Duration,
    /// All open pages, its own included.
    pages: Arc<Pages>,
    /// Asks the person about calls of external agents.
    asks: Arc<Asks>,
}

impl Relay {
    pub async fn load(
        config: &RelayConfig,
        data: &Path,
        sessions: Sessions,
        pages: Arc<Pages>,
        asks: Arc<Asks>,
    ) -> Result<Arc<Self>> {
        let store: Store = sessions.hub().store().clone();
        Ok(Arc::new(Self {
            studies: Studies::new(data, store.clone()),
            tokens: Tokens::load(store.clone()).await?,
            invitations: Arc::new(Invitations::load(store).await?),
            sessions_of_logs: sessions,
            sessions: Mutex::default(),
            making: tokio::sync::Mutex::default(),
            timeout: Duration::from_secs(config.answer_seconds),
            pages,
            asks,
        }))
    }

    #[must_use]
    pub fn hub(&self) -> &Arc<Hub> {
        self.sessions_of_logs.hub()
    }

    /// Finds or creates a relay session; `None` if there are too many. A study session that was open in it continues.
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
        let study = match name.chat() {
            Some(_) => None,
            None => self.studies.open_in(name).await?,
        };
        let chat = name.chat().map(|id| {
            let (hub, invitations) = (Arc::clone(self.hub()), Arc::clone(&self.invitations));
            Chat::new(id, hub, invitations)
        });
        let session = RelaySession::new(
            name.clone(),
            self.timeout,
            study,
            Others::new(Arc::clone(&self.pages), Arc::clone(&self.asks)),
            chat,
        );
        let session = Arc::new(session);
        self.sessions
            .lock()
            .insert(name.clone(), Arc::clone(&session));
        Ok(Some(session))
    }

    #[must_use]
    pub fn get(&self, name: &RelayName) -> Option<Arc<RelaySession>> {
        self.sessions.lock().get(name).cloned()
    }

    /// All, sorted by name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<RelaySession>> {
        let mut all: Vec<_> = self.sessions.lock().values().cloned().collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    /// Times out pending requests until the server stops.
    pub async fn look_after(self: Arc<Self>, stop: CancellationToken) {
        let mut marked = HashSet::new();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => return,
            }
            let now = Instant::now();
            let all: Vec<_> = self.sessions.lock().values().cloned().collect();
            for session in &all {
                session.give_up(now);
                if let Some(log) = session.used_log()
                    && marked.insert(log)
                    && let Err(error) = self.mark_used(log).await
                {
                    tracing::debug!(%error, "a relay session is not listed");
                }
            }
            drop(all);
            self.forget(now, KEPT);
        }
    }

    /// Forgets sessions that have been empty for this long. Their study sessions stay open and continue when a client
    /// joins.
    fn forget(&self, now: Instant, after: Duration) {
        self.sessions.lock().retain(|_, session| {
            let long = session
                .empty_since()
                .is_some_and(|since| now - since >= after);
            // A caller that holds it is about to join.
            !long || Arc::strong_count(session) > 1
        });
    }
}
