//! The sessions in whose logs relay sessions are that belong to no chat, and what keeps these logs small.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use gangway_core::{
    Agent, AgentError, Command, Error, NewSession, PageEntry, Readiness, Result, SessionId, Turn,
    Usage,
    store::{Expect, Put, record},
};
use gangway_http::rate_limit::{Quota, TokenBucket};
use gangway_pages::OpenPage;
use serde_json::{Value, json, value::RawValue};
use tokio::time::Instant;

use crate::{FromHost, Relay, RelayName, RelaySession, chat::message_limit, page_log, room::Room};

/// The agent of these sessions.
pub const AGENT: &str = "relay";

/// The records of these sessions, by name; a page may join under any name, but not fill the store.
const KEY: &str = "relay-log/";
const NAMES: usize = 2000;

/// How many calls of a relay session are logged at once, and in a second: far more than people see. A study log has all.
const BURST: NonZeroU32 = NonZeroU32::new(50).unwrap();
const RATE: NonZeroU32 = NonZeroU32::new(4).unwrap();

/// The least time between two updates of a page that are logged; of those in between, the last one is.
const BETWEEN: Duration = Duration::from_millis(250);

/// Nobody answers in the session of a relay session: its agents are external and act on its page.
pub struct RelayAgent;

impl Agent for RelayAgent {
    fn description(&self) -> String {
        "External agents on the relay".to_owned()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn is_for_choosing(&self) -> bool {
        false
    }

    fn run(&self, _turn: Turn) -> BoxFuture<'_, std::result::Result<Option<Usage>, AgentError>> {
        Box::pin(async {
            Err(AgentError {
                code: "nobody_answers".to_owned(),
                message: "This is the log of a relay session, where nobody answers. Write to the agents on its page.".to_owned(),
                retryable: false,
            })
        })
    }
}

/// What was not logged.
#[derive(Default, PartialEq, Eq)]
struct Skipped {
    calls: u64,
    messages: u64,
}

/// Limits what a relay session writes to its log.
pub(crate) struct LogLimit {
    calls: TokenBucket,
    messages: TokenBucket,
    skipped: Skipped,
    updated: Option<Instant>,
    /// The last update, if it is not logged yet.
    update: Option<Box<RawValue>>,
    /// Whether anything but presence was logged.
    used: bool,
}

impl Default for LogLimit {
    fn default() -> Self {
        Self {
            calls: TokenBucket::new(Quota::per_second(RATE).allow_burst(BURST)),
            messages: message_limit(),
            skipped: Skipped::default(),
            updated: None,
            update: None,
            used: false,
        }
    }
}

impl LogLimit {
    /// Whether a call is logged; an update before it is logged first.
    pub(crate) fn takes_call(&mut self, page: Option<&OpenPage>) -> bool {
        if !page.is_some_and(OpenPage::is_logged) {
            return false;
        }
        let takes = self.calls.take();
        match takes {
            true => self.flush(page),
            false => self.skipped.calls += 1,
        }
        self.used = true;
        takes
    }

    /// Whether a message of an agent or of the page is logged; an update before it is logged first.
    pub(crate) fn takes_message(&mut self, page: Option<&OpenPage>) -> bool {
        let takes = self.messages.take();
        match takes {
            true => self.flush(page),
            false => self.skipped.messages += 1,
        }
        self.used = true;
        takes
    }

    /// Logs an update of the page, or keeps it until the next entry.
    pub(crate) fn update(&mut self, page: Option<&OpenPage>, payload: &RawValue) {
        if !page.is_some_and(OpenPage::is_logged) {
            return;
        }
        let now = Instant::now();
        self.update = Some(payload.to_owned());
        if self.updated.is_none_or(|last| now - last >= BETWEEN) {
            self.flush(page);
        }
    }

    /// Logs what was kept back.
    pub(crate) fn flush(&mut self, page: Option<&OpenPage>) {
        let skipped = std::mem::take(&mut self.skipped);
        if skipped != Skipped::default()
            && let Some(page) = page
        {
            page.log(PageEntry::Message {
                r#type: "relay.skipped".to_owned(),
                payload: json!({ "calls": skipped.calls, "messages": skipped.messages }),
                by: None,
            });
        }
        if let Some(update) = self.update.take() {
            self.updated = Some(Instant::now());
            page_log::said(page, FromHost::StateUpdated, &update);
        }
    }

    pub(crate) fn use_it(&mut self) {
        self.used = true;
    }

    pub(crate) fn is_used(&self) -> bool {
        self.used
    }
}

impl RelaySession {
    /// Logs something about agents in the session of this relay session, once it has one.
    pub(super) fn note(&self, room: &Room, kind: &str, payload: &Value, by: Option<String>) {
        if let Some(subject) = &room.subject {
            let entry = PageEntry::Message {
                r#type: kind.to_owned(),
                payload: payload.clone(),
                by,
            };
            self.others.pages.log(subject.clone(), entry);
        }
    }

    /// Logs that an agent started or ended a study.
    pub(crate) fn note_study(&self, kind: FromHost, payload: &Value, agent: &str) {
        let mut room = self.lock();
        room.flush_log();
        room.log_limit.use_it();
        self.note(&room, kind.name(), payload, Some(agent.to_owned()));
    }

    /// The session of this relay session, if anything happened in it.
    pub(crate) fn used_log(&self) -> Option<SessionId> {
        let room = self.lock();
        let subject = room.subject.as_ref().filter(|_| room.log_limit.is_used());
        subject.map(|subject| subject.session)
    }
}

impl Relay {
    /// The session in whose log a relay session is that belongs to no chat; it is kept under the name.
    pub(crate) async fn own_log(&self, name: &RelayName) -> Result<SessionId> {
        let _making = self.making.lock().await;
        let hub = self.hub();
        let key = format!("{KEY}{name}");
        if let Some(stored) = hub.store().get::<SessionId>(&key).await?
            && hub.describe(stored.value).await.is_ok()
        {
            return Ok(stored.value);
        }
        if hub.store().keys(KEY, NAMES).await?.len() >= NAMES {
            self.forget_logs().await?;
        }
        if hub.store().keys(KEY, NAMES).await?.len() >= NAMES {
            let message = format!("at most {NAMES} relay sessions have a log; delete some");
            return Err(Error::Storage(message));
        }
        let new = NewSession {
            title: Some(name.to_string()),
            agent: Some(AGENT.to_owned()),
            ..NewSession::default()
        };
        let (id, _) = self.sessions_of_logs.create(new).await?;
        hub.store().put(vec![record(key, &id)?]).await?;
        Ok(id)
    }

    /// Forgets the sessions that were deleted.
    async fn forget_logs(&self) -> Result<()> {
        let hub = self.hub();
        for key in hub.store().keys(KEY, NAMES).await? {
            if let Some(stored) = hub.store().get::<SessionId>(&key).await?
                && let Err(Error::SessionNotFound(_)) = hub.describe(stored.value).await
            {
                let forget = Put::remove(key, Expect::Any);
                hub.store().put(vec![forget]).await?;
            }
        }
        Ok(())
    }

    /// Marks the session of a relay session as used, from when on the list of chats shows it.
    pub(crate) async fn mark_used(&self, log: SessionId) -> Result<()> {
        let hub = Arc::clone(self.hub());
        let (profile, _) = hub.describe(log).await?;
        if is_unused(&profile) {
            let change = Command::Change {
                title: None,
                model: None,
                agent: None,
            };
            hub.open(log).await?.submit(change).await?;
        }
        Ok(())
    }
}

/// Whether this is the session of a relay session in which nothing has happened yet.
#[must_use]
pub fn is_unused(profile: &gangway_core::Profile) -> bool {
    profile.agent == AGENT && profile.updated_at == profile.created_at
}
