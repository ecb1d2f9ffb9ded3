//! A running answer.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    time::Instant,
};

use gangway_models::{ChatChunk, ModelError};
use llama_cpp_2::token::LlamaToken;

use super::{Command, Job};
use crate::{
    answer::{AnswerSender, Output},
    model::Model,
    parser::OutputParser,
    prepare::{Prepared, prepare},
    quiet::Quiet,
    sampling::{Chooser, Chosen},
};

/// A request that is prepared outside of the engine's thread.
pub(super) struct Preparing {
    sender: AnswerSender,
    prepared: Receiver<Result<Prepared, ModelError>>,
}

impl Preparing {
    pub fn begin(job: Job, model: &Arc<Model>, quiet: &Quiet) -> Self {
        let (done, prepared) = sync_channel(1);
        let (request, model, quiet) = (job.request, Arc::clone(model), quiet.clone());
        let gone = job.sender.clone();
        job.runtime.spawn_blocking(move || {
            let _ = done.send(quiet.run(|| prepare(&model, &request, &|| gone.is_closed())));
            // The engine must not block on anything else.
            let _ = job.wake.try_send(Command::Wake);
        });
        Self {
            sender: job.sender,
            prepared,
        }
    }

    /// The prepared answer, `None` if it failed, or itself if it is not ready.
    pub fn ready(self, id: u64) -> Result<Option<Generation>, Self> {
        let gone = self.sender.is_closed();
        let error = match self.prepared.try_recv() {
            // A request whose reader left keeps its slot until the work has ended, or abandoned work would pile up.
            Err(TryRecvError::Empty) => return Err(self),
            _ if gone => return Ok(None),
            Ok(Ok(prepared)) => return Ok(Some(Generation::new(id, self.sender, prepared))),
            Ok(Err(error)) => error,
            // Whatever panicked, it was caused by this request.
            Err(TryRecvError::Disconnected) => {
                ModelError::failed("The built-in model cannot process this request.")
            }
        };
        self.sender.send(Output::Failed(error));
        Ok(None)
    }
}

/// A running answer.
pub(super) struct Generation {
    pub id: u64,
    pub sender: AnswerSender,
    /// The prompt and the output.
    pub tokens: Vec<LlamaToken>,
    pub prompt: usize,
    /// Its sequence, unless preempted.
    pub slot: Option<usize>,
    /// Preempted for lack of memory; waits for others to end.
    pub held: bool,
    /// Its prompt is counted in the metrics.
    pub counted: bool,
    /// Since when its reader has been stalled.
    pub stalled: Option<Instant>,
    chooser: Chooser,
    parser: OutputParser,
    limit: usize,
}

impl Generation {
    fn new(id: u64, sender: AnswerSender, prepared: Prepared) -> Self {
        sender.send(Output::Begun);
        if let Some(notice) = prepared.notice {
            sender.send(Output::Chunk(ChatChunk::Notice(notice)));
        }
        Self {
            id,
            sender,
            prompt: prepared.tokens.len(),
            tokens: prepared.tokens,
            slot: None,
            held: false,
            counted: false,
            stalled: None,
            chooser: prepared.chooser,
            parser: prepared.parser,
            limit: prepared.limit,
        }
    }

    /// Appends the next token. True if the answer is complete.
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
        // A role token in the middle of an answer: the model continues with the other role's turn.
        if model.reserved.contains(&token) && vocab.is_control(token) {
            return self.end(false);
        }
        self.tokens.push(token);
        for chunk in self.parser.push(&vocab.token_to_piece(token, false, None)) {
            self.sender.send(Output::Chunk(chunk));
        }
        if self.parser.is_stopped() || self.chooser.is_complete() {
            return self.end(false);
        }
        if self.written() >= self.limit {
            return self.end(true);
        }
        false
    }

    /// Number of output tokens.
    pub fn written(&self) -> usize {
        self.tokens.len() - self.prompt
    }

    fn end(&mut self, truncated: bool) -> bool {
        let mut chunks = self.parser.finish(truncated);
        if truncated {
            chunks.push(ChatChunk::Truncated);
        }
        let count = |tokens| u64::try_from(tokens).unwrap_or(u64::MAX);
        chunks.push(ChatChunk::Usage {
            input: count(self.prompt),
            output: count(self.written()),
        });
        for chunk in chunks {
            self.sender.send(Output::Chunk(chunk));
        }
        true
    }

    /// Fails the answer.
    pub fn fail(&self, error: ModelError) {
        self.sender.send(Output::Failed(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer::answer, gauges::Gauges};

    #[test]
    fn a_cancelled_request_keeps_its_place_until_its_preparation_ends() {
        let (commands, _engine) = sync_channel(1);
        let place = Arc::new(Gauges::default()).place(1).unwrap();
        let (sender, reader) = answer(commands, place);
        let (done, prepared) = sync_channel(1);
        drop(reader);
        let preparing = Preparing { sender, prepared };
        let Err(preparing) = preparing.ready(1) else {
            panic!("work for nobody does not count any more");
        };
        let _ = done.send(Err(ModelError::failed("Nobody waits.")));
        assert!(matches!(preparing.ready(2), Ok(None)));
    }
}
