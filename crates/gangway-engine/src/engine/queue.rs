//! The engine's request queue, in order of arrival.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::Ordering::SeqCst,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::Instant,
};

use gangway_embedded::Source;
use gangway_models::ModelError;

use super::{Command, Job};
use crate::gauges::Gauges;

/// Whether there may be new requests.
pub(super) enum Wakeup {
    Check,
    /// All senders were dropped.
    Over,
}

/// The queue.
pub(super) struct Queue {
    commands: Receiver<Command>,
    pub waiting: VecDeque<Job>,
    gauges: Arc<Gauges>,
    over: bool,
    #[cfg(test)]
    idle: Vec<tokio::sync::oneshot::Sender<()>>,
}

impl Queue {
    pub fn new(commands: Receiver<Command>, gauges: Arc<Gauges>) -> Self {
        Self {
            commands,
            waiting: VecDeque::new(),
            gauges,
            over: false,
            #[cfg(test)]
            idle: Vec::new(),
        }
    }

    /// Whether the engine must end.
    pub fn is_over(&self) -> bool {
        self.over || self.gauges.closing.load(SeqCst)
    }

    /// Receives pending commands, and drops requests whose readers have left.
    pub fn take(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.note(command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.over = true;
                    break;
                }
            }
        }
        self.waiting.retain(|job| !job.sender.is_closed());
    }

    /// Waits for a command until this deadline.
    pub fn wait(&mut self, until: Option<Instant>) -> Wakeup {
        #[cfg(test)]
        for idle in self.idle.drain(..) {
            let _ = idle.send(());
        }
        if self.is_over() {
            return Wakeup::Over;
        }
        let received = match until {
            Some(until) => self
                .commands
                .recv_timeout(until.saturating_duration_since(self.gauges.now())),
            None => self
                .commands
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(command) => self.note(command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Wakeup::Over,
        }
        Wakeup::Check
    }

    fn note(&mut self, command: Command) {
        match command {
            Command::Chat(job) => self.waiting.push_back(*job),
            Command::Wake => {}
            #[cfg(test)]
            Command::Idle(reply) => self.idle.push(reply),
        }
    }

    /// All queued requests for this file get its current contents.
    pub fn renew(&mut self, source: &Source) {
        for job in self
            .waiting
            .iter_mut()
            .filter(|job| job.source.path == source.path)
        {
            job.source = source.clone();
        }
    }

    /// Whether the next request needs the loaded model. Later requests never overtake one for another model.
    pub fn next_wants(&self, source: &Source) -> Option<bool> {
        self.waiting.front().map(|job| job.source == *source)
    }

    /// Fails all queued requests for this file.
    pub fn fail(&mut self, source: &Source, error: &ModelError) {
        for job in std::mem::take(&mut self.waiting) {
            if job.source.path == source.path {
                job.fail(error.clone());
            } else {
                self.waiting.push_back(job);
            }
        }
    }
}
