//! Pending requests to a page.

use std::{collections::HashMap, time::Duration};

use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::Instant};

use super::{FromAgent, FromHost, Refusal, member::agent_name};

pub type Answer = Result<(FromHost, Box<RawValue>), Refusal>;

/// Pending requests per relay session.
const OPEN: usize = 1000;

/// Pending requests per requester; counted separately for messages to the person, to which the page may still object.
const EACH: usize = 64;

pub enum Asker {
    /// An agent's connection.
    Agent {
        seat: u64,
        /// Its `clientId`.
        client: Option<String>,
        /// Its request id.
        id: Option<String>,
    },
    /// The server itself.
    House {
        sender: oneshot::Sender<Answer>,
        /// Whether it counts as an action of an agent.
        logged: bool,
    },
}

impl Asker {
    /// The agent's name in the study log.
    pub fn label(&self) -> String {
        match self {
            Self::Agent { seat, client, .. } => agent_name(client.as_deref(), *seat),
            Self::House { .. } => "gangway".to_owned(),
        }
    }

    /// Whether it is written to the study log.
    pub fn is_logged(&self) -> bool {
        !matches!(self, Self::House { logged: false, .. })
    }
}

/// Requester (the server itself is one) and whether it is a message; limits are per share.
type Share = (u64, bool);

fn share(asker: &Asker, kind: FromAgent) -> Share {
    let whose = match asker {
        Asker::Agent { seat, .. } => *seat,
        Asker::House { .. } => 0,
    };
    (whose, !kind.is_answered())
}

/// A pending request.
pub struct Ask {
    pub number: u64,
    pub asker: Asker,
    pub kind: FromAgent,
    /// Whether it is a call of an agent that is in the log of a session.
    pub is_in_log: bool,
    timeout: Duration,
    until: Instant,
}

impl Ask {
    fn share(&self) -> Share {
        share(&self.asker, self.kind)
    }
}

pub struct Asks {
    open: HashMap<u64, Ask>,
    /// Number of pending requests per share.
    shares: HashMap<Share, usize>,
    last: u64,
}

impl Asks {
    /// Numbers start after this one, which no earlier request reached.
    pub fn new(after: u64) -> Self {
        Self {
            open: HashMap::new(),
            shares: HashMap::new(),
            last: after,
        }
    }

    /// Adds a request and returns its number, or `None` if too many are pending. A message above the limit replaces
    /// the oldest one.
    pub fn add(&mut self, asker: Asker, kind: FromAgent, timeout: Duration) -> Option<u64> {
        let share = share(&asker, kind);
        if self.shares.get(&share).is_some_and(|open| *open >= EACH) {
            if kind.is_answered() {
                return None;
            }
            let mine = self.open.iter().filter(|(_, ask)| ask.share() == share);
            let oldest = mine.map(|(number, _)| *number).min();
            oldest.and_then(|oldest| self.remove(oldest));
        }
        if self.open.len() >= OPEN {
            return None;
        }
        self.last += 1;
        let ask = Ask {
            number: self.last,
            asker,
            kind,
            is_in_log: false,
            timeout,
            until: Instant::now() + timeout,
        };
        self.open.insert(self.last, ask);
        *self.shares.entry(share).or_default() += 1;
        Some(self.last)
    }

    /// The request id that the page gets.
    pub fn name(number: u64) -> String {
        format!("r{number}")
    }

    pub fn get(&self, number: u64) -> Option<&Ask> {
        self.open.get(&number)
    }

    /// The request is in the log of a session, as its answer will be.
    pub fn set_in_log(&mut self, number: u64) {
        if let Some(ask) = self.open.get_mut(&number) {
            ask.is_in_log = true;
        }
    }

    pub fn is_open(&self, number: u64) -> bool {
        self.open.contains_key(&number)
    }

    pub fn kind(&self, name: &str) -> Option<FromAgent> {
        Some(self.open.get(&number(name)?)?.kind)
    }

    /// Removes a pending request, to answer it.
    pub fn take(&mut self, name: &str) -> Option<Ask> {
        self.remove(number(name)?)
    }

    /// Removes all, oldest first.
    pub fn drain(&mut self) -> Vec<Ask> {
        self.shares.clear();
        let mut all: Vec<Ask> = self.open.drain().map(|(_, ask)| ask).collect();
        all.sort_unstable_by_key(|ask| ask.number);
        all
    }

    pub fn forget(&mut self, number: u64) {
        self.remove(number);
    }

    /// Removes the requests that timed out, with their timeouts.
    pub fn overdue(&mut self, now: Instant) -> Vec<(Ask, Duration)> {
        let late = self.open.iter().filter(|(_, ask)| ask.until <= now);
        let mut late: Vec<u64> = late.map(|(number, _)| *number).collect();
        late.sort_unstable();
        let taken = late.iter().filter_map(|number| self.remove(*number));
        taken
            .map(|ask| {
                let timeout = ask.timeout;
                (ask, timeout)
            })
            .collect()
    }

    fn remove(&mut self, number: u64) -> Option<Ask> {
        let ask = self.open.remove(&number)?;
        let share = ask.share();
        if let Some(open) = self.shares.get_mut(&share) {
            *open -= 1;
            if *open == 0 {
                self.shares.remove(&share);
            }
        }
        Some(ask)
    }
}

fn number(name: &str) -> Option<u64> {
    name.strip_prefix('r')?.parse().ok()
}
