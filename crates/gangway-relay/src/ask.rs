//! Questions to a page that are not answered yet.

use std::{collections::HashMap, time::Duration};

use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::Instant};

use super::{FromAgent, FromHost, Refusal, switch::agent_name};

/// What a page answered.
pub type Answer = Result<(FromHost, Box<RawValue>), Refusal>;

/// Questions that may be open in one relay session.
const OPEN: usize = 1000;

/// Those of one asker, and messages to the person that the page may still object to.
const EACH: usize = 64;

/// Who asked.
pub enum Asker {
    /// An agent on a connection: which, what it calls itself, and its name for the question.
    Agent {
        /// Its seat.
        seat: u64,
        /// What it calls itself.
        client: Option<String>,
        /// Its name for the question.
        id: Option<String>,
    },
    /// Somebody in the house.
    House {
        /// Where the answer goes.
        sender: oneshot::Sender<Answer>,
        /// Whether it counts as something that an agent did.
        logged: bool,
    },
}

impl Asker {
    /// What the study log calls it.
    pub fn label(&self) -> String {
        match self {
            Self::Agent { seat, client, .. } => agent_name(client.as_deref(), *seat),
            Self::House { .. } => "gangway".to_owned(),
        }
    }

    /// Whether the study log tells of it.
    pub fn is_logged(&self) -> bool {
        !matches!(self, Self::House { logged: false, .. })
    }
}

/// Whose a question is, those in the house together; messages are counted apart from questions.
type Share = (u64, bool);

fn share(asker: &Asker, kind: FromAgent) -> Share {
    let whose = match asker {
        Asker::Agent { seat, .. } => *seat,
        Asker::House { .. } => 0,
    };
    (whose, !kind.is_answered())
}

/// A question to the page.
pub struct Ask {
    /// Its number.
    pub number: u64,
    /// Who asked.
    pub asker: Asker,
    /// What.
    pub kind: FromAgent,
    patience: Duration,
    until: Instant,
}

impl Ask {
    fn share(&self) -> Share {
        share(&self.asker, self.kind)
    }
}

/// All that are open.
pub struct Asks {
    open: HashMap<u64, Ask>,
    /// How many each has open.
    shares: HashMap<Share, usize>,
    last: u64,
}

impl Asks {
    /// None yet; they are numbered from here on, as no earlier ones were.
    pub fn new(after: u64) -> Self {
        Self {
            open: HashMap::new(),
            shares: HashMap::new(),
            last: after,
        }
    }

    /// Notes a question; its number, or none where too many are open. A message too many takes the place of an older one,
    /// to which nobody objected so far.
    pub fn add(&mut self, asker: Asker, kind: FromAgent, patience: Duration) -> Option<u64> {
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
            patience,
            until: Instant::now() + patience,
        };
        self.open.insert(self.last, ask);
        *self.shares.entry(share).or_default() += 1;
        Some(self.last)
    }

    /// What a question is called towards the page.
    pub fn name(number: u64) -> String {
        format!("r{number}")
    }

    /// Whether nobody has answered it yet.
    pub fn is_open(&self, number: u64) -> bool {
        self.open.contains_key(&number)
    }

    /// The kind of an open question.
    pub fn kind(&self, name: &str) -> Option<FromAgent> {
        Some(self.open.get(&number(name)?)?.kind)
    }

    /// Takes an open question, to answer it.
    pub fn take(&mut self, name: &str) -> Option<Ask> {
        self.remove(number(name)?)
    }

    /// Takes all of them, oldest first.
    pub fn drain(&mut self) -> Vec<Ask> {
        self.shares.clear();
        let mut all: Vec<Ask> = self.open.drain().map(|(_, ask)| ask).collect();
        all.sort_unstable_by_key(|ask| ask.number);
        all
    }

    /// Takes a question back.
    pub fn forget(&mut self, number: u64) {
        self.remove(number);
    }

    /// Those that have waited too long, and how long that was.
    pub fn overdue(&mut self, now: Instant) -> Vec<(Ask, Duration)> {
        let late = self.open.iter().filter(|(_, ask)| ask.until <= now);
        let mut late: Vec<u64> = late.map(|(number, _)| *number).collect();
        late.sort_unstable();
        let taken = late.iter().filter_map(|number| self.remove(*number));
        taken
            .map(|ask| {
                let patience = ask.patience;
                (ask, patience)
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
