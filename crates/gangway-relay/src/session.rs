//! One relay session: a page, agents, and the messages between them.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use gangway_core::{PageId, PageKind, SessionId};
use gangway_pages::{GRACE, NewPage, OpenPage, Page, PageEvents};
use gangway_schema::Clock;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{json, value::RawValue};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};

use super::{
    Code, FromAgent, Join, Joined, PageSource, Refusal, RelayName, Role, StudyId,
    ask::{Answer, Asker},
    chat::Chat,
    member::{Member, OutMessage},
    message::{raw, replaced_text},
    others::Others,
    page_tools::{Offer, RelayPage},
    ring::Recipient,
    room::{CLOSED, REPLACED, Room},
    seat::{Inbox, Seat},
    study::{Direction, LogEntry, StudyLog},
};

/// The types of log entries about members.
pub(super) const PRESENT: &str = "relay.joined";
pub(super) const GONE: &str = "relay.left";

/// Maximum number of agents per relay session.
const AGENTS: usize = 64;

/// Queue limit of one connection; a slow reader is disconnected and resumes by number.
const WAITING: usize = 1100;

pub struct RelaySession {
    name: RelayName,
    pub(super) timeout: Duration,
    /// The other pages that its agents may use.
    pub(crate) others: Others,
    /// The chat that agents join by this name, which has no page of its own.
    pub(crate) chat: Option<Chat>,
    switch: Mutex<Room>,
    /// Held while a study session is started: concurrent requests get the same one.
    pub starting: tokio::sync::Mutex<()>,
}

impl RelaySession {
    pub(super) fn new(
        name: RelayName,
        timeout: Duration,
        study: Option<Arc<StudyLog>>,
        others: Others,
        chat: Option<Chat>,
    ) -> Self {
        let mut room = Room::new(study);
        room.subject = chat.as_ref().map(Chat::subject);
        Self {
            others,
            chat,
            name,
            timeout,
            switch: Mutex::new(room),
            starting: tokio::sync::Mutex::default(),
        }
    }

    #[must_use]
    pub fn name(&self) -> &RelayName {
        &self.name
    }

    #[must_use]
    pub fn has_host(&self) -> bool {
        self.lock().host.is_some()
    }

    /// Whether there is a page, and the number of agents.
    #[must_use]
    pub fn presence(&self) -> (bool, usize) {
        let switch = self.lock();
        (switch.has_host(), switch.agents.len())
    }

    /// Since when it has no members.
    pub(super) fn empty_since(&self) -> Option<Instant> {
        self.lock().empty_since
    }

    /// The open study session.
    #[must_use]
    pub fn study(&self) -> Option<Arc<StudyLog>> {
        self.lock().study.clone()
    }

    /// Sets the open study session; fails with the id of another one that is open.
    pub fn begin_study(&self, log: Arc<StudyLog>) -> Result<(), StudyId> {
        let mut switch = self.lock();
        match &switch.study {
            Some(open) => Err(open.id().clone()),
            None => {
                switch.study = Some(log);
                Ok(())
            }
        }
    }

    /// Clears the open study session; false if another agent already did.
    pub fn end_study(&self, log: &StudyLog) -> bool {
        let ended = self.lock().study.take_if(|open| open.id() == log.id());
        ended.is_some()
    }

    /// Adds a member. Messages after `since` are sent automatically.
    pub fn join(self: &Arc<Self>, join: Join) -> Result<(Seat, Inbox, Joined), Refusal> {
        let mut switch = self.lock();
        self.check(&switch, &join)?;
        let page = match join.role {
            Role::Host => Some(self.open_page(&join)?),
            Role::Agent => None,
        };
        let (sender, out) = mpsc::channel(WAITING);
        switch.seats += 1;
        let number = switch.seats;
        // Only the same page on a new connection may still answer: a reloaded or different page never received the
        // requests.
        let resumes = join.since.is_some() && switch.last_host == join.client;
        if join.role == Role::Host && !resumes {
            switch.fail_open_asks(REPLACED);
        }
        let missed = join.since.map(|since| {
            let mine = |recipient: &Recipient| match (join.role, recipient) {
                (Role::Host, Recipient::Host(question)) => {
                    question.is_none_or(|number| switch.asks.is_open(number))
                }
                (Role::Agent, Recipient::Agents) => true,
                (Role::Agent, Recipient::AllBut(name)) => join.client.as_ref() != Some(name),
                (Role::Agent, Recipient::Agent(Some(name))) => join.client.as_ref() == Some(name),
                _ => false,
            };
            switch.ring.after(since, switch.seq, mine)
        });
        let resync = matches!(missed, Some(None));
        let queued = Arc::new(AtomicUsize::new(0));
        let place = Member {
            number,
            out: sender,
            queued: Arc::clone(&queued),
            client: join.client,
            presence: join.presence,
            whose: join.whose,
            invitation: join.invitation,
            offer: None,
            page,
        };
        for text in missed.flatten().into_iter().flatten() {
            // The queue has room for the whole ring.
            place.put(OutMessage::Text(text));
        }
        match join.role {
            Role::Agent => {
                let name = place.name();
                self.note(&switch, PRESENT, &json!({ "role": join.role }), Some(name));
                switch.agents.insert(number, place);
            }
            Role::Host => {
                if resync {
                    switch.fail_open_asks(REPLACED);
                }
                switch.last_host.clone_from(&place.client);
                switch.host_lost = None;
                if let Some(old) = switch.host.replace(place) {
                    old.put(OutMessage::Last(replaced_text()));
                }
                // Named after the one that it replaces has left.
                let subject = switch.page().and_then(|open| {
                    self.others.pages.name(&open.page);
                    open.page.subject()
                });
                switch.subject = subject;
            }
        }
        switch.empty_since = None;
        if let Some(chat) = &self.chat {
            switch.has_pages = !self.others.pages.of_session(chat.id).is_empty();
        }
        let joined = Joined {
            role: join.role,
            session_id: self.name.to_string(),
            seq: switch.seq,
            host: switch.has_host(),
            agents: switch.agents.len(),
            study_session: switch.study.as_ref().map(|log| log.id().to_string()),
            resync,
        };
        let message = raw(&json!({ "role": join.role, "since": join.since }));
        switch.log(LogEntry::of(Direction::Internal, "relay.joined", &message));
        switch.broadcast_presence(number);
        drop(switch);
        if join.role == Role::Host {
            self.others.pages.changed();
        }
        let seat = Seat::new(Arc::clone(self), join.role, number);
        Ok((seat, Inbox { out, queued }, joined))
    }

    /// Makes the page one of its chat.
    fn open_page(self: &Arc<Self>, join: &Join) -> Result<OpenPage, Refusal> {
        let new = NewPage {
            kind: PageKind::Relay,
            name: self.name.to_string(),
            session: join.chat,
            origin: match &join.whose {
                PageSource::App(app) => app.clone(),
                PageSource::Api => String::new(),
            },
            title: self.name.to_string(),
        };
        let channel = RelayPage {
            session: Arc::downgrade(self),
            clock: Clock::default(),
        };
        let pages = &self.others.pages;
        let opened = pages.open_with_log(new, join.log, Arc::new(channel));
        opened.map_err(|error| Refusal::new(Code::SessionNotActive, error.to_string()))
    }

    fn check(&self, switch: &Room, join: &Join) -> Result<(), Refusal> {
        let refused = |message: String| Err(Refusal::new(Code::SessionNotActive, message));
        match (join.role, &join.whose) {
            _ if switch.is_over => refused("this chat was deleted".into()),
            (Role::Agent, _) if switch.agents.len() >= AGENTS => {
                refused(format!("this session has the maximum of {AGENTS} agents"))
            }
            // An app is driven; it must not drive other pages of the person.
            (Role::Agent, PageSource::App(_)) => {
                refused("the page of an app must join as host, not as agent".into())
            }
            (Role::Host, PageSource::App(_))
                if switch
                    .host
                    .as_ref()
                    .is_some_and(|host| host.whose != join.whose) =>
            {
                refused(format!(
                    "another app's page is the host of {}; use a different session",
                    self.name
                ))
            }
            _ => Ok(()),
        }
    }

    /// Sends a request of the server itself to the page.
    pub async fn ask(&self, kind: FromAgent, payload: &RawValue) -> Answer {
        self.put(kind, payload, self.timeout, true).await
    }

    /// Reads the page's snapshot without writing to the study log, since no agent acted.
    pub async fn look(&self, timeout: Duration) -> Answer {
        self.put(FromAgent::SnapshotGet, &raw(&json!({})), timeout, false)
            .await
    }

    async fn put(
        &self,
        kind: FromAgent,
        payload: &RawValue,
        timeout: Duration,
        logged: bool,
    ) -> Answer {
        let (sender, answer) = oneshot::channel();
        let asker = Asker::House { sender, logged };
        self.lock().pass_on(asker, kind, payload, timeout)?;
        answer.await.unwrap_or_else(|_| {
            let message = "the page disconnected before it answered";
            Err(Refusal::new(Code::ToolExecutionFailed, message))
        })
    }

    /// Writes to the log of the open study session, if any.
    pub fn log(&self, note: LogEntry<'_>) {
        self.lock().log(note);
    }

    /// The page, as agents of its chat see it.
    pub(crate) fn page(&self) -> Option<Arc<Page>> {
        let switch = self.lock();
        switch.page().map(|open| Arc::clone(&open.page))
    }

    /// The page's last tool list; `None` after another page joined.
    pub(crate) fn offer(&self) -> Option<Arc<Offer>> {
        self.lock().host.as_ref()?.offer.clone()
    }

    /// Stores the page's tool list, for when it is too busy to answer; the same one stays as it is, since it was read.
    pub(crate) fn keep_offer(&self, offer: Offer) {
        let mut switch = self.lock();
        let Some(host) = &mut switch.host else { return };
        if host.offer.as_ref().is_some_and(|stored| stored.is(&offer)) {
            return;
        }
        let offer = Arc::new(offer);
        host.offer = Some(Arc::clone(&offer));
        let page = host.page.as_ref().map(|open| Arc::clone(&open.page));
        drop(switch);
        if let Some(page) = page {
            self.others.pages.note_offer(&page, offer.names());
        }
    }

    /// The messages to all agents after a number, as for an agent that reconnects; waits until there are some.
    pub(crate) async fn events(&self, after: Option<u64>, wait: Duration) -> PageEvents {
        let until = Instant::now() + wait;
        let (received, now) = {
            let switch = self.lock();
            (Arc::clone(&switch.heard), switch.seq)
        };
        let after = after.unwrap_or(now);
        loop {
            let mut more = std::pin::pin!(received.notified());
            more.as_mut().enable();
            if let Some(found) = self.lock().events_after(after) {
                return found;
            }
            if timeout_at(until, more).await.is_err() {
                return PageEvents {
                    last: after,
                    ..PageEvents::default()
                };
            }
        }
    }

    /// The chat that its agents are in, and the page of it that they joined, if it is one on the relay.
    pub(crate) fn reach(&self) -> Option<(SessionId, Option<PageId>)> {
        match &self.chat {
            Some(chat) => Some((chat.id, None)),
            None => {
                let page = self.page()?;
                Some((page.session()?, Some(page.id)))
            }
        }
    }

    /// Times out pending requests.
    pub(super) fn give_up(&self, now: Instant) {
        let mut switch = self.lock();
        switch.flush_log();
        let is_over = |lost: &mut Instant| now - *lost >= GRACE;
        if switch.host_lost.take_if(is_over).is_some() {
            switch.fail_open_asks(CLOSED);
        }
        for (ask, timeout) in switch.asks.overdue(now) {
            let seconds = timeout.as_secs();
            let message = format!("the page did not answer within {seconds} seconds");
            switch.refuse(ask, Refusal::new(Code::ToolExecutionFailed, message));
        }
    }

    /// Signals that the page offers other tools.
    pub(super) fn tools_changed(&self) {
        self.others.pages.changed();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Room> {
        self.switch.lock()
    }
}
