//! The line to one runner: what is said to it wherever it is connected, and the turn that listens to it.

use gangway_core::Source;
use gangway_runner::wire::{ToRunner, What};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Lines that wait for one runner; one that does not take them is cut off, and catches up when it is back.
const WAITING: usize = 512;

/// Answers of one turn that a runner is told again when it comes back.
const ANSWERS: usize = 256;

/// What a turn may have unread of its runner.
const UNREAD: usize = 256;

/// What can be seen of a runner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Whether it is connected.
    pub attached: bool,
    /// Whether it was ready once.
    pub ready: bool,
    /// Why it will never be.
    pub broken: Option<String>,
    /// The last message that it has.
    pub taken: Option<u64>,
}

/// What came of something that a runner said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    /// Its turn has it.
    Taken,
    /// Its turn is over, and another one runs.
    Over,
    /// No turn listens; one may be about to end, or to begin again.
    NoTurn,
    /// The runner has come in anew, and says it there.
    Late,
}

/// The line to one runner.
pub struct Line {
    inner: Mutex<Inner>,
    seen: watch::Sender<Seen>,
    /// Once the server stops, turns that end are only left.
    stop: CancellationToken,
}

#[derive(Default)]
struct Inner {
    out: Option<mpsc::Sender<ToRunner>>,
    connection: u64,
    desk: Option<Desk>,
}

/// The turn that runs.
struct Desk {
    turn: u64,
    text: String,
    source: Source,
    answers: Vec<(u32, String)>,
    inbox: mpsc::Sender<(u64, What)>,
}

impl Line {
    /// A line that nobody is on.
    #[must_use]
    pub fn new(stop: CancellationToken) -> Self {
        Self {
            inner: Mutex::default(),
            seen: watch::Sender::default(),
            stop,
        }
    }

    /// What can be seen of the runner, now and later.
    #[must_use]
    pub fn seen(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    /// Whether a turn listens.
    #[must_use]
    pub fn has_turn(&self) -> bool {
        self.lock().desk.is_some()
    }

    /// Says something to the runner, if it is there.
    pub fn send(&self, line: ToRunner) -> bool {
        let mut inner = self.lock();
        let sent = inner.out.as_ref().map(|out| out.try_send(line).is_ok());
        if sent == Some(false) {
            // Its connection ends with this, and it is told everything anew.
            inner.out = None;
        }
        sent == Some(true)
    }

    /// Puts a runner on the line, in place of any other, with what it must know first.
    pub(super) fn connect(
        &self,
        welcome: impl FnOnce(Option<u64>) -> ToRunner,
    ) -> (u64, mpsc::Receiver<ToRunner>) {
        let (out, lines) = mpsc::channel(WAITING);
        let mut inner = self.lock();
        let mut first = vec![welcome(inner.desk.as_ref().map(|desk| desk.turn))];
        if let Some(desk) = &inner.desk {
            first.push(ToRunner::Prompt {
                turn: desk.turn,
                text: desk.text.clone(),
                source: desk.source.clone(),
            });
            first.extend(
                desk.answers
                    .iter()
                    .map(|(question, text)| ToRunner::Answer {
                        turn: desk.turn,
                        question: *question,
                        text: text.clone(),
                    }),
            );
        }
        for line in first {
            // There is room: the channel is new, and what comes first is bounded.
            let _ = out.try_send(line);
        }
        inner.connection += 1;
        inner.out = Some(out);
        let connection = inner.connection;
        drop(inner);
        self.seen.send_modify(|seen| seen.attached = true);
        (connection, lines)
    }

    /// The connection is gone, unless a newer one took its place.
    pub(super) fn disconnect(&self, connection: u64) {
        let mut inner = self.lock();
        if inner.connection == connection {
            inner.out = None;
            drop(inner);
            self.seen.send_modify(|seen| seen.attached = false);
        }
    }

    pub(super) fn ready(&self) {
        self.seen.send_modify(|seen| seen.ready = true);
    }

    pub(super) fn broken(&self, message: String) {
        self.seen.send_modify(|seen| seen.broken = Some(message));
    }

    /// Hands what was said to its turn.
    pub(super) async fn deliver(
        &self,
        connection: u64,
        n: u64,
        turn: u64,
        what: What,
    ) -> Delivered {
        let inbox = {
            let inner = self.lock();
            match &inner.desk {
                _ if inner.connection != connection => return Delivered::Late,
                Some(desk) if desk.turn == turn => desk.inbox.clone(),
                Some(_) => return Delivered::Over,
                None => return Delivered::NoTurn,
            }
        };
        if what == What::Taken {
            self.seen.send_modify(|seen| seen.taken = Some(turn));
        }
        match inbox.send((n, what)).await {
            Ok(()) => Delivered::Taken,
            Err(_) => Delivered::NoTurn,
        }
    }

    /// Makes a turn the one that listens, and tells the runner of it.
    pub(super) fn sit(
        &self,
        turn: u64,
        text: &str,
        source: &Source,
        answers: Vec<(u32, String)>,
    ) -> Seat<'_> {
        let (inbox, said) = mpsc::channel(UNREAD);
        // The newest: older ones it has long since.
        let old = answers.len().saturating_sub(ANSWERS);
        let answers = answers.into_iter().skip(old).collect();
        self.lock().desk = Some(Desk {
            turn,
            text: text.to_owned(),
            source: source.clone(),
            answers,
            inbox,
        });
        self.send(ToRunner::Prompt {
            turn,
            text: text.to_owned(),
            source: source.clone(),
        });
        // Whoever waits for a turn to listen looks again.
        self.seen.send_modify(|_| {});
        Seat {
            line: self,
            turn,
            said,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

/// A turn that listens; the runner is told to stop when it is dropped before its end.
pub(super) struct Seat<'a> {
    line: &'a Line,
    turn: u64,
    said: mpsc::Receiver<(u64, What)>,
}

impl Seat<'_> {
    pub(super) async fn next(&mut self) -> Option<(u64, What)> {
        self.said.recv().await
    }

    pub(super) fn try_next(&mut self) -> Option<(u64, What)> {
        self.said.try_recv().ok()
    }

    /// Up to this number everything is kept.
    pub(super) fn heard(&self, n: u64) {
        self.line.send(ToRunner::Heard { n });
    }

    pub(super) fn answered(&self, question: u32, text: String) {
        let turn = self.turn;
        if let Some(desk) = &mut self.line.lock().desk {
            if desk.answers.len() >= ANSWERS {
                desk.answers.remove(0);
            }
            desk.answers.push((question, text.clone()));
        }
        self.line.send(ToRunner::Answer {
            turn,
            question,
            text,
        });
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        // Another turn may sit there by now.
        let own = |desk: &mut Desk| desk.turn == self.turn;
        self.line.lock().desk.take_if(own);
        // To a runner that is through with the turn this says nothing.
        if !self.line.stop.is_cancelled() {
            self.line.send(ToRunner::Stop { turn: self.turn });
        }
    }
}
