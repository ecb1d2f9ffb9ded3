//! A loaded model and everyone it serves, until someone wants another one or nobody wants this one any more.

use std::{
    num::NonZeroU32,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

use gangway_embedded::Settings;
use gangway_models::ModelError;
use llama_cpp_2::{
    context::{LlamaContext, params::LlamaContextParams},
    llama_batch::LlamaBatch,
};

use super::{
    desk::{Desk, Rest},
    generation::{Generation, Preparing},
    step::Pace,
};
use crate::{
    gauges::Gauges,
    limits,
    model::{Backend, Model, check_room},
    quiet::Quiet,
    slots::Slot,
};

/// Tokens of one step at the most.
pub(super) const BATCH: u32 = 512;
/// Tokens that llama.cpp computes at a time. From 64 on a processor is not faster, and more of them take memory.
const MICRO_BATCH: u32 = 128;

/// How long others wait for another model because somebody does not read.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often to look after those who are expected.
const LOOK: Duration = Duration::from_secs(1);

/// A context for this many conversations.
pub(super) fn context<'m>(
    model: &'m Model,
    backend: &Backend,
    quiet: &Quiet,
    settings: &Settings,
) -> Result<LlamaContext<'m>, ModelError> {
    let no_room = |words: String| {
        ModelError::failed(format!(
            "There is no room in memory for conversations with {}: {words}. A smaller context needs less.",
            model.source.name
        ))
    };
    let memory = model.memory_of(model.window);
    check_room(memory).map_err(no_room)?;
    limits::for_weights(model.source.bytes, memory, settings.threads());
    let threads = i32::try_from(settings.threads()).unwrap_or(1);
    let sequences = u32::try_from(sequences(settings)).unwrap_or(1);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(model.window))
        .with_n_batch(BATCH)
        .with_n_ubatch(MICRO_BATCH)
        .with_n_seq_max(sequences)
        // One memory for all: whoever is alone may fill it, and a common beginning is kept once. Flash attention, which
        // llama.cpp chooses by itself, passes over the others' cells; without it long conversations are a third slower.
        .with_kv_unified(true)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_no_perf(true);
    let context = model.llama.new_context(backend.get(), params);
    let words = quiet.errors();
    context.map_err(|error| no_room(words.unwrap_or_else(|| error.to_string())))
}

/// Sequences: those in use, and as many that are remembered.
fn sequences(settings: &Settings) -> usize {
    settings.parallel() * 2
}

/// A loaded model at work.
pub(super) struct Hall<'m> {
    pub(super) model: &'m Arc<Model>,
    pub(super) context: LlamaContext<'m>,
    pub(super) batch: LlamaBatch<'static>,
    pub(super) quiet: &'m Quiet,
    pub(super) settings: &'m Settings,
    pub(super) gauges: &'m Arc<Gauges>,
    pub(super) slots: Vec<Slot>,
    pub(super) live: Vec<Generation>,
    pub(super) pace: Pace,
    pub(super) steps: u64,
    preparing: Vec<Preparing>,
    ids: u64,
    /// When somebody was served last.
    last: Instant,
}

impl<'m> Hall<'m> {
    pub fn new(
        model: &'m Arc<Model>,
        context: LlamaContext<'m>,
        quiet: &'m Quiet,
        settings: &'m Settings,
        gauges: &'m Arc<Gauges>,
    ) -> Self {
        let memory = model.llama.size() + model.memory_of(context.n_ctx());
        gauges.set_loaded(Some((model.source.name.clone(), memory)));
        Self {
            model,
            context,
            batch: LlamaBatch::new(BATCH as usize, 1),
            quiet,
            settings,
            gauges,
            slots: vec![Slot::default(); sequences(settings)],
            live: Vec::new(),
            pace: Pace::default(),
            steps: 0,
            preparing: Vec::new(),
            ids: 0,
            last: gauges.now(),
        }
    }

    /// Serves everyone who wants this model.
    pub fn serve(mut self, desk: &mut Desk) {
        loop {
            desk.take();
            if desk.is_over() {
                return;
            }
            let other_wanted = desk.next_wants(&self.model.source) == Some(false);
            self.dismiss(other_wanted);
            // Who was there before goes before who comes anew.
            self.notice_readers();
            self.welcome(desk);
            let busy = self.working().count();
            self.gauges.active.store(busy, SeqCst);
            let works = busy > 0 || !self.preparing.is_empty();
            self.gauges.busy.store(works, SeqCst);
            if busy > 0 {
                self.last = self.gauges.now();
                self.step();
                self.gauges.progress.fetch_add(1, SeqCst);
                continue;
            }
            let empty = self.preparing.is_empty() && self.live.is_empty();
            let now = self.gauges.now();
            let mut until = self.last + self.settings.idle;
            if empty && (other_wanted || now >= until) {
                return;
            }
            if !empty {
                // Somebody is expected, who might also have been lost without a word.
                until = until.min(now + LOOK);
            }
            if matches!(desk.rest(Some(until)), Rest::Over) {
                return;
            }
        }
    }

    /// Those whose answers go on now.
    pub(super) fn working(&self) -> impl Iterator<Item = &Generation> {
        self.live.iter().filter(|one| one.stalled.is_none())
    }

    /// Lets go of those whose readers left, or have not read for too long.
    fn dismiss(&mut self, other_wanted: bool) {
        let now = self.gauges.now();
        let patience = if other_wanted {
            self.settings.idle.min(PATIENCE)
        } else {
            self.settings.idle
        };
        let is_gone = |one: &Generation| {
            one.speaker.is_closed()
                || one
                    .stalled
                    .is_some_and(|since| now.duration_since(since) >= patience)
        };
        let mut number = 0;
        while let Some(one) = self.live.get(number) {
            if is_gone(one) {
                self.release(number);
            } else {
                number += 1;
            }
        }
    }

    /// Takes in who comes next, as long as there is room and they want this model.
    fn welcome(&mut self, desk: &mut Desk) {
        for preparing in std::mem::take(&mut self.preparing) {
            self.ids += 1;
            match preparing.ready(self.ids) {
                Ok(Some(generation)) => self.live.push(generation),
                Ok(None) => self.last = self.gauges.now(),
                Err(preparing) => self.preparing.push(preparing),
            }
        }
        while self.working().count() + self.preparing.len() < self.settings.parallel()
            && desk.next_wants(&self.model.source) == Some(true)
        {
            if let Some(job) = desk.waiting.pop_front() {
                self.preparing
                    .push(Preparing::begin(job, self.model, self.quiet));
            }
        }
    }

    /// Pauses those whose readers do not read, and goes on with those who do again.
    fn notice_readers(&mut self) {
        let now = self.gauges.now();
        let taken = self.working().count() + self.preparing.len();
        let mut free = self.settings.parallel().saturating_sub(taken);
        for one in &mut self.live {
            match (one.speaker.has_room(), one.stalled) {
                (false, None) => one.stalled = Some(now),
                (true, Some(_)) if free > 0 => {
                    free -= 1;
                    one.stalled = None;
                }
                _ => {}
            }
        }
    }

    /// An answer is over: what it knows stays for the next turn of its conversation.
    pub(super) fn release(&mut self, number: usize) -> Generation {
        let one = self.live.remove(number);
        if let Some(slot) = one.slot.and_then(|slot| self.slots.get_mut(slot)) {
            slot.owner = None;
            slot.used = self.steps;
        }
        for other in &mut self.live {
            other.held = false;
        }
        self.last = self.gauges.now();
        self.gauges.active.store(self.working().count(), SeqCst);
        one
    }
}
