//! One step: a token for every answer being written, and a fair share for every prompt being read.

use std::time::{Duration, Instant};

use gangway_models::ModelError;
use llama_cpp_2::{DecodeError, token::LlamaToken};

use super::scheduler::{BATCH, Scheduler};
use crate::answer::Output;

/// Target duration of a step that others wait for, so that a long prompt does not block them.
const SHARED: Duration = Duration::from_millis(120);
/// Target duration otherwise: cancellations and new requests wait for its end.
const ALONE: Duration = Duration::from_millis(400);
/// Smaller batches are much slower per token.
const LEAST: usize = 16;
/// From this batch size on llama.cpp's attention works in tiles. Just below, it is a fifth slower.
const TILE: usize = 64;

/// Measured prompt processing rate.
#[derive(Debug)]
pub(super) struct ReadRate {
    seconds: f64,
}

impl Default for ReadRate {
    fn default() -> Self {
        // Initial value for a small model on a slow core, until the first step is measured.
        Self { seconds: 0.005 }
    }
}

impl ReadRate {
    /// Number of prompt tokens for a step.
    fn tokens(&self, shared: bool) -> usize {
        let time = if shared { SHARED } else { ALONE };
        let tokens = (time.as_secs_f64() / self.seconds) as usize;
        // Costs at most twice the time, for which no caller waits.
        let least = if !shared && tokens >= TILE / 2 {
            TILE
        } else {
            LEAST
        };
        tokens.clamp(least, BATCH as usize)
    }

    fn learn(&mut self, tokens: usize, time: Duration) {
        if tokens >= LEAST {
            let seen = time.as_secs_f64() / tokens as f64;
            self.seconds = (self.seconds + seen.max(1e-6)) / 2.0;
        }
    }
}

/// Fair shares of `budget`: no prompt gets less because another one needs more.
fn shares(wants: &[usize], tokens: usize) -> Vec<usize> {
    let mut shares = vec![0; wants.len()];
    let mut left = tokens;
    loop {
        let hungry: Vec<usize> = (0..wants.len())
            .filter(|i| shares[*i] < wants[*i])
            .collect();
        if hungry.is_empty() || left == 0 {
            return shares;
        }
        let each = (left / hungry.len()).max(1);
        for i in hungry {
            let more = each.min(wants[i] - shares[i]).min(left);
            shares[i] += more;
            left -= more;
        }
    }
}

/// The part of one answer in a step.
struct BatchPart {
    number: usize,
    slot: usize,
    tokens: Vec<LlamaToken>,
    /// Index of its last token in the batch, if its logits are needed.
    last: Option<i32>,
}

impl Scheduler<'_> {
    /// Advances all running answers by some tokens.
    pub(super) fn step(&mut self) {
        self.steps += 1;
        self.assign_slots();
        let parts = self.plan();
        if parts.is_empty() {
            // Answers are running but none can advance, which would loop forever.
            self.start_over(&ModelError::failed(
                "Internal error: the built-in model made no progress.",
            ));
            return;
        }
        let tokens: usize = parts.iter().map(|part| part.tokens.len()).sum();
        let begun = Instant::now();
        let decoded = self.context.decode(&mut self.batch);
        let reason = self.quiet.errors();
        match decoded {
            Ok(()) => {
                self.read_rate.learn(tokens, begun.elapsed());
                self.write(parts);
            }
            Err(DecodeError::NoKvCacheSlot) => self.make_room(),
            Err(error) => {
                let reason = reason.unwrap_or_else(|| error.to_string());
                self.quiet
                    .aloud(|| tracing::warn!(reason, "the built-in model failed to compute"));
                let error = ModelError::failed(format!("The built-in model failed: {reason}"));
                self.start_over(&error);
            }
        }
    }

    /// Fills the batch.
    fn plan(&mut self) -> Vec<BatchPart> {
        let mut parts = Vec::new();
        let (mut reading, mut wants) = (Vec::new(), Vec::new());
        for (number, one) in self.live.iter().enumerate() {
            let (Some(slot), None) = (one.slot, one.stalled) else {
                continue;
            };
            let behind = one.tokens.len() - self.slots[slot].known.len();
            if behind == 1 {
                parts.push((number, slot, 1));
            } else {
                reading.push((number, slot));
                wants.push(behind);
            }
        }
        let room = (BATCH as usize - parts.len()).min(self.read_rate.tokens(!parts.is_empty()));
        let shares = shares(&wants, room);
        let read = reading
            .into_iter()
            .zip(shares)
            .map(|((n, slot), share)| (n, slot, share));
        parts.extend(read.filter(|(_, _, share)| *share > 0));

        self.batch.clear();
        parts
            .into_iter()
            .map(|(number, slot, share)| self.add(number, slot, share))
            .collect()
    }

    fn add(&mut self, number: usize, slot: usize, share: usize) -> BatchPart {
        let all = &self.live[number].tokens;
        let known = self.slots[slot].known.len();
        let tokens = all[known..known + share].to_vec();
        let reaches_end = known + share == all.len();
        for (offset, token) in tokens.iter().enumerate() {
            let last = reaches_end && offset + 1 == share;
            let position = i32::try_from(known + offset).unwrap_or(i32::MAX);
            let sequence = i32::try_from(slot).unwrap_or(0);
            // The shares never exceed the batch.
            let added = self.batch.add(*token, position, &[sequence], last);
            debug_assert!(added.is_ok());
        }
        BatchPart {
            number,
            slot,
            tokens,
            last: reaches_end.then(|| self.batch.n_tokens() - 1),
        }
    }

    /// Appends the next token of each answer whose tokens are all processed.
    fn write(&mut self, parts: Vec<BatchPart>) {
        let mut over = Vec::new();
        for part in parts {
            let slot = &mut self.slots[part.slot];
            slot.known.extend(part.tokens);
            slot.used = self.steps;
            let Some(last) = part.last else {
                continue;
            };
            let one = &mut self.live[part.number];
            let before = one.written();
            let is_over = one.write(self.model, self.context.get_logits_ith(last));
            let written = u64::try_from(one.written() - before).unwrap_or(0);
            let generated = &self.gauges.generated;
            generated.fetch_add(written, std::sync::atomic::Ordering::SeqCst);
            if is_over {
                over.push(part.number);
            }
        }
        over.sort_unstable();
        for number in over.into_iter().rev() {
            // Sent last, so that its receiver finds the slot free.
            self.release(number).sender.send(Output::Done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_share_a_step_fairly_and_nothing_is_wasted() {
        assert_eq!(shares(&[1000, 1000], 100), [50, 50]);
        assert_eq!(shares(&[10, 1000, 1000], 100), [10, 45, 45]);
        assert_eq!(shares(&[5, 5], 100), [5, 5]);
        assert_eq!(shares(&[9, 9, 9], 2).iter().sum::<usize>(), 2);
        assert_eq!(shares(&[], 100), [0; 0]);
    }

    #[test]
    fn a_step_is_short_when_others_wait_for_it_and_the_pace_is_learned() {
        let mut read_rate = ReadRate::default();
        assert!(read_rate.tokens(true) < read_rate.tokens(false));
        for _ in 0..20 {
            read_rate.learn(100, Duration::from_secs(10));
        }
        assert_eq!(read_rate.tokens(false), LEAST);
        for _ in 0..20 {
            read_rate.learn(100, Duration::from_secs(1));
        }
        assert_eq!(
            read_rate.tokens(false),
            TILE,
            "a little longer for a whole tile"
        );
        for _ in 0..40 {
            read_rate.learn(100, Duration::from_millis(1));
        }
        assert_eq!(read_rate.tokens(true), BATCH as usize);
        read_rate.learn(1, Duration::from_secs(10));
        assert_eq!(
            read_rate.tokens(true),
            BATCH as usize,
            "one token tells nothing"
        );
    }
}
