//! Limits concurrent and waiting calls per caller.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// One queue per caller.
#[derive(Debug)]
pub(crate) struct Lanes<C> {
    lanes: Arc<Mutex<HashMap<C, Lane>>>,
    at_once: usize,
    waiting: usize,
}

#[derive(Debug)]
struct Lane {
    turns: Arc<Semaphore>,
    /// Calls that run or wait. A lane without any is dropped.
    inside: usize,
}

/// A slot; dropping it lets the next call run.
pub(crate) struct LanePermit<C: Eq + Hash> {
    permit: Option<OwnedSemaphorePermit>,
    turns: Arc<Semaphore>,
    _place: LaneTicket<C>,
}

impl<C: Eq + Hash> LanePermit<C> {
    /// Lets the next call run while this one waits for the user. It still counts as waiting.
    pub(crate) fn pause(&mut self) {
        self.permit = None;
    }

    pub(crate) async fn resume(&mut self) {
        if self.permit.is_none() {
            // The semaphore is never closed.
            self.permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        }
    }
}

/// A place in the queue, released on drop, also when the caller stops waiting.
struct LaneTicket<C: Eq + Hash> {
    lanes: Arc<Mutex<HashMap<C, Lane>>>,
    caller: C,
}

impl<C: Eq + Hash> Drop for LaneTicket<C> {
    fn drop(&mut self) {
        let mut lanes = self.lanes.lock();
        if let Some(lane) = lanes.get_mut(&self.caller) {
            lane.inside -= 1;
            if lane.inside == 0 {
                lanes.remove(&self.caller);
            }
        }
    }
}

impl<C: Eq + Hash + Clone> Lanes<C> {
    pub(crate) fn new(at_once: usize, waiting: usize) -> Self {
        Self {
            lanes: Arc::default(),
            at_once: at_once.max(1),
            waiting,
        }
    }

    /// Waits for a slot; `None` when too many wait already.
    pub(crate) async fn turn(&self, caller: C) -> Option<LanePermit<C>> {
        let (turns, place) = {
            let mut lanes = self.lanes.lock();
            let lane = lanes.entry(caller.clone()).or_insert_with(|| Lane {
                turns: Arc::new(Semaphore::new(self.at_once)),
                inside: 0,
            });
            if lane.inside >= self.at_once + self.waiting {
                return None;
            }
            lane.inside += 1;
            let place = LaneTicket {
                lanes: self.lanes.clone(),
                caller,
            };
            (lane.turns.clone(), place)
        };
        let mut turn = LanePermit {
            permit: None,
            turns,
            _place: place,
        };
        turn.resume().await;
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn two_run_one_waits_a_fourth_is_refused_and_others_are_not_held_up() {
        let lanes = Lanes::new(2, 1);
        let turn = || lanes.turn("a").now_or_never().flatten();
        let (first, second) = (turn().unwrap(), turn().unwrap());
        let mut third = Box::pin(lanes.turn("a"));
        assert!((&mut third).now_or_never().is_none());
        assert!(matches!(lanes.turn("a").now_or_never(), Some(None)));
        assert!(lanes.turn("b").now_or_never().flatten().is_some());
        drop(first);
        let third = third.now_or_never().flatten().unwrap();
        drop((second, third));
        assert!(lanes.lanes.lock().is_empty());
    }

    #[test]
    fn a_paused_turn_lets_another_run_and_is_still_counted() {
        let lanes = Lanes::new(1, 1);
        let mut asking = lanes.turn("a").now_or_never().flatten().unwrap();
        asking.pause();
        let running = lanes.turn("a").now_or_never().flatten().unwrap();
        assert!(matches!(lanes.turn("a").now_or_never(), Some(None)));
        assert!(asking.resume().now_or_never().is_none());
        drop(running);
        assert!(asking.resume().now_or_never().is_some());
    }

    #[test]
    fn one_that_stops_waiting_makes_room() {
        let lanes = Lanes::new(1, 1);
        let _running = lanes.turn("a").now_or_never().flatten().unwrap();
        let mut waiting = Box::pin(lanes.turn("a"));
        assert!((&mut waiting).now_or_never().is_none());
        drop(waiting);
        assert!(Box::pin(lanes.turn("a")).now_or_never().is_none());
    }
}
