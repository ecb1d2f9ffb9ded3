//! The channel to one runner, which outlives its connections, and the turn that reads from it.

use std::sync::Arc;

use gangway_core::{Source, Tool};
use gangway_runner::wire::{ToRunner, TurnEvent};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::page_calls::{CALLS, listed};

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
    /// The number of its connection, if it knows page tools.
    pub connection: Option<u64>,
}

/// A message on its way to the runner.
pub(super) struct Outgoing {
    pub(super) message: ToRunner,
    /// Given back once it is sent.
    _room: Option<OwnedSemaphorePermit>,
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
    /// Room for calls of page tools, up to when their results are sent.
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Inner {
    out: Option<mpsc::Sender<Outgoing>>,
    connection: u64,
    current: Option<CurrentTurn>,
    /// The page tools that the runner knows on its connection of this number.
    listed: Option<(u64, Vec<Arc<Tool>>)>,
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
            room: Arc::new(Semaphore::new(CALLS)),
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
        self.lock().send(message, None)
    }

    /// Room for a call of a page's tool, if there is any.
    pub(super) fn room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    /// Sends the result of a call, unless its connection is lost.
    pub(super) fn send_result(
        &self,
        connection: u64,
        message: ToRunner,
        room: Option<OwnedSemaphorePermit>,
    ) {
        let mut inner = self.lock();
        if inner
            .listed
            .as_ref()
            .is_some_and(|(own, _)| *own == connection)
        {
            inner.send(message, room);
        }
    }

    /// Sends the tools of pages to a runner that knows others.
    pub(super) fn list(&self, tools: Vec<Arc<Tool>>) {
        let mut inner = self.lock();
        let Some((connection, known)) = &mut inner.listed else {
            return;
        };
        if *known == tools {
            return;
        }
        *known = tools;
        let (connection, tools) = (*connection, listed(known));
        inner.send(ToRunner::PageTools { connection, tools }, None);
    }

    /// Whether the runner is connected by this connection, and knows page tools.
    pub(super) fn is_connection(&self, number: u64) -> bool {
        self.status.borrow().connection == Some(number)
    }

    /// Waits until this connection is lost.
    pub(super) async fn lost(&self, connection: u64) {
        let mut status = self.status.subscribe();
        // The sender lives as long as `self`.
        let _ = status
            .wait_for(|status| status.connection != Some(connection))
            .await;
    }

    /// Connects a runner in place of any other, with the messages that bring it up to date. `tools` are those of pages,
    /// for a runner that numbers its connections.
    pub(super) fn connect(
        &self,
        number: Option<u64>,
        tools: Vec<Arc<Tool>>,
        welcome: impl FnOnce(Option<u64>) -> ToRunner,
    ) -> (u64, mpsc::Receiver<Outgoing>) {
        let (out, messages) = mpsc::channel(QUEUED_MESSAGES);
        let mut inner = self.lock();
        let mut first = vec![welcome(inner.current.as_ref().map(|current| current.turn))];
        first.extend(number.map(|connection| ToRunner::PageTools {
            connection,
            tools: listed(&tools),
        }));
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
            let _ = out.try_send(Outgoing {
                message,
                _room: None,
            });
        }
        inner.connection += 1;
        inner.out = Some(out);
        inner.listed = number.map(|number| (number, tools));
        let connection = inner.connection;
        drop(inner);
        self.status.send_modify(|status| {
            status.attached = true;
            status.connection = number;
        });
        (connection, messages)
    }

    /// Ignored if a newer connection has replaced it.
    pub(super) fn disconnect(&self, connection: u64) {
        let mut inner = self.lock();
        if inner.connection == connection {
            inner.out = None;
            inner.listed = None;
            drop(inner);
            self.status.send_modify(|status| {
                status.attached = false;
                status.connection = None;
            });
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

impl Inner {
    /// `false` if the runner is not connected.
    fn send(&mut self, message: ToRunner, room: Option<OwnedSemaphorePermit>) -> bool {
        let outgoing = Outgoing {
            message,
            _room: room,
        };
        let sent = self.out.as_ref().map(|out| out.try_send(outgoing).is_ok());
        if sent == Some(false) {
            // This closes the connection; the runner resynchronizes when it reconnects.
            self.out = None;
        }
        sent == Some(true)
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
