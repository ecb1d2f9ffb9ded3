//! The channel to one runner, which outlives its connections, and the turn that reads from it.

use gangway_core::Source;
use gangway_runner::wire::{ToRunner, TurnEvent};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Messages queued for one runner; a slower one is disconnected, and catches up when it reconnects.
const QUEUED_MESSAGES: usize = 512;

/// Answers of one turn that are repeated to a runner that reconnects.
const ANSWERS: usize = 256;

/// Events of a runner that its turn has not read yet.
const UNREAD_EVENTS: usize = 256;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunnerStatus {
    pub attached: bool,
    /// Whether it was ready once.
    pub ready: bool,
    /// Why it will never be ready.
    pub broken: Option<String>,
    /// The last message that it received.
    pub taken: Option<u64>,
}

/// What happened to a runner's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    Taken,
    /// Its turn is over, and another one runs.
    Over,
    /// No turn runs; one may be about to end or to resume.
    NoTurn,
    /// The runner has reconnected and repeats it there.
    Late,
}

pub struct RunnerChannel {
    inner: Mutex<Inner>,
    status: watch::Sender<RunnerStatus>,
    /// When the server stops, runners do not stop their turns: they continue without it.
    stop: CancellationToken,
}

#[derive(Default)]
struct Inner {
    out: Option<mpsc::Sender<ToRunner>>,
    connection: u64,
    current: Option<CurrentTurn>,
}

struct CurrentTurn {
    turn: u64,
    text: String,
    source: Source,
    answers: Vec<(u32, String)>,
    inbox: mpsc::Sender<(u64, TurnEvent)>,
}

impl RunnerChannel {
    #[must_use]
    pub fn new(stop: CancellationToken) -> Self {
        Self {
            inner: Mutex::default(),
            status: watch::Sender::default(),
            stop,
        }
    }

    #[must_use]
    pub fn status(&self) -> watch::Receiver<RunnerStatus> {
        self.status.subscribe()
    }

    /// Whether a turn reads from it.
    #[must_use]
    pub fn has_turn(&self) -> bool {
        self.lock().current.is_some()
    }

    /// Sends a message to the runner; `false` if it is not connected.
    pub fn send(&self, message: ToRunner) -> bool {
        let mut inner = self.lock();
        let sent = inner.out.as_ref().map(|out| out.try_send(message).is_ok());
        if sent == Some(false) {
            // This closes the connection; the runner resynchronizes when it reconnects.
            inner.out = None;
        }
        sent == Some(true)
    }

    /// Connects a runner in place of any other, with the messages that bring it up to date.
    pub(super) fn connect(
        &self,
        welcome: impl FnOnce(Option<u64>) -> ToRunner,
    ) -> (u64, mpsc::Receiver<ToRunner>) {
        let (out, messages) = mpsc::channel(QUEUED_MESSAGES);
        let mut inner = self.lock();
        let mut first = vec![welcome(inner.current.as_ref().map(|current| current.turn))];
        if let Some(current) = &inner.current {
            first.push(ToRunner::Prompt {
                turn: current.turn,
                text: current.text.clone(),
                source: current.source.clone(),
            });
            first.extend(
                current
                    .answers
                    .iter()
                    .map(|(question, text)| ToRunner::Answer {
                        turn: current.turn,
                        question: *question,
                        text: text.clone(),
                    }),
            );
        }
        for message in first {
            // Cannot fail: the queue is new, and these messages are bounded.
            let _ = out.try_send(message);
        }
        inner.connection += 1;
        inner.out = Some(out);
        let connection = inner.connection;
        drop(inner);
        self.status.send_modify(|status| status.attached = true);
        (connection, messages)
    }

    /// Ignored if a newer connection has replaced it.
    pub(super) fn disconnect(&self, connection: u64) {
        let mut inner = self.lock();
        if inner.connection == connection {
            inner.out = None;
            drop(inner);
            self.status.send_modify(|status| status.attached = false);
        }
    }

    pub(super) fn ready(&self) {
        self.status.send_modify(|status| status.ready = true);
    }

    pub(super) fn broken(&self, message: String) {
        self.status
            .send_modify(|status| status.broken = Some(message));
    }

    /// Passes an event to its turn.
    pub(super) async fn deliver(
        &self,
        connection: u64,
        n: u64,
        turn: u64,
        what: TurnEvent,
    ) -> Delivered {
        let inbox = {
            let inner = self.lock();
            match &inner.current {
                _ if inner.connection != connection => return Delivered::Late,
                Some(current) if current.turn == turn => current.inbox.clone(),
                Some(_) => return Delivered::Over,
                None => return Delivered::NoTurn,
            }
        };
        if what == TurnEvent::Taken {
            self.status.send_modify(|status| status.taken = Some(turn));
        }
        match inbox.send((n, what)).await {
            Ok(()) => Delivered::Taken,
            Err(_) => Delivered::NoTurn,
        }
    }

    /// Makes this the current turn, and sends its message to the runner.
    pub(super) fn begin_turn(
        &self,
        turn: u64,
        text: &str,
        source: &Source,
        answers: Vec<(u32, String)>,
    ) -> TurnChannel<'_> {
        let (inbox, events) = mpsc::channel(UNREAD_EVENTS);
        // The newest: the runner has the older ones.
        let old = answers.len().saturating_sub(ANSWERS);
        let answers = answers.into_iter().skip(old).collect();
        self.lock().current = Some(CurrentTurn {
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
        // Wakes tasks that wait for a turn.
        self.status.send_modify(|_| {});
        TurnChannel {
            channel: self,
            turn,
            events,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

/// The current turn's end of the channel; dropped early, it stops the runner's turn.
pub(super) struct TurnChannel<'a> {
    channel: &'a RunnerChannel,
    turn: u64,
    events: mpsc::Receiver<(u64, TurnEvent)>,
}

impl TurnChannel<'_> {
    pub(super) async fn next(&mut self) -> Option<(u64, TurnEvent)> {
        self.events.recv().await
    }

    pub(super) fn try_next(&mut self) -> Option<(u64, TurnEvent)> {
        self.events.try_recv().ok()
    }

    /// Acknowledges all events up to this number.
    pub(super) fn ack(&self, n: u64) {
        self.channel.send(ToRunner::Heard { n });
    }

    pub(super) fn answered(&self, question: u32, text: String) {
        let turn = self.turn;
        if let Some(current) = &mut self.channel.lock().current {
            if current.answers.len() >= ANSWERS {
                current.answers.remove(0);
            }
            current.answers.push((question, text.clone()));
        }
        self.channel.send(ToRunner::Answer {
            turn,
            question,
            text,
        });
    }
}

impl Drop for TurnChannel<'_> {
    fn drop(&mut self) {
        // Another turn may be the current one by now.
        let own = |current: &mut CurrentTurn| current.turn == self.turn;
        self.channel.lock().current.take_if(own);
        // A runner that has finished the turn ignores this.
        if !self.channel.stop.is_cancelled() {
            self.channel.send(ToRunner::Stop { turn: self.turn });
        }
    }
}
