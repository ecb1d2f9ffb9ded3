//! The engine's queue: who waits, in the order in which they came.

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

use super::{Job, Order};
use crate::gauges::Gauges;

/// Whether there may be something new.
pub(super) enum Rest {
    Look,
    /// Nobody can ask any more.
    Over,
}

/// The queue.
pub(super) struct Desk {
    orders: Receiver<Order>,
    pub waiting: VecDeque<Job>,
    gauges: Arc<Gauges>,
    over: bool,
    #[cfg(test)]
    settled: Vec<tokio::sync::oneshot::Sender<()>>,
}

impl Desk {
    pub fn new(orders: Receiver<Order>, gauges: Arc<Gauges>) -> Self {
        Self {
            orders,
            waiting: VecDeque::new(),
            gauges,
            over: false,
            #[cfg(test)]
            settled: Vec::new(),
        }
    }

    /// Whether the engine must end.
    pub fn is_over(&self) -> bool {
        self.over || self.gauges.closing.load(SeqCst)
    }

    /// Takes the orders that are there, and drops those who left.
    pub fn take(&mut self) {
        loop {
            match self.orders.try_recv() {
                Ok(order) => self.note(order),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.over = true;
                    break;
                }
            }
        }
        self.waiting.retain(|job| !job.speaker.is_closed());
    }

    /// Waits for an order, but not beyond this moment.
    pub fn rest(&mut self, until: Option<Instant>) -> Rest {
        #[cfg(test)]
        for settled in self.settled.drain(..) {
            let _ = settled.send(());
        }
        if self.is_over() {
            return Rest::Over;
        }
        let received = match until {
            Some(until) => self
                .orders
                .recv_timeout(until.saturating_duration_since(self.gauges.now())),
            None => self
                .orders
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(order) => self.note(order),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Rest::Over,
        }
        Rest::Look
    }

    fn note(&mut self, order: Order) {
        match order {
            Order::Chat(job) => self.waiting.push_back(*job),
            Order::Wake => {}
            #[cfg(test)]
            Order::Settled(reply) => self.settled.push(reply),
        }
    }

    /// Whoever waits for this file gets what is in it now.
    pub fn renew(&mut self, source: &Source) {
        for job in self
            .waiting
            .iter_mut()
            .filter(|job| job.source.path == source.path)
        {
            job.source = source.clone();
        }
    }

    /// Whether the next one wants what is loaded. Whoever comes after someone with another wish waits for them.
    pub fn next_wants(&self, source: &Source) -> Option<bool> {
        self.waiting.front().map(|job| job.source == *source)
    }

    /// Tells everyone who waits for this file why they get nothing.
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
