//! Routing in a relay session: members, numbering, buffering and logging.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::extract::ws::Utf8Bytes;
use gangway_http::rate_limit::TokenBucket;
use gangway_pages::{EVENTS, OpenPage, PageEvents, Subject};
use serde_json::{Value, json, value::RawValue};
use tokio::{sync::Notify, time::Instant};

use super::{
    Code, FromAgent, FromHost, Refusal, VERSION,
    ask::{Ask, Asker, Asks},
    chat::message_limit,
    member::{Member, OutMessage},
    message::{Envelope, Presence, error_text, raw},
    own_log::LogLimit,
    page_log,
    page_tools::Offer,
    ring::{Recipient, Ring},
    study::{Direction, LogEntry, StudyLog},
};

/// How long a page may object to an agent's message, which has no answer.
const OBJECTION: Duration = Duration::from_secs(5);

/// Why a request to a page that left has no answer.
pub const CLOSED: &str = "the page was closed before it answered";
pub const REPLACED: &str =
    "the page was reloaded or replaced before it answered; get a new snapshot";

/// The state of a relay session, behind its lock.
pub struct Room {
    pub host: Option<Member>,
    /// The `clientId` of the last page, which may reconnect.
    pub last_host: Option<String>,
    /// When the connection of the page broke, which may reconnect.
    pub host_lost: Option<Instant>,
    pub agents: BTreeMap<u64, Member>,
    pub seats: u64,
    pub seq: u64,
    pub ring: Ring,
    pub asks: Asks,
    pub study: Option<Arc<StudyLog>>,
    pub empty_since: Option<Instant>,
    /// Signals a message to all agents, for those who wait for the events of the page, and that an agent left.
    pub heard: Arc<Notify>,
    /// Whether the chat that agents joined has pages.
    pub has_pages: bool,
    /// Whether the chat is followed for them.
    pub is_followed: bool,
    /// The chat was deleted.
    pub is_over: bool,
    /// Messages of agents in a chat.
    pub messages: TokenBucket,
    /// What is still to be written to the log of its session.
    pub log_limit: LogLimit,
    /// What entries about its agents are about: the chat, or the last page.
    pub subject: Option<Subject>,
}

impl Room {
    pub fn new(study: Option<Arc<StudyLog>>) -> Self {
        // Start from the clock, above any number of an earlier instance of this session, so that numbers are never
        // confused.
        let now = gangway_core::event::now().as_microsecond();
        let seq = u64::try_from(now).unwrap_or_default();
        Self {
            host: None,
            last_host: None,
            host_lost: None,
            agents: BTreeMap::new(),
            seats: 0,
            seq,
            ring: Ring::after_number(seq),
            asks: Asks::new(seq),
            study,
            empty_since: Some(Instant::now()),
            heard: Arc::default(),
            has_pages: false,
            is_followed: false,
            is_over: false,
            messages: message_limit(),
            log_limit: LogLimit::default(),
            subject: None,
        }
    }

    /// Logs what was kept back.
    pub fn flush_log(&mut self) {
        let page = self.host.as_ref().and_then(|host| host.page.as_ref());
        self.log_limit.flush(page);
    }

    /// Whether there is a page to act on.
    pub fn has_host(&self) -> bool {
        self.host.is_some() || self.has_pages
    }

    /// A member's `clientId`.
    pub fn client(&self, seat: u64) -> Option<String> {
        self.agents.get(&seat)?.client.clone()
    }

    /// Sends a request to the page.
    pub fn pass_on(
        &mut self,
        asker: Asker,
        kind: FromAgent,
        payload: &RawValue,
        timeout: Duration,
    ) -> Result<(), Refusal> {
        let failed = |message: &str| Err(Refusal::new(Code::ToolExecutionFailed, message));
        let Some(host) = &self.host else {
            let message = "no page has joined this session; open one and try again";
            return Err(Refusal::new(Code::SessionNotActive, message));
        };
        if host.is_behind() {
            return failed("the page does not keep up; send requests more slowly");
        }
        let logged = asker.is_logged() && self.study.is_some();
        let agent = logged.then(|| asker.label());
        let is_call = kind == FromAgent::ToolCall && matches!(asker, Asker::Agent { .. });
        let timeout = match kind.is_answered() {
            true => timeout,
            false => OBJECTION.min(timeout),
        };
        let Some(number) = self.asks.add(asker, kind, timeout) else {
            return failed("too many pending requests; wait for the answers");
        };
        let name = Asks::name(number);
        let note = LogEntry {
            question: Some(&name),
            agent: agent.as_deref(),
            ..LogEntry::of(Direction::In, kind.name(), payload)
        };
        let noted = !logged || self.log(note);
        // A study session whose log cannot be written can still be ended.
        if !noted && kind != FromAgent::SessionEnd {
            self.asks.forget(number);
            return failed("cannot write the study log; see the server's log");
        }
        let page = self.host.as_ref().and_then(|host| host.page.as_ref());
        if is_call && self.log_limit.takes_call(page) {
            self.asks.set_in_log(number);
        }
        if kind != FromAgent::AgentMessage || self.log_limit.takes_message(page) {
            page_log::asked(page, self.asks.get(number), payload);
        }
        self.seq += 1;
        let envelope = Envelope {
            v: VERSION,
            r#type: kind.name(),
            id: Some(&name),
            reply_to: None,
            seq: Some(self.seq),
            payload,
        };
        let text = envelope.text();
        // A page that reconnects gets missed messages again, but no requests that timed out meanwhile.
        let question = kind.is_answered().then_some(number);
        self.ring
            .push(self.seq, Recipient::Host(question), text.clone());
        self.host.take_if(|host| !host.put(OutMessage::Text(text)));
        Ok(())
    }

    /// Forwards an unsolicited message of the page.
    pub fn broadcast_from_host(
        &mut self,
        kind: FromHost,
        payload: &RawValue,
    ) -> Result<(), Refusal> {
        // `session.ended` comes from the relay, once the log is on disk.
        if !matches!(kind, FromHost::StateUpdated | FromHost::UserMessage) {
            let message = format!("{} needs replyTo", kind.name());
            return Err(Refusal::new(Code::InvalidMessage, message));
        }
        self.log(LogEntry::of(Direction::Out, kind.name(), payload));
        let page = self.host.as_ref().and_then(|host| host.page.as_ref());
        match kind {
            FromHost::StateUpdated => self.log_limit.update(page, payload),
            _ if self.log_limit.takes_message(page) => page_log::said(page, kind, payload),
            _ => {}
        }
        self.broadcast(kind.name(), payload, None);
        Ok(())
    }

    /// The page, as agents of its chat see it.
    pub fn page(&self) -> Option<&OpenPage> {
        self.host.as_ref()?.page.as_ref()
    }

    /// Stores the tools in an update; returns whether they changed.
    pub fn take_offer(&mut self, update: &RawValue) -> bool {
        // Most updates have no tools and are not parsed.
        if !update.get().contains("\"toolSchema\"") {
            return false;
        }
        let (Some(new), Some(host)) = (Offer::of(update), &mut self.host) else {
            return false;
        };
        let same = host.offer.as_ref().is_some_and(|offer| offer.is(&new));
        if !same {
            host.offer = Some(Arc::new(new));
        }
        !same
    }

    /// Sends to every agent, or to all but one.
    pub fn broadcast(&mut self, kind: &str, payload: &RawValue, but: Option<u64>) {
        self.seq += 1;
        let envelope = Envelope {
            v: VERSION,
            r#type: kind,
            id: None,
            reply_to: None,
            seq: Some(self.seq),
            payload,
        };
        let text = envelope.text();
        let recipient = match but.and_then(|seat| self.client(seat)) {
            Some(client) => Recipient::AllBut(client),
            None => Recipient::Agents,
        };
        self.ring.push(self.seq, recipient, text.clone());
        self.agents.retain(|number, agent| {
            Some(*number) == but || agent.put(OutMessage::Text(text.clone()))
        });
        self.heard.notify_waiters();
    }

    /// The messages to all agents after a number; `None` if there are none yet.
    pub fn events_after(&self, after: u64) -> Option<PageEvents> {
        let mine =
            |recipient: &Recipient| matches!(recipient, Recipient::Agents | Recipient::AllBut(_));
        let Some(missed) = self.ring.after(after, self.seq, mine) else {
            return Some(PageEvents {
                last: self.seq,
                gap: true,
                ..PageEvents::default()
            });
        };
        let read = missed.iter().take(EVENTS).filter_map(|text| {
            let message: Value = serde_json::from_str(text).ok()?;
            let event = json!({ "type": message["type"], "payload": message["payload"] });
            Some((message["seq"].as_u64()?, event))
        });
        let events: Vec<_> = read.collect();
        let last = events.last().map(|(seq, _)| *seq)?;
        Some(PageEvents {
            events,
            last,
            gap: false,
        })
    }

    /// Sends to one agent.
    pub fn send_to(
        &mut self,
        seat: u64,
        client: Option<String>,
        kind: FromHost,
        reply_to: Option<&str>,
        payload: &RawValue,
    ) {
        self.seq += 1;
        let envelope = Envelope {
            v: VERSION,
            r#type: kind.name(),
            id: None,
            reply_to,
            seq: Some(self.seq),
            payload,
        };
        self.deliver(seat, client, envelope.text());
    }

    fn deliver(&mut self, seat: u64, client: Option<String>, text: Utf8Bytes) {
        // A client that reconnected under the same `clientId` gets it, even if its dead connection has not been
        // noticed yet.
        let same = |place: &&Member| client.is_some() && place.client == client;
        let newest = self.agents.values().rev().find(same);
        let place = newest.or_else(|| self.agents.get(&seat));
        let slow = place.filter(|place| !place.put(OutMessage::Text(text.clone())));
        if let Some(number) = slow.map(|place| place.number) {
            self.agents.remove(&number);
        }
        self.ring.push(self.seq, Recipient::Agent(client), text);
    }

    /// Fails all pending requests to the page.
    pub fn fail_open_asks(&mut self, message: &str) {
        for ask in self.asks.drain() {
            self.refuse(ask, Refusal::new(Code::ToolExecutionFailed, message));
        }
    }

    /// Answers a request with an error.
    pub fn refuse(&mut self, ask: Ask, refusal: Refusal) {
        let entry = raw(&json!({ "code": refusal.code, "message": refusal.message }));
        if ask.asker.is_logged() && ask.kind.is_answered() {
            let name = Asks::name(ask.number);
            self.log(LogEntry {
                question: Some(&name),
                ..LogEntry::of(Direction::Internal, "error", &entry)
            });
        }
        page_log::refused(self.page(), &ask, &refusal);
        match ask.asker {
            Asker::House { sender, .. } => {
                let _ = sender.send(Err(refusal));
            }
            // Messages have no answer.
            Asker::Agent { .. } if !ask.kind.is_answered() => {}
            Asker::Agent { seat, client, id } => {
                self.seq += 1;
                let text = error_text(&refusal, id.as_deref(), Some(self.seq));
                self.deliver(seat, client, text);
            }
        }
    }

    /// Writes to the log of the open study session, if any.
    pub fn log(&mut self, note: LogEntry<'_>) -> bool {
        let Some(study) = &self.study else {
            return true;
        };
        let written = study.write(note);
        if let Err(error) = &written {
            tracing::error!(%error, study = %study.id(), "cannot write to a study log");
        }
        written.is_ok()
    }

    /// Sends presence to the members that want it.
    pub fn broadcast_presence(&self, but: u64) {
        let text = Envelope {
            v: VERSION,
            r#type: "relay.presence",
            id: None,
            reply_to: None,
            seq: None,
            payload: Presence {
                host: self.has_host(),
                agents: self.agents.len(),
                names: self.agents.values().map(Member::name).collect(),
            },
        }
        .text();
        for place in self.agents.values().chain(&self.host) {
            if place.presence && place.number != but {
                // Can be dropped: the next change sends the full presence again.
                place.put(OutMessage::Text(text.clone()));
            }
        }
    }
}
