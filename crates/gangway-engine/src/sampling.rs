//! Samples the next token.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use gangway_models::{ChatRequest, ModelError};
use llama_cpp_2::{
    sampling::LlamaSampler,
    token::{LlamaToken, data::LlamaTokenData, data_array::LlamaTokenDataArray},
    vocab::LlamaVocab,
};
use llguidance::Matcher;

/// Small models lose coherence at higher temperatures.
const TEMPERATURE: f32 = 0.7;
const TOP_P: f32 = 0.95;
/// Less likely tokens are never useful, and excluding them saves sorting.
const TOP_K: i32 = 40;
const MIN_P: f32 = 0.05;
/// Small models repeat themselves; the probability of recent tokens is reduced a little.
const RECENT: i32 = 64;
const REPEATED: f32 = 1.1;

/// The sampler of one answer.
pub(crate) struct Chooser {
    /// `None` for greedy sampling.
    dice: Option<LlamaSampler>,
    form: Option<Matcher>,
}

/// A sampled token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Token(LlamaToken),
    /// The answer ends here.
    End,
}

impl Chooser {
    /// For a model with this vocabulary size.
    pub fn new(request: &ChatRequest, form: Option<Matcher>, vocabulary: i32) -> Self {
        let [temperature, top_p] = [
            request.temperature.map_or(TEMPERATURE, |t| t as f32),
            request.top_p.map_or(TOP_P, |p| p as f32),
        ];
        // NaN is not a temperature.
        let dice = (temperature > 0.0).then(|| {
            // JSON legitimately repeats quotes and commas.
            let repeated = if form.is_some() { 1.0 } else { REPEATED };
            LlamaSampler::chain_simple([
                LlamaSampler::top_k(TOP_K),
                LlamaSampler::penalties(vocabulary, RECENT, repeated, 0.0, 0.0),
                LlamaSampler::top_p(top_p.clamp(0.0, 1.0), 1),
                LlamaSampler::min_p(MIN_P, 1),
                LlamaSampler::temp(temperature.min(2.0)),
                LlamaSampler::dist(seed(request.seed.map(i64::cast_unsigned))),
            ])
        });
        Self { dice, form }
    }

    /// Samples the token after the one with these logits.
    pub fn choose(&mut self, logits: &[f32], vocab: LlamaVocab<'_>) -> Result<Chosen, ModelError> {
        let chosen = self.next(logits, vocab)?;
        if let (Chosen::Token(token), Some(dice)) = (&chosen, &mut self.dice) {
            dice.accept(*token);
        }
        Ok(chosen)
    }

    fn next(&mut self, logits: &[f32], vocab: LlamaVocab<'_>) -> Result<Chosen, ModelError> {
        let token = self
            .draw(logits, |_| true)
            .ok_or_else(|| failed("the model returned no logits"))?;
        let Some(form) = &mut self.form else {
            return Ok(if vocab.is_eog(token) {
                Chosen::End
            } else {
                Chosen::Token(token)
            });
        };
        // The schema asks for more than can be constrained.
        let broken = |error: &dyn std::fmt::Display| {
            let reason = crate::grammar::first_line(&error.to_string());
            ModelError::bad_request(format!(
                "The built-in model failed to follow the schema: {reason}."
            ))
        };
        if form.is_stopped() {
            return Ok(Chosen::End);
        }
        // Most tokens are allowed, and checking one is cheaper than computing the mask.
        let fits = if vocab.is_eog(token) {
            form.is_accepting().map_err(|e| broken(&e))?
        } else {
            form.validate_tokens(&[token.0.cast_unsigned()])
                .map_err(|e| broken(&e))?
                == 1
        };
        let token = if fits {
            token
        } else {
            let mask = form.compute_mask_or_eos().map_err(|e| broken(&e))?;
            let fitting = |id: i32| mask.is_allowed(id.cast_unsigned());
            self.draw(logits, fitting)
                .ok_or_else(|| failed("no token of the model matches the schema"))?
        };
        if vocab.is_eog(token) {
            return Ok(Chosen::End);
        }
        if let Some(form) = &mut self.form {
            form.consume_token(token.0.cast_unsigned())
                .map_err(|e| broken(&e))?;
        }
        Ok(Chosen::Token(token))
    }

    /// Whether the constraint is satisfied and nothing may follow.
    pub fn is_complete(&self) -> bool {
        self.form.as_ref().is_some_and(Matcher::is_stopped)
    }

    fn draw(&mut self, logits: &[f32], fits: impl Fn(i32) -> bool) -> Option<LlamaToken> {
        let fitting = (0_i32..)
            .zip(logits)
            .filter(|(id, logit)| !logit.is_nan() && fits(*id));
        let Some(dice) = &mut self.dice else {
            let best = fitting.max_by(|(_, one), (_, other)| one.total_cmp(other));
            return best.map(|(id, _)| LlamaToken(id));
        };
        let data: Vec<LlamaTokenData> = fitting
            .map(|(id, logit)| LlamaTokenData::new(LlamaToken(id), *logit, 0.0))
            .collect();
        // llama.cpp aborts the process if there are no candidates.
        if data.is_empty() {
            return None;
        }
        let mut choice = LlamaTokenDataArray::new(data, false);
        choice.apply_sampler(dice);
        choice.selected_token()
    }
}

fn failed(how: &str) -> ModelError {
    ModelError::failed(format!("The built-in model failed: {how}."))
}

fn seed(seed: Option<u64>) -> u32 {
    let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    let seed = (seed ^ (seed >> 32)) as u32;
    // llama.cpp treats this value as a random seed.
    if seed == u32::MAX { 0 } else { seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(request: &ChatRequest) -> Vec<Option<LlamaToken>> {
        let mut chooser = Chooser::new(request, None, 5);
        (0..40)
            .map(|_| chooser.draw(&[1.0, 1.1, 0.9, f32::NAN, 1.0], |_| true))
            .collect()
    }

    #[test]
    fn the_same_seed_draws_the_same_tokens_and_another_one_others() {
        let request = |seed| ChatRequest {
            temperature: Some(1.0),
            seed: Some(seed),
            ..ChatRequest::default()
        };
        assert_eq!(draws(&request(7)), draws(&request(7)));
        assert_ne!(draws(&request(7)), draws(&request(8)));
        assert!(draws(&request(7)).iter().all(Option::is_some));
    }

    #[test]
    fn at_temperature_zero_the_likeliest_is_taken() {
        let cold = ChatRequest {
            temperature: Some(0.0),
            ..ChatRequest::default()
        };
        assert!(
            draws(&cold)
                .iter()
                .all(|token| *token == Some(LlamaToken(1)))
        );
        let mut chooser = Chooser::new(&cold, None, 5);
        assert_eq!(chooser.draw(&[1.0, 2.0], |id| id == 0), Some(LlamaToken(0)));
        assert_eq!(chooser.draw(&[1.0, 2.0], |_| false), None);
    }
}
