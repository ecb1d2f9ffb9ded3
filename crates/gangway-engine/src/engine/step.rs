//! One step: a token for everyone who writes, and a fair share for everyone whose prompt is still being read.

use std::time::{Duration, Instant};

use gangway_models::ModelError;
use llama_cpp_2::{DecodeError, token::LlamaToken};

use super::hall::{BATCH, Hall};
use crate::answer::Said;

/// A step that others wait for takes about this long, so that a long prompt does not freeze them.
const SHARED: Duration = Duration::from_millis(120);
/// A step that nobody waits for: who cancels, or comes anew, waits for its end.
const ALONE: Duration = Duration::from_millis(400);
/// Fewer tokens at a time are read much slower each.
const LEAST: usize = 16;
/// From this many on llama.cpp looks back at many tokens in one go. Just below, it is a fifth slower.
const TILE: usize = 64;

/// How fast prompts are read, as seen.
#[derive(Debug)]
pub(super) struct Pace {
    seconds: f64,
}

impl Default for Pace {
    fn default() -> Self {
        // A small model on a slow core; the first step tells.
        Self { seconds: 0.005 }
    }
}

impl Pace {
    /// How many tokens of prompts to read in a step.
    fn tokens(&self, shared: bool) -> usize {
        let time = if shared { SHARED } else { ALONE };
        let tokens = (time.as_secs_f64() / self.seconds) as usize;
        // Worth at most twice the time, which nobody waits for.
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

/// What each of those who read gets, when they want this much each. Nobody gets less because another wants more.
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

/// What one answer does in a step.
struct Part {
    number: usize,
    slot: usize,
    tokens: Vec<LlamaToken>,
    /// Where in the batch its last token is, when what follows it is wanted.
    last: Option<i32>,
}

impl Hall<'_> {
    /// Everyone who works gets on by some tokens.
    pub(super) fn step(&mut self) {
        self.steps += 1;
        self.seat();
        let parts = self.plan();
        if parts.is_empty() {
            // Somebody works and nothing is to be done for them, which would go on for ever.
            self.start_over(&ModelError::failed("The built-in model lost its way."));
            return;
        }
        let tokens: usize = parts.iter().map(|part| part.tokens.len()).sum();
        let begun = Instant::now();
        let decoded = self.context.decode(&mut self.batch);
        let words = self.quiet.errors();
        match decoded {
            Ok(()) => {
                self.pace.learn(tokens, begun.elapsed());
                self.write(parts);
            }
            Err(DecodeError::NoKvCacheSlot) => self.make_room(),
            Err(error) => {
                let words = words.unwrap_or_else(|| error.to_string());
                self.quiet
                    .aloud(|| tracing::warn!(words, "the built-in model failed to compute"));
                let error = ModelError::failed(format!("The built-in model failed: {words}"));
                self.start_over(&error);
            }
        }
    }

    /// Fills the batch.
    fn plan(&mut self) -> Vec<Part> {
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
        let room = (BATCH as usize - parts.len()).min(self.pace.tokens(!parts.is_empty()));
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

    fn add(&mut self, number: usize, slot: usize, share: usize) -> Part {
        let all = &self.live[number].tokens;
        let known = self.slots[slot].known.len();
        let tokens = all[known..known + share].to_vec();
        let reaches_end = known + share == all.len();
        for (offset, token) in tokens.iter().enumerate() {
            let last = reaches_end && offset + 1 == share;
            let position = i32::try_from(known + offset).unwrap_or(i32::MAX);
            let sequence = i32::try_from(slot).unwrap_or(0);
            // The shares add up to no more than the batch holds.
            let added = self.batch.add(*token, position, &[sequence], last);
            debug_assert!(added.is_ok());
        }
        Part {
            number,
            slot,
            tokens,
            last: reaches_end.then(|| self.batch.n_tokens() - 1),
        }
    }

    /// Writes the next token of each answer whose tokens are all read.
    fn write(&mut self, parts: Vec<Part>) {
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
            // Said last, so that whoever hears it finds the place free.
            self.release(number).speaker.say(Said::Done);
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
        let mut pace = Pace::default();
        assert!(pace.tokens(true) < pace.tokens(false));
        for _ in 0..20 {
            pace.learn(100, Duration::from_secs(10));
        }
        assert_eq!(pace.tokens(false), LEAST);
        for _ in 0..20 {
            pace.learn(100, Duration::from_secs(1));
        }
        assert_eq!(pace.tokens(false), TILE, "a little longer for a whole tile");
        for _ in 0..40 {
            pace.learn(100, Duration::from_millis(1));
        }
        assert_eq!(pace.tokens(true), BATCH as usize);
        pace.learn(1, Duration::from_secs(10));
        assert_eq!(pace.tokens(true), BATCH as usize, "one token tells nothing");
    }
}
