//! Scheduler of a loaded model: serves its requests until another model is needed or it is idle.

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
    generation::{Generation, Preparing},
    queue::{Queue, Wakeup},
    step::ReadRate,
};
use crate::{
    gauges::Gauges,
    limits,
    model::{Backend, Model, check_room},
    quiet::Quiet,
    slots::Slot,
};

/// Maximum number of tokens in a step.
pub(super) const BATCH: u32 = 512;
/// Physical batch size of llama.cpp. Above 64 a CPU is not faster, and memory use grows.
const MICRO_BATCH: u32 = 128;

/// How long a stalled reader may delay requests for another model.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Polling interval for requests in preparation.
const LOOK: Duration = Duration::from_secs(1);

/// A context for this many conversations.
pub(super) fn context<'m>(
    model: &'m Model,
    backend: &Backend,
    quiet: &Quiet,
    settings: &Settings,
) -> Result<LlamaContext<'m>, ModelError> {
    let no_room = |reason: String| {
        ModelError::failed(format!(
            "Not enough memory for conversations with {}: {reason}. Reduce the context size.",
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
        // A unified KV cache: a single conversation may fill it, and common prefixes are stored once. Flash attention,
        // which llama.cpp selects, skips the cells of others; without it long conversations are a third slower.
        .with_kv_unified(true)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_no_perf(true);
    let context = model.llama.new_context(backend.get(), params);
    let reason = quiet.errors();
    context.map_err(|error| no_room(reason.unwrap_or_else(|| error.to_string())))
}

/// Number of sequences: active ones, and as many cached ones.
fn sequences(settings: &Settings) -> usize {
    settings.parallel() * 2
}

/// A loaded model with its running answers.
pub(super) struct Scheduler<'m> {
    pub(super) model: &'m Arc<Model>,
    pub(super) context: LlamaContext<'m>,
    pub(super) batch: LlamaBatch<'static>,
    pub(super) quiet: &'m Quiet,
    pub(super) settings: &'m Settings,
    pub(super) gauges: &'m Arc<Gauges>,
    pub(super) slots: Vec<Slot>,
    pub(super) live: Vec<Generation>,
    pub(super) read_rate: ReadRate,
    pub(super) steps: u64,
    preparing: Vec<Preparing>,
    ids: u64,
    /// When the last request was served.
    last: Instant,
}

impl<'m> Scheduler<'m> {
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
            read_rate: ReadRate::default(),
            steps: 0,
            preparing: Vec::new(),
            ids: 0,
            last: gauges.now(),
        }
    }

    /// Serves all requests for this model.
    pub fn serve(mut self, queue: &mut Queue) {
        loop {
            queue.take();
            if queue.is_over() {
                return;
            }
            let other_wanted = queue.next_wants(&self.model.source) == Some(false);
            self.dismiss(other_wanted);
            // Running answers take precedence over new ones.
            self.notice_readers();
            self.welcome(queue);
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
                // A request in preparation may have been lost without a notification.
                until = until.min(now + LOOK);
            }
            if matches!(queue.wait(Some(until)), Wakeup::Over) {
                return;
            }
        }
    }

    /// The answers that are not paused.
    pub(super) fn working(&self) -> impl Iterator<Item = &Generation> {
        self.live.iter().filter(|one| one.stalled.is_none())
    }

    /// Drops answers whose readers left or have been stalled for too long.
    fn dismiss(&mut self, other_wanted: bool) {
        let now = self.gauges.now();
        let timeout = if other_wanted {
            self.settings.idle.min(TIMEOUT)
        } else {
            self.settings.idle
        };
        let is_gone = |one: &Generation| {
            one.sender.is_closed()
                || one
                    .stalled
                    .is_some_and(|since| now.duration_since(since) >= timeout)
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

    /// Admits requests for this model while there are free slots.
    fn welcome(&mut self, queue: &mut Queue) {
        for preparing in std::mem::take(&mut self.preparing) {
            self.ids += 1;
            match preparing.ready(self.ids) {
                Ok(Some(generation)) => self.live.push(generation),
                Ok(None) => self.last = self.gauges.now(),
                Err(preparing) => self.preparing.push(preparing),
            }
        }
        while self.working().count() + self.preparing.len() < self.settings.parallel()
            && queue.next_wants(&self.model.source) == Some(true)
        {
            if let Some(job) = queue.waiting.pop_front() {
                self.preparing
                    .push(Preparing::begin(job, self.model, self.quiet));
            }
        }
    }

    /// Pauses answers with stalled readers, and resumes those whose readers continue.
    fn notice_readers(&mut self) {
        let now = self.gauges.now();
        let taken = self.working().count() + self.preparing.len();
        let mut free = self.settings.parallel().saturating_sub(taken);
        for one in &mut self.live {
            match (one.sender.has_room(), one.stalled) {
                (false, None) => one.stalled = Some(now),
                (true, Some(_)) if free > 0 => {
                    free -= 1;
                    one.stalled = None;
                }
                _ => {}
            }
        }
    }

    /// Removes a completed answer; its tokens stay cached for the next turn of its conversation.
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
