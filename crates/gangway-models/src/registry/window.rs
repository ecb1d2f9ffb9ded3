//! How much the model that is meant can hold in mind.

use std::time::Duration;

use super::instance::{Caller, Instance};
use crate::window::{of_family, of_ollama, of_openai};

/// Nobody waits longer for a number that is only shown.
const WITHIN: Duration = Duration::from_secs(2);

/// Models whose windows are remembered.
const REMEMBERED: usize = 256;

impl Instance {
    /// Tokens that the window of this model holds, or of the one it would use.
    pub(super) async fn window(&self, model: Option<&str>) -> Option<u64> {
        let known = model.unwrap_or_default().to_owned();
        if let Some(tokens) = self.windows.lock().get(&known) {
            return *tokens;
        }
        let asked = tokio::time::timeout(WITHIN, self.ask_window(model)).await;
        let tokens = asked.ok().flatten();
        // Ollama loads the same model with another window when somebody asks for one.
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
