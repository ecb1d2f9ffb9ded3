//! One answer that is being written.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    time::Instant,
};

use gangway_models::{ModelError, Piece};
use llama_cpp_2::token::LlamaToken;

use super::{Job, Order};
use crate::{
    answer::{Said, Speaker},
    model::Model,
    prepare::{Prepared, prepare},
    quiet::Quiet,
    sampling::{Chooser, Chosen},
    speech::Speech,
};

/// A request that is made ready beside the engine.
pub(super) struct Preparing {
    speaker: Speaker,
    prepared: Receiver<Result<Prepared, ModelError>>,
}

impl Preparing {
    pub fn begin(job: Job, model: &Arc<Model>, quiet: &Quiet) -> Self {
        let (done, prepared) = sync_channel(1);
        let (request, model, quiet) = (job.request, Arc::clone(model), quiet.clone());
        let gone = job.speaker.clone();
        job.runtime.spawn_blocking(move || {
            let _ = done.send(quiet.run(|| prepare(&model, &request, &|| gone.is_closed())));
            // The engine may wait for nothing but this.
            let _ = job.wake.try_send(Order::Wake);
        });
        Self {
            speaker: job.speaker,
            prepared,
        }
    }

    /// The answer that begins, nothing when it failed, or itself when it is not ready.
    pub fn ready(self, id: u64) -> Result<Option<Generation>, Self> {
        let gone = self.speaker.is_closed();
        let error = match self.prepared.try_recv() {
            // Whoever left keeps the place until the work for them has ended, or work that nobody waits for would pile up.
            Err(TryRecvError::Empty) => return Err(self),
            _ if gone => return Ok(None),
            Ok(Ok(prepared)) => return Ok(Some(Generation::new(id, self.speaker, prepared))),
            Ok(Err(error)) => error,
            // Whatever it was, it was this request that did it.
            Err(TryRecvError::Disconnected) => {
                ModelError::failed("The built-in model could not make sense of the request.")
            }
        };
        self.speaker.say(Said::Failed(error));
        Ok(None)
    }
}

/// An answer that is being written.
pub(super) struct Generation {
    pub id: u64,
    pub speaker: Speaker,
    /// The prompt, and what was written after it.
    pub tokens: Vec<LlamaToken>,
    pub prompt: usize,
    /// The sequence that holds it, unless it was pushed out.
    pub slot: Option<usize>,
    /// It was pushed out for want of memory, and waits for others to end.
    pub held: bool,
    /// Its prompt is in the figures.
    pub counted: bool,
    /// Since when its reader does not read.
    pub stalled: Option<Instant>,
    chooser: Chooser,
    speech: Speech,
    limit: usize,
}

impl Generation {
    fn new(id: u64, speaker: Speaker, prepared: Prepared) -> Self {
        speaker.say(Said::Begun);
        if let Some(notice) = prepared.notice {
            speaker.say(Said::Piece(Piece::Notice(notice)));
        }
        Self {
            id,
            speaker,
            prompt: prepared.tokens.len(),
            tokens: prepared.tokens,
            slot: None,
            held: false,
            counted: false,
            stalled: None,
            chooser: prepared.chooser,
            speech: prepared.speech,
            limit: prepared.limit,
        }
    }

    /// Writes the next token. True when the answer is over.
    pub fn write(&mut self, model: &Model, logits: &[f32]) -> bool {
        let vocab = model.llama.vocab();
        let token = match self.chooser.choose(logits, model.llama.vocab()) {
            Ok(Chosen::Token(token)) => token,
            Ok(Chosen::End) => return self.end(false),
            Err(error) => {
                self.fail(error);
                return true;
            }
        };
        // A role of the template in the middle of an answer: the model goes on with the other side's turn.
        if model.reserved.contains(&token) && vocab.is_control(token) {
            return self.end(false);
        }
        self.tokens.push(token);
        for piece in self.speech.push(&vocab.token_to_piece(token, false, None)) {
            self.speaker.say(Said::Piece(piece));
        }
        if self.speech.is_stopped() || self.chooser.is_complete() {
            return self.end(false);
        }
        if self.written() >= self.limit {
            return self.end(true);
        }
        false
    }

    /// Tokens written so far.
    pub fn written(&self) -> usize {
        self.tokens.len() - self.prompt
    }

    fn end(&mut self, truncated: bool) -> bool {
        let mut pieces = self.speech.finish(truncated);
        if truncated {
            pieces.push(Piece::Truncated);
        }
        let count = |tokens| u64::try_from(tokens).unwrap_or(u64::MAX);
        pieces.push(Piece::Usage {
            input: count(self.prompt),
            output: count(self.written()),
        });
        for piece in pieces {
            self.speaker.say(Said::Piece(piece));
        }
        true
    }

    /// Ends it with an error.
    pub fn fail(&self, error: ModelError) {
        self.speaker.say(Said::Failed(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer::answer, gauges::Gauges};

    #[test]
    fn who_leaves_while_a_request_is_made_ready_keeps_the_place_until_that_ends() {
        let (orders, _engine) = sync_channel(1);
        let place = Arc::new(Gauges::default()).place(1).unwrap();
        let (speaker, reader) = answer(orders, place);
        let (done, prepared) = sync_channel(1);
        drop(reader);
        let preparing = Preparing { speaker, prepared };
        let Err(preparing) = preparing.ready(1) else {
            panic!("work for nobody does not count any more");
        };
        let _ = done.send(Err(ModelError::failed("Nobody waits.")));
        assert!(matches!(preparing.ready(2), Ok(None)));
    }
}
