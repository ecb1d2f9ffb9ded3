//! A member of a relay session: the messages it sends and receives.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json, value::RawValue};
use tokio::{sync::mpsc, time::Instant};

use super::{
    Code, FromAgent, FromHost, Refusal, RelaySession, Role,
    ask::Asker,
    member::{Member, OutMessage, agent_name},
    message::{raw, with},
    page_log,
    room::CLOSED,
    session::GONE,
    study::{Direction, LogEntry},
};

/// The messages to be sent to a member.
pub struct Inbox {
    pub(super) out: mpsc::Receiver<OutMessage>,
    /// Queued bytes.
    pub(super) queued: Arc<AtomicUsize>,
}

/// Membership in a relay session; ends on drop.
pub struct Seat {
    session: Arc<RelaySession>,
    role: Role,
    number: u64,
}

impl Inbox {
    /// The next message; `None` if the member was removed because it did not keep up.
    pub async fn next(&mut self) -> Option<OutMessage> {
        let next = self.out.recv().await;
        next.inspect(|out| self.count(out))
    }

    /// The next message, if one is queued.
    pub fn next_now(&mut self) -> Option<OutMessage> {
        let next = self.out.try_recv().ok();
        next.inspect(|out| self.count(out))
    }

    fn count(&self, out: &OutMessage) {
        self.queued.fetch_sub(out.len(), Ordering::Relaxed);
    }
}

impl Seat {
    pub(super) fn new(session: Arc<RelaySession>, role: Role, number: u64) -> Self {
        Self {
            session,
            role,
            number,
        }
    }

    #[must_use]
    pub fn session(&self) -> &Arc<RelaySession> {
        &self.session
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// A handle that outlives the connection.
    #[must_use]
    pub fn asker(&self) -> StudyAsker {
        let switch = self.session.lock();
        let member = switch.agents.get(&self.number);
        let unknown = || agent_name(None, self.number);
        StudyAsker {
            session: Arc::clone(&self.session),
            number: self.number,
            client: member.and_then(|member| member.client.clone()),
            name: member.map_or_else(unknown, Member::name),
            identity: member.map_or_else(unknown, Member::identity),
        }
    }

    /// A request or message of an agent.
    pub fn ask(
        &self,
        kind: FromAgent,
        id: Option<&str>,
        payload: &RawValue,
    ) -> Result<(), Refusal> {
        let mut switch = self.session.lock();
        let asker = Asker::Agent {
            seat: self.number,
            client: switch.client(self.number),
            id: id.map(str::to_owned),
        };
        switch.pass_on(asker, kind, payload, self.session.timeout)
    }

    /// Writes a request that the relay itself refused to the study log.
    pub fn note_refusal(&self, kind: &str, refusal: &Refusal) {
        if self.role == Role::Host {
            return;
        }
        let kind: String = kind.chars().take(80).collect();
        let Refusal { code, message } = refusal;
        let text = raw(&json!({ "code": code, "message": message, "of": kind }));
        let mut switch = self.session.lock();
        let asker = Asker::Agent {
            seat: self.number,
            client: switch.client(self.number),
            id: None,
        };
        switch.log(LogEntry {
            agent: Some(&asker.label()),
            ..LogEntry::of(Direction::Internal, "error", &text)
        });
    }

    /// An answer or message of the page.
    pub fn send(
        &self,
        kind: FromHost,
        reply_to: Option<&str>,
        payload: &RawValue,
    ) -> Result<(), Refusal> {
        let other_tools = match (kind, reply_to) {
            // Before the lock: another page may be one of the relay.
            (FromHost::SnapshotState, Some(_)) => self.other_tools(),
            _ => None,
        };
        let mut switch = self.session.lock();
        if switch.host.as_ref().map(|host| host.number) != Some(self.number) {
            let message = "another page replaced this one";
            return Err(Refusal::new(Code::SessionNotActive, message));
        }
        let Some(name) = reply_to else {
            switch.broadcast_from_host(kind, payload)?;
            let changed = kind == FromHost::StateUpdated && switch.take_offer(payload);
            drop(switch);
            if changed {
                self.session.tools_changed();
            }
            return Ok(());
        };
        let shown: String = name.chars().take(80).collect();
        let invalid = |message: String| Err(Refusal::new(Code::InvalidMessage, message));
        let Some(asked) = switch.asks.kind(name) else {
            return invalid(format!("replyTo {shown:?} is not a pending request"));
        };
        let fits = asked.is_answered_by(kind);
        // A state update or a message is not an answer, and the answer may still come.
        if !fits && matches!(kind, FromHost::StateUpdated | FromHost::UserMessage) {
            return invalid(format!("{} must not have replyTo", kind.name()));
        }
        let Some(ask) = switch.asks.take(name) else {
            return invalid(format!("replyTo {shown:?} is not a pending request"));
        };
        if !fits {
            let (asked, kind) = (asked.name(), kind.name());
            let message = format!("the page answered {asked} with {kind}");
            switch.refuse(ask, Refusal::new(Code::ToolExecutionFailed, message));
            return invalid(format!("{kind} is not an answer to {asked} {shown:?}"));
        }
        if ask.asker.is_logged() {
            switch.log(LogEntry {
                question: Some(name),
                ..LogEntry::of(Direction::Out, kind.name(), payload)
            });
        }
        page_log::answered(switch.page(), &ask, kind, payload);
        match ask.asker {
            Asker::House { sender, .. } => {
                let _ = sender.send(Ok((kind, payload.to_owned())));
            }
            Asker::Agent { seat, client, id } => {
                let more = other_tools.map(|tools| with(payload, [("otherTools", tools)]));
                let payload = more.as_deref().unwrap_or(payload);
                switch.send_to(seat, client, kind, id.as_deref(), payload);
            }
        }
        Ok(())
    }
}

impl Seat {
    /// The tools of the other pages of the page's chat, if it belongs to one.
    fn other_tools(&self) -> Option<Value> {
        let page = self.session.page()?;
        page.session()?;
        self.session.others.listed(&page)
    }

    /// The client closed its connection: a page that did so answers nothing any more.
    pub fn close(&self) {
        let mut switch = self.session.lock();
        if switch.host.as_ref().map(|host| host.number) == Some(self.number) {
            switch.fail_open_asks(CLOSED);
            switch.flush_log();
            switch.host = None;
        }
    }
}

/// An agent whose request completes even if the agent disconnects.
pub struct StudyAsker {
    session: Arc<RelaySession>,
    number: u64,
    client: Option<String>,
    name: String,
    identity: String,
}

impl StudyAsker {
    #[must_use]
    pub fn session(&self) -> &Arc<RelaySession> {
        &self.session
    }

    /// The agent's name in logs.
    pub(crate) fn label(&self) -> &str {
        &self.name
    }

    /// What the person's decisions about it are kept under.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// Answers this agent's request.
    pub fn answer(&self, kind: FromHost, reply_to: Option<&str>, payload: &RawValue) {
        let client = self.client.clone();
        let mut switch = self.session.lock();
        switch.send_to(self.number, client, kind, reply_to, payload);
    }

    /// Sends a message to every other agent.
    pub fn broadcast_to_others(&self, kind: FromHost, payload: &RawValue) {
        let mut switch = self.session.lock();
        switch.broadcast(kind.name(), payload, Some(self.number));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut switch = self.session.lock();
        match self.role {
            Role::Agent => {
                if let Some(agent) = switch.agents.remove(&self.number) {
                    let role = json!({ "role": self.role });
                    let name = agent.name();
                    self.session.note(&switch, GONE, &role, Some(name));
                }
                switch.heard.notify_waiters();
            }
            // Another page may have replaced this one.
            Role::Host => {
                switch.flush_log();
                if switch
                    .host
                    .take_if(|host| host.number == self.number)
                    .is_some()
                {
                    switch.host_lost = Some(Instant::now());
                }
            }
        }
        if switch.host.is_none() && switch.agents.is_empty() {
            switch.empty_since = Some(Instant::now());
        }
        let message = raw(&json!({ "role": self.role }));
        switch.log(LogEntry::of(Direction::Internal, "relay.left", &message));
        switch.broadcast_presence(0);
    }
}
