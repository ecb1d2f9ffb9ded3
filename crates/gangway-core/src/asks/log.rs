//! Requests and decisions in the logs of the sessions that they concern.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use jiff::Timestamp;
use parking_lot::Mutex;

use super::{Actor, AskEntry, AskOutcome, Reply};
use crate::{command::Command, event::now, id::SessionId, notes::Notes};

/// Requests of one session that are logged before they are answered: a page that asks all the time must not fill the log.
/// What the user decides is always logged.
const BURST: NonZeroU32 = NonZeroU32::new(100).unwrap();
const PER_MINUTE: NonZeroU32 = NonZeroU32::new(1).unwrap();

/// How long before its timeout a request that is withdrawn counts as timed out: some askers measure it themselves.
const NEARLY: Duration = Duration::from_secs(1);

/// Counted sessions, from which on those that have their full burst again are forgotten.
const COUNTED: usize = 1_000;

pub(super) struct AskLogs {
    notes: Notes,
    rate: DefaultKeyedRateLimiter<SessionId>,
    /// Numbers begin with the clock, so that requests are not confused after a restart.
    since: u64,
}

/// A request that is not over yet.
pub(super) struct AskLog {
    notes: Notes,
    session: SessionId,
    ask: String,
    /// Its beginning, until that is logged.
    opening: Option<AskEntry>,
}

/// The log of a request, until its end is logged.
#[derive(Clone)]
pub(super) struct LogSlot(Arc<Mutex<Option<AskLog>>>);

impl LogSlot {
    pub(super) fn new(log: Option<AskLog>) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    /// Logs an answer; returns when that is written.
    pub(super) async fn close(&self, reply: &Reply) {
        let log = self.0.lock().take();
        if let Some(log) = log {
            log.close(reply.decision.into(), Some(reply.by)).await;
        }
    }

    /// Logs that it is over without an answer.
    pub(super) fn give_up(&self, expires_at: Option<Timestamp>) {
        let is_late = expires_at.is_some_and(|at| at <= Timestamp::now() + NEARLY);
        let outcome = match is_late {
            true => AskOutcome::Expired,
            false => AskOutcome::Withdrawn,
        };
        if let Some(log) = self.0.lock().take() {
            log.give_up(outcome);
        }
    }
}

impl AskLogs {
    pub(super) fn new(notes: Notes) -> Self {
        Self {
            notes,
            rate: RateLimiter::keyed(Quota::per_minute(PER_MINUTE).allow_burst(BURST)),
            since: u64::try_from(now().as_microsecond()).unwrap_or_default(),
        }
    }

    /// Logs that a request was opened.
    pub(super) fn open(&self, session: SessionId, number: u64, opening: AskEntry) -> AskLog {
        if self.rate.len() > COUNTED {
            self.rate.retain_recent();
        }
        let mut log = AskLog {
            notes: self.notes.clone(),
            session,
            ask: format!("a{}", self.since + number),
            opening: Some(opening),
        };
        if self.rate.check_key(&session).is_ok() {
            log.begin();
        }
        log
    }
}

impl AskLog {
    fn begin(&mut self) {
        if let Some(opening) = self.opening.take() {
            self.notes.put(self.session, self.command(opening));
        }
    }

    /// Logs its end; returns when that is written.
    pub(super) async fn close(mut self, outcome: AskOutcome, by: Option<Actor>) {
        if outcome.is_decision() {
            self.begin();
        }
        if self.opening.is_none() {
            let closed = self.command(AskEntry::Closed { outcome, by });
            self.notes.write(self.session, closed).await;
        }
    }

    fn give_up(self, outcome: AskOutcome) {
        if self.opening.is_none() {
            let closed = self.command(AskEntry::Closed { outcome, by: None });
            self.notes.put(self.session, closed);
        }
    }

    fn command(&self, entry: AskEntry) -> Command {
        Command::Ask {
            ask: self.ask.clone(),
            entry: Box::new(entry),
        }
    }
}
