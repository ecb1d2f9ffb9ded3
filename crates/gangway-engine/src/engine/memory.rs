//! Assigns slots of the KV cache, and preempts answers when it is full.

use std::sync::atomic::Ordering::SeqCst;

use gangway_models::ModelError;

use super::scheduler::Scheduler;
use crate::slots::{Slot, choose};

impl Scheduler<'_> {
    /// Assigns a slot to every running answer without one.
    pub(super) fn assign_slots(&mut self) {
        // A preempted answer waits for others to end, unless there are none.
        let others = self.working().any(|one| !one.held);
        let waits = |held: bool| held && others;
        for number in 0..self.live.len() {
            let one = &self.live[number];
            if one.slot.is_none() && one.stalled.is_none() && !waits(one.held) {
                self.assign_slot(number);
            }
        }
    }

    fn assign_slot(&mut self, number: usize) {
        let divisible = self.model.divisible;
        if self.slots.iter().all(|slot| slot.owner.is_some()) && !self.release_stalled() {
            return;
        }
        let Some(choice) = choose(&self.slots, &self.live[number].tokens, divisible) else {
            return;
        };
        let shared = choice.shared;
        let stored = match choice.from {
            None => self.keep(choice.slot, shared),
            Some(from) => self.copy(from, choice.slot, shared),
        };
        let known = self.live[number].tokens[..stored].to_vec();
        self.slots[choice.slot] = Slot {
            known,
            owner: Some(self.live[number].id),
            used: self.steps,
        };
        let one = &mut self.live[number];
        one.slot = Some(choice.slot);
        one.held = false;
        // A resumed answer was counted before.
        if one.written() == 0 && !std::mem::replace(&mut one.counted, true) {
            let count = |tokens| u64::try_from(tokens).unwrap_or(0);
            self.gauges.prompt.fetch_add(count(one.prompt), SeqCst);
            self.gauges.reused.fetch_add(count(stored), SeqCst);
        }
    }

    /// Removes the tokens of a sequence beyond its first ones; returns how many remain.
    fn keep(&mut self, slot: usize, first: usize) -> usize {
        let sequence = i32::try_from(slot).unwrap_or(0);
        let known = self.slots[slot].known.len();
        let from = u32::try_from(first).unwrap_or(0);
        let stored = first == known
            || self
                .context
                .kv_cache_seq_rm(sequence, Some(from), None)
                .is_ok();
        if stored {
            return first;
        }
        // Some models can only remove everything.
        let _ = self.context.kv_cache_seq_rm(sequence, None, None);
        0
    }

    /// Copies the first tokens from one sequence to another, replacing its contents; returns how many.
    fn copy(&mut self, from: usize, to: usize, first: usize) -> usize {
        self.keep(to, 0);
        let [source, target] = [from, to].map(|slot| i32::try_from(slot).unwrap_or(0));
        let end = u32::try_from(first).ok();
        let copied = self.context.kv_cache_seq_cp(source, target, Some(0), end);
        if copied.is_ok() { first } else { 0 }
    }

    /// Clears a sequence.
    fn clear(&mut self, slot: usize) {
        self.keep(slot, 0);
        self.slots[slot] = Slot::default();
        for one in self.live.iter_mut().filter(|one| one.slot == Some(slot)) {
            one.slot = None;
        }
    }

    /// Releases the slot of an answer with a stalled reader.
    fn release_stalled(&mut self) -> bool {
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

    /// The cache is full: evicts unused slots first, then stalled answers, then the newest.
    pub(super) fn make_room(&mut self) {
        let idle = self.slots.iter().enumerate();
        let idle = idle.filter(|(_, slot)| slot.owner.is_none() && !slot.known.is_empty());
        if let Some((slot, _)) = idle.min_by_key(|(_, slot)| slot.used) {
            self.clear(slot);
            return;
        }
        if self.release_stalled() {
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
            // A single conversation always fits, so this is a bug.
            _ => self.start_over(&ModelError::failed(
                "The built-in model ran out of memory for this conversation.",
            )),
        }
    }

    /// Fails all answers, and clears the cache.
    pub(super) fn start_over(&mut self, error: &ModelError) {
        for one in self.live.drain(..) {
            one.fail(error.clone());
        }
        self.context.clear_kv_cache();
        self.slots.fill(Slot::default());
    }
}
