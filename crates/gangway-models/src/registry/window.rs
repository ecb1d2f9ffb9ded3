//! The context window of a model.

use std::time::Duration;

use super::instance::{Caller, Instance};
use crate::window::{of_family, of_ollama, of_openai};

/// The number is for display only, so nothing waits longer for it.
const WITHIN: Duration = Duration::from_secs(2);

/// Models whose windows are cached.
const REMEMBERED: usize = 256;

impl Instance {
    /// The window of this model, or of the default, in tokens.
    pub(super) async fn window(&self, model: Option<&str>) -> Option<u64> {
        let known = model.unwrap_or_default().to_owned();
        if let Some(tokens) = self.windows.lock().get(&known) {
            return *tokens;
        }
        let asked = tokio::time::timeout(WITHIN, self.ask_window(model)).await;
        let tokens = asked.ok().flatten();
        // Ollama may reload a model with another window.
        let changes = matches!(self.caller, Caller::Ollama(_) | Caller::Embedded(_));
        let mut windows = self.windows.lock();
        if !changes && windows.len() < REMEMBERED {
            windows.insert(known, tokens);
        }
        tokens
    }

    async fn ask_window(&self, model: Option<&str>) -> Option<u64> {
        match &self.caller {
            Caller::Ollama(ollama) => of_ollama(ollama, &ollama.model_for(model).await?).await,
            Caller::OpenAi(server) => of_openai(server, &server.model_for(model).await?).await,
            Caller::Anthropic(server) => of_family(&server.model_for(model).await?),
            Caller::Embedded(provider) => provider.window(model).await,
        }
    }
}
