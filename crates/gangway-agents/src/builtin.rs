//! The built-in loop: the conversation goes to a model, and its answer streams back.

use std::sync::Arc;

use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use gangway_core::{
    Agent, AgentError, Readiness, Source, Turn, Usage,
    conversation::{Entry, Line},
};
use gangway_models::{
    ChatRequest, Failure, Message, ModelError, Piece, Provider,
    registry::{NO_MODEL, Registry},
};

/// What to say when an answer was cut.
const TRUNCATED: &str = "The answer reached the longest length that the model may write.";

/// Characters of conversation a model is sent at the most; the oldest turns go first.
const CONTEXT_CHARS: usize = 400_000;

/// Answers with whatever model the person has.
pub struct Builtin {
    models: Arc<Registry>,
}

impl Builtin {
    /// With these models.
    #[must_use]
    pub fn new(models: Arc<Registry>) -> Self {
        Self { models }
    }

    async fn answer(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let request = ChatRequest {
            model: turn.model().map(str::to_owned),
            messages: messages(&turn).await?,
            ..ChatRequest::default()
        };
        let mut pieces = self.models.chat(request).await.map_err(failed)?;
        let mut usage = None;
        while let Some(piece) = pieces.next().await {
            match piece.map_err(failed)? {
                Piece::Text(text) => turn.delta(&text).await?,
                Piece::Usage { input, output } => {
                    usage = Some(Usage {
                        input_tokens: input,
                        output_tokens: output,
                    });
                }
                Piece::Notice(notice) => turn.notice(&notice).await?,
                Piece::Truncated => turn.notice(TRUNCATED).await?,
                // No tools were offered.
                Piece::ToolCall(_) => {}
            }
        }
        Ok(usage)
    }
}

impl Agent for Builtin {
    fn description(&self) -> String {
        "Answers with your own model".into()
    }

    fn readiness(&self) -> Readiness {
        match self.models.default() {
            Some(_) => Readiness::Ready,
            None => Readiness::NotReady(NO_MODEL.into()),
        }
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        self.answer(turn).boxed()
    }
}

async fn messages(turn: &Turn) -> Result<Vec<Message>, AgentError> {
    let mut messages: Vec<_> = turn.history().await?.into_iter().filter_map(past).collect();
    messages.push(said(turn.prompt(), turn.source()));
    let mut room = CONTEXT_CHARS;
    let fits = messages.iter().rev().take_while(|message| {
        room = room.saturating_sub(length(message));
        room > 0
    });
    // The prompt itself always goes, however long it is.
    let kept = fits.count().max(1);
    Ok(messages.split_off(messages.len() - kept))
}

fn length(message: &Message) -> usize {
    match message {
        Message::System(text) | Message::User(text) | Message::Assistant { text, .. } => text.len(),
        Message::Tool { content, .. } => content.len(),
    }
}

fn past(entry: Entry) -> Option<Message> {
    match entry.line {
        Line::Said { text, source } => Some(said(&text, &source)),
        Line::Answered { text, .. } => Some(Message::Assistant {
            text,
            calls: Vec::new(),
        }),
        Line::Tool { .. }
        | Line::Asked { .. }
        | Line::Notice { .. }
        | Line::Failed { .. }
        | Line::Ended { .. } => None,
    }
}

/// An applet's words carry its name, so that the model knows who speaks.
fn said(text: &str, source: &Source) -> Message {
    Message::User(match source {
        Source::Person => text.to_owned(),
        Source::Applet { slug } => format!("[applet:{slug}] {text}"),
    })
}

fn failed(error: ModelError) -> AgentError {
    let (code, retryable) = match error.failure {
        Failure::Unavailable => ("server_unavailable", true),
        Failure::RateLimited => ("rate_limited", true),
        Failure::Timeout => ("timeout", true),
        Failure::Unauthorized => ("model_unauthorized", false),
        Failure::NoModel => ("no_model", true),
        // The same turn would fail in the same way.
        Failure::TooLong | Failure::BadRequest => ("model_failed", false),
        Failure::Failed => ("model_failed", true),
    };
    AgentError {
        code: code.into(),
        message: error.message,
        retryable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_fail_again_in_the_same_way_is_not_worth_another_attempt() {
        for (failure, retryable) in [
            (Failure::TooLong, false),
            (Failure::BadRequest, false),
            (Failure::Failed, true),
            (Failure::Timeout, true),
        ] {
            assert_eq!(failed(ModelError::new(failure, "")).retryable, retryable);
        }
    }
}
