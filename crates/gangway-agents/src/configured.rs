//! An agent whose instructions, tools and limits are set for each turn by the protocol that owns the session.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use gangway_core::{Agent, AgentError, Readiness, SessionId, Tool, Toolbox, Turn, Usage};
use gangway_models::{Message, Provider, registry::Registry};

use crate::{
    builtin::{failed, messages},
    run::{RunError, Task, run},
};

/// The settings of one turn.
#[derive(Default)]
pub struct TurnSettings {
    /// The system prompt.
    pub system: Option<String>,
    /// 0.0 to 2.0; the provider's default when absent.
    pub temperature: Option<f64>,
    pub tools: Vec<Arc<Tool>>,
    pub max_tool_calls: u32,
    /// Whether the answer must cite its sources.
    pub cite: bool,
}

pub trait TurnSettingsSource: Toolbox {
    /// Wraps the models for a session, for example to meter them.
    fn models(&self, _session: SessionId, models: Arc<dyn Provider>) -> Arc<dyn Provider> {
        models
    }

    /// The settings of the next turn of a session, or why there is none.
    fn brief(&self, session: SessionId, prompt: &str) -> Result<TurnSettings, AgentError>;
}

pub struct ConfiguredAgent {
    models: Arc<Registry>,
    briefing: Arc<dyn TurnSettingsSource>,
}

impl ConfiguredAgent {
    #[must_use]
    pub fn new(models: Arc<Registry>, briefing: Arc<dyn TurnSettingsSource>) -> Self {
        Self { models, briefing }
    }

    async fn answer(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let brief = self.briefing.brief(turn.session(), turn.prompt())?;
        let mut conversation = messages(&turn).await?;
        if let Some(system) = brief.system {
            conversation.insert(0, Message::System(system));
        }
        let task = Task {
            session: turn.session(),
            messages: conversation,
            model: turn.model().map(str::to_owned),
            tools: brief.tools,
            max_tool_calls: brief.max_tool_calls,
            cite: brief.cite,
            temperature: brief.temperature,
        };
        let toolbox: &dyn Toolbox = &*self.briefing;
        let models = self
            .briefing
            .models(task.session, Arc::clone(&self.models) as _);
        let finished = run(&*models, toolbox, task, &mut turn).await;
        let finished = finished.map_err(|broken| match broken {
            RunError::Model(error) => failed(error),
            RunError::Listener(error) => error.into(),
        })?;
        turn.cite(finished.citations);
        Ok(finished.usage.map(|(input, output)| Usage {
            input_tokens: input,
            output_tokens: output,
        }))
    }
}

impl Agent for ConfiguredAgent {
    fn description(&self) -> String {
        "Answers web pages, within their permissions".into()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn is_for_choosing(&self) -> bool {
        false
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        self.answer(turn).boxed()
    }
}
