//! Who sits where in the context's memory, and who gives way when it is full.

use std::sync::atomic::Ordering::SeqCst;

use gangway_models::ModelError;

use super::hall::Hall;
use crate::slots::{Slot, choose};

impl Hall<'_> {
    /// Gives a sequence to everyone who works and has none.
    pub(super) fn seat(&mut self) {
        // Whoever was pushed out waits for others to end, unless there are none.
        let others = self.working().any(|one| !one.held);
        let waits = |held: bool| held && others;
        for number in 0..self.live.len() {
            let one = &self.live[number];
            if one.slot.is_none() && one.stalled.is_none() && !waits(one.held) {
                self.seat_one(number);
            }
        }
    }

    fn seat_one(&mut self, number: usize) {
        let divisible = self.model.divisible;
        if self.slots.iter().all(|slot| slot.owner.is_some()) && !self.unseat_stalled() {
            return;
        }
        let Some(choice) = choose(&self.slots, &self.live[number].tokens, divisible) else {
            return;
        };
        let shared = choice.shared;
        let kept = match choice.from {
            None => self.keep(choice.slot, shared),
            Some(from) => self.copy(from, choice.slot, shared),
        };
        let known = self.live[number].tokens[..kept].to_vec();
        self.slots[choice.slot] = Slot {
            known,
            owner: Some(self.live[number].id),
            used: self.steps,
        };
        let one = &mut self.live[number];
        one.slot = Some(choice.slot);
        one.held = false;
        // One that comes back was counted before.
        if one.written() == 0 && !std::mem::replace(&mut one.counted, true) {
            let count = |tokens| u64::try_from(tokens).unwrap_or(0);
            self.gauges.prompt.fetch_add(count(one.prompt), SeqCst);
            self.gauges.reused.fetch_add(count(kept), SeqCst);
        }
    }

    /// Forgets what a sequence knows beyond its first tokens; returns how many it still knows.
    fn keep(&mut self, slot: usize, first: usize) -> usize {
        let sequence = i32::try_from(slot).unwrap_or(0);
        let known = self.slots[slot].known.len();
        let from = u32::try_from(first).unwrap_or(0);
        let kept = first == known
            || self
                .context
                .kv_cache_seq_rm(sequence, Some(from), None)
                .is_ok();
        if kept {
            return first;
        }
        // Some models can only forget everything.
        let _ = self.context.kv_cache_seq_rm(sequence, None, None);
        0
    }

    /// Copies the first tokens from one sequence to another, which forgets its own; returns how many.
    fn copy(&mut self, from: usize, to: usize, first: usize) -> usize {
        self.keep(to, 0);
        let [source, target] = [from, to].map(|slot| i32::try_from(slot).unwrap_or(0));
        let end = u32::try_from(first).ok();
        let copied = self.context.kv_cache_seq_cp(source, target, Some(0), end);
        if copied.is_ok() { first } else { 0 }
    }

    /// Empties a sequence.
    fn clear(&mut self, slot: usize) {
        self.keep(slot, 0);
        self.slots[slot] = Slot::default();
        for one in self.live.iter_mut().filter(|one| one.slot == Some(slot)) {
            one.slot = None;
        }
    }

    /// Takes the sequence of someone whose reader does not read.
    fn unseat_stalled(&mut self) -> bool {
        let stalled = self
            .live
            .iter()
            .find(|one| one.stalled.is_some() && one.slot.is_some());
        let Some(slot) = stalled.and_then(|one| one.slot) else {
            return false;
        };
        self.clear(slot);
        true
    }

    /// The memory is full: what nobody uses goes first, then who does not read, then who came last.
    pub(super) fn make_room(&mut self) {
        let idle = self.slots.iter().enumerate();
        let idle = idle.filter(|(_, slot)| slot.owner.is_none() && !slot.known.is_empty());
        if let Some((slot, _)) = idle.min_by_key(|(_, slot)| slot.used) {
            self.clear(slot);
            return;
        }
        if self.unseat_stalled() {
            return;
        }
        let seated = || self.live.iter().filter(|one| one.slot.is_some());
        let youngest = seated().max_by_key(|one| one.id).and_then(|one| one.slot);
        match youngest {
            Some(slot) if seated().count() > 1 => {
                for one in self.live.iter_mut().filter(|one| one.slot == Some(slot)) {
                    one.held = true;
                }
                self.gauges.pushed_out.fetch_add(1, SeqCst);
                self.clear(slot);
            }
            // One conversation always fits, so this is a fault.
            _ => self.start_over(&ModelError::failed(
                "The built-in model has no memory left for this conversation.",
            )),
        }
    }

    /// Something failed for everyone: they are told, and nothing is believed to be known.
    pub(super) fn start_over(&mut self, error: &ModelError) {
        for one in self.live.drain(..) {
            one.fail(error.clone());
        }
        self.context.clear_kv_cache();
        self.slots.fill(Slot::default());
    }
}
