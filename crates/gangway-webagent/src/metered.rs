//! The user's models as pages use them: every call counts against the budget of the page's origin.

use std::sync::Arc;

use futures_util::{StreamExt, future::BoxFuture};
use gangway_core::Origin;
use gangway_models::{ChatChunk, ChatRequest, ChatStream, Failure, Message, ModelError, Provider};

use crate::permissions::{Budgets, OverBudget};

/// Characters per token, if a provider does not report usage.
const CHARS: usize = 4;

/// The length of an answer is limited only below this remaining budget: every provider accepts such a limit, and some
/// reject higher ones.
const CAPPED: u32 = 4096;

pub(crate) struct Metered {
    pub(crate) models: Arc<dyn Provider>,
    pub(crate) budgets: Arc<Budgets>,
    pub(crate) origin: Origin,
}

impl Provider for Metered {
    fn supports_tools(&self) -> bool {
        self.models.supports_tools()
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        self.models.models()
    }

    fn window<'a>(&'a self, model: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        self.models.window(model)
    }

    fn chat(
        &self,
        mut request: ChatRequest,
    ) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        Box::pin(async move {
            let read = tokens(length(&request));
            let over = |over: OverBudget| {
                let failure = match over {
                    OverBudget::Waiting { .. } => Failure::RateLimited,
                    OverBudget::Tokens { .. } => Failure::OverBudget,
                };
                ModelError::new(failure, over.to_string())
            };
            let lease = self.budgets.begin(&self.origin, read).await;
            let mut lease = lease.map_err(over)?;
            if let Some(most) = u32::try_from(lease.left())
                .ok()
                .filter(|left| *left < CAPPED)
            {
                let most = most.max(1);
                request.max_tokens = Some(request.max_tokens.map_or(most, |asked| asked.min(most)));
            }
            // A page that leaves while the model reads has used its input.
            let chunks = match self.models.chat(request).await {
                Ok(chunks) => chunks,
                Err(error) => {
                    lease.used(0);
                    return Err(error);
                }
            };
            let mut written = 0;
            let chunks = chunks.inspect(move |chunk| match chunk {
                Ok(ChatChunk::Text(text)) => {
                    written += text.len();
                    lease.used(read + tokens(written));
                }
                Ok(ChatChunk::ToolCall(call)) => {
                    written += call.name.len() + call.arguments.to_string().len();
                    lease.used(read + tokens(written));
                }
                Ok(ChatChunk::Usage { input, output }) => lease.used(input.saturating_add(*output)),
                _ => {}
            });
            Ok(chunks.boxed())
        })
    }
}

fn tokens(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(CHARS)).unwrap_or(u64::MAX)
}

fn length(request: &ChatRequest) -> usize {
    let message = |message: &Message| match message {
        Message::System(text) | Message::User(text) | Message::Assistant { text, .. } => text.len(),
        Message::Tool { content, .. } => content.len(),
        Message::Images(images) => images.iter().map(|image| image.data.len()).sum(),
    };
    let messages = request.messages.iter().map(message);
    let tools = request.tools.iter();
    let tools = tools.map(|tool| tool.description.len() + tool.parameters.to_string().len());
    messages.chain(tools).sum()
}
