//! Who gets what in a relay session: places, numbers, what is kept, what is logged.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::extract::ws::Utf8Bytes;
use gangway_core::SessionId;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::{sync::mpsc, time::Instant};

use super::{
    Code, FromAgent, FromHost, Refusal, VERSION, Whose,
    ask::{Ask, Asker, Asks},
    message::{Envelope, Presence, error_text, raw},
    ring::{For, Ring},
    study::{Direction, Note, StudyLog},
};

/// Bytes that wait for one connection, beside one message of any size.
const WAITING_BYTES: usize = 4 << 20;

/// What a page objects to in a message of an agent is passed on for this long; nobody waits for it.
const OBJECTION: Duration = Duration::from_secs(5);

/// What a message of a page says of its tools.
#[derive(Deserialize)]
struct Tools<'a> {
    #[serde(rename = "toolSchema", borrow)]
    schema: Option<&'a RawValue>,
}

/// What is sent to a connection.
#[derive(Debug, Clone)]
pub enum Out {
    /// A message.
    Text(Utf8Bytes),
    /// A last message: another page took this one's place.
    Last(Utf8Bytes),
}

impl Out {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) | Self::Last(text) => text.len(),
        }
    }
}

/// Somebody who has joined.
pub struct Place {
    pub number: u64,
    pub out: mpsc::Sender<Out>,
    /// Bytes that wait.
    pub queued: Arc<AtomicUsize>,
    pub client: Option<String>,
    pub presence: bool,
    pub whose: Whose,
    pub chat: Option<SessionId>,
    /// What the page offered when it was last asked.
    pub offer: Option<Arc<RawValue>>,
}

impl Place {
    /// Whether it was taken. One that does not keep up loses its place, and with it its connection; it resumes by number.
    pub fn put(&self, out: Out) -> bool {
        if self.is_behind() {
            return false;
        }
        let size = out.len();
        self.queued.fetch_add(size, Ordering::Relaxed);
        let taken = self.out.try_send(out).is_ok();
        if !taken {
            self.queued.fetch_sub(size, Ordering::Relaxed);
        }
        taken
    }

    /// Its `clientId`, or a number where it gave none.
    pub fn name(&self) -> String {
        agent_name(self.client.as_deref(), self.number)
    }

    /// Whether too much waits for it already.
    pub fn is_behind(&self) -> bool {
        self.queued.load(Ordering::Relaxed) > WAITING_BYTES || self.out.capacity() == 0
    }
}

/// What an agent is called in presence messages and study logs.
pub fn agent_name(client: Option<&str>, seat: u64) -> String {
    client.map_or_else(|| format!("agent-{seat}"), str::to_owned)
}

/// The inside of a relay session.
pub struct Switch {
    pub host: Option<Place>,
    /// The `clientId` of the page that joined last, which may come back and go on.
    pub last_host: Option<String>,
    pub agents: BTreeMap<u64, Place>,
    pub seats: u64,
    pub seq: u64,
    pub ring: Ring,
    pub asks: Asks,
    pub study: Option<Arc<StudyLog>>,
    pub empty_since: Option<Instant>,
}

impl Switch {
    pub fn new(study: Option<Arc<StudyLog>>) -> Self {
        // Numbers go on where an earlier life of this session cannot have been: what was seen in it is never taken for
        // something of this one.
        let now = gangway_core::event::now().as_microsecond();
        let seq = u64::try_from(now).unwrap_or_default();
        Self {
            host: None,
            last_host: None,
            agents: BTreeMap::new(),
            seats: 0,
            seq,
            ring: Ring::after_number(seq),
            asks: Asks::new(seq),
            study,
            empty_since: Some(Instant::now()),
        }
    }

    /// What the holder of a place calls itself.
    pub fn client(&self, seat: u64) -> Option<String> {
        self.agents.get(&seat)?.client.clone()
    }

    /// Puts a question to the page.
    pub fn pass_on(
        &mut self,
        asker: Asker,
        kind: FromAgent,
        payload: &RawValue,
        patience: Duration,
    ) -> Result<(), Refusal> {
        let failed = |words: &str| Err(Refusal::new(Code::ToolExecutionFailed, words));
        let Some(host) = &self.host else {
            let words = "no page has joined this session; open it, and try again";
            return Err(Refusal::new(Code::SessionNotActive, words));
        };
        if host.is_behind() {
            return failed("the page does not keep up with what it is asked; ask more slowly");
        }
        let logged = asker.is_logged() && self.study.is_some();
        let agent = logged.then(|| asker.label());
        let patience = match kind.is_answered() {
            true => patience,
            false => OBJECTION.min(patience),
        };
        let Some(number) = self.asks.add(asker, kind, patience) else {
            return failed("too much that was asked is not answered yet; wait for the answers");
        };
        let name = Asks::name(number);
        let note = Note {
            question: Some(&name),
            agent: agent.as_deref(),
            ..Note::of(Direction::In, kind.name(), payload)
        };
        let noted = !logged || self.note(note);
        // A study that can no longer be written down can still be ended.
        if !noted && kind != FromAgent::SessionEnd {
            self.asks.forget(number);
            return failed("the study log cannot be written; look at the server's log");
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
        // A page that comes back too late must not do what was given up meanwhile; what it was told it is told again.
        let question = kind.is_answered().then_some(number);
        self.ring.push(self.seq, For::Host(question), text.clone());
        self.host.take_if(|host| !host.put(Out::Text(text)));
        Ok(())
    }

    /// The page tells something that nobody asked.
    pub fn tell_all(&mut self, kind: FromHost, payload: &RawValue) -> Result<(), Refusal> {
        // That a study session has ended, the relay tells: it has ended when its log is on the disk.
        if !matches!(kind, FromHost::StateUpdated | FromHost::UserMessage) {
            let words = format!("{} needs replyTo", kind.name());
            return Err(Refusal::new(Code::InvalidMessage, words));
        }
        self.note(Note::of(Direction::Out, kind.name(), payload));
        self.broadcast(kind.name(), payload, None);
        Ok(())
    }

    /// Keeps what an update says of the page's tools; whether they are others than before.
    pub fn take_offer(&mut self, update: &RawValue) -> bool {
        // Most updates say nothing of tools, and are not parsed.
        if !update.get().contains("\"toolSchema\"") {
            return false;
        }
        let schema = |said: &RawValue| {
            let tools: Tools<'_> = serde_json::from_str(said.get()).ok()?;
            tools.schema.map(|schema| schema.get().to_owned())
        };
        let (Some(new), Some(host)) = (schema(update), &mut self.host) else {
            return false;
        };
        let same = host.offer.as_ref().and_then(|offer| schema(offer)) == Some(new);
        if !same {
            host.offer = Some(Arc::from(update.to_owned()));
        }
        !same
    }

    /// Tells every agent, or every one but one.
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
        let whom = match but.and_then(|seat| self.client(seat)) {
            Some(client) => For::AllBut(client),
            None => For::Agents,
        };
        self.ring.push(self.seq, whom, text.clone());
        self.agents
            .retain(|number, agent| Some(*number) == but || agent.put(Out::Text(text.clone())));
    }

    /// Tells one agent.
    pub fn tell_one(
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
        // Whoever is back under the same name is there now, even where the old connection does not know yet that it is dead.
        let same = |place: &&Place| client.is_some() && place.client == client;
        let newest = self.agents.values().rev().find(same);
        let place = newest.or_else(|| self.agents.get(&seat));
        let slow = place.filter(|place| !place.put(Out::Text(text.clone())));
        if let Some(number) = slow.map(|place| place.number) {
            self.agents.remove(&number);
        }
        self.ring.push(self.seq, For::Agent(client), text);
    }

    /// Fails everything that the page was asked and has not answered.
    pub fn fail_open_asks(&mut self) {
        for ask in self.asks.drain() {
            let words = "the page was reloaded or replaced before it answered; look at it anew";
            self.refuse(ask, Refusal::new(Code::ToolExecutionFailed, words));
        }
    }

    /// Tells whoever asked that it comes to nothing.
    pub fn refuse(&mut self, ask: Ask, refusal: Refusal) {
        let said = raw(&json!({ "code": refusal.code, "message": refusal.message }));
        if ask.asker.is_logged() && ask.kind.is_answered() {
            let name = Asks::name(ask.number);
            self.note(Note {
                question: Some(&name),
                ..Note::of(Direction::Internal, "error", &said)
            });
        }
        match ask.asker {
            Asker::House { sender, .. } => {
                let _ = sender.send(Err(refusal));
            }
            // Nobody waits for an answer to a message.
            Asker::Agent { .. } if !ask.kind.is_answered() => {}
            Asker::Agent { seat, client, id } => {
                self.seq += 1;
                let text = error_text(&refusal, id.as_deref(), Some(self.seq));
                self.deliver(seat, client, text);
            }
        }
    }

    /// Writes a line of the study log, where a study session is open.
    pub fn note(&mut self, note: Note<'_>) -> bool {
        let Some(study) = &self.study else {
            return true;
        };
        let written = study.write(note);
        if let Err(error) = &written {
            tracing::error!(%error, study = %study.id(), "a line of a study log could not be written");
        }
        written.is_ok()
    }

    /// Tells those who want to hear it who is here.
    pub fn tell_presence(&self, but: u64) {
        let text = Envelope {
            v: VERSION,
            r#type: "relay.presence",
            id: None,
            reply_to: None,
            seq: None,
            payload: Presence {
                host: self.host.is_some(),
                agents: self.agents.len(),
                names: self.agents.values().map(Place::name).collect(),
            },
        }
        .text();
        for place in self.agents.values().chain(&self.host) {
            if place.presence && place.number != but {
                // It says nothing that is not told again with the next change.
                place.put(Out::Text(text.clone()));
            }
        }
    }
}
