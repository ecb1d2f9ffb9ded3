//! An agent for sessions that somebody else set up: before each turn it is told what to work with and who listens.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use gangway_core::{
    Agent, AgentError, CallId, Readiness, SessionId, Tool, ToolError, ToolName, Toolbox, Turn,
    Usage,
};
use gangway_models::{Message, Provider, registry::Registry};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    builtin::{failed, messages},
    run::{Broken, Citation, Listener, Task, run},
};

/// What one turn is done with.
#[derive(Default)]
pub struct Brief {
    /// Stands above the conversation.
    pub system: Option<String>,
    /// 0.0 to 2.0; as the provider likes when absent.
    pub temperature: Option<f64>,
    /// Tools that may be called.
    pub tools: Vec<Arc<Tool>>,
    /// Calls at the most.
    pub max_tool_calls: u32,
    /// Whether the answer must say where it is from.
    pub cite: bool,
    /// Who hears what happens, beside the session's log. Whoever does not keep up holds the turn up.
    pub listener: Option<mpsc::Sender<Heard>>,
}

/// What happens in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A piece of the model's words.
    Token(String),
    /// Something the person should know.
    Notice(String),
    /// A tool is called.
    Call(ToolName, Value),
    /// A tool answered.
    Result(ToolName, Result<Value, ToolError>),
    /// A tool was wanted, but no call was left for it.
    Over(ToolName, Value),
    /// The answer is there.
    Done {
        /// The last words of the model.
        output: String,
        /// Where it is from, if that was asked for.
        citations: Vec<Citation>,
    },
    /// There is none, because of this.
    Failed {
        /// The name by which pages know the reason.
        code: &'static str,
        /// What happened and what to do.
        message: String,
    },
}

/// Whoever sets sessions up.
pub trait Briefing: Toolbox {
    /// Wraps the models for a session, for example to meter them.
    fn models(&self, _session: SessionId, models: Arc<dyn Provider>) -> Arc<dyn Provider> {
        models
    }

    /// What the next turn of a session is done with, or why there will be none.
    fn brief(&self, session: SessionId, prompt: &str) -> Result<Brief, AgentError>;
}

/// Takes turns as it is told.
pub struct Briefed {
    models: Arc<Registry>,
    briefing: Arc<dyn Briefing>,
}

impl Briefed {
    /// With these models, told by whoever set the sessions up.
    #[must_use]
    pub fn new(models: Arc<Registry>, briefing: Arc<dyn Briefing>) -> Self {
        Self { models, briefing }
    }

    async fn answer(&self, turn: Turn) -> Result<Option<Usage>, AgentError> {
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
        let mut listener = Both {
            turn,
            other: brief.listener,
        };
        let toolbox: &dyn Toolbox = &*self.briefing;
        let models = self
            .briefing
            .models(task.session, Arc::clone(&self.models) as _);
        let finished = match run(&*models, toolbox, task, &mut listener).await {
            Ok(finished) => finished,
            Err(broken) => {
                let (code, error) = match broken {
                    Broken::Model(error) => (error.failure.code(), failed(error)),
                    Broken::Listener(error) => ("ERR_INTERNAL", AgentError::from(error)),
                };
                let message = error.message.clone();
                listener.tell(Heard::Failed { code, message }).await;
                return Err(error);
            }
        };
        let done = Heard::Done {
            output: finished.output,
            citations: finished.citations,
        };
        listener.tell(done).await;
        Ok(finished.usage.map(|(input, output)| Usage {
            input_tokens: input,
            output_tokens: output,
        }))
    }
}

impl Agent for Briefed {
    fn description(&self) -> String {
        "Answers web pages, with what the person allows them".into()
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

/// The log of the session, and whoever else listens.
struct Both {
    turn: Turn,
    other: Option<mpsc::Sender<Heard>>,
}

impl Both {
    async fn tell(&self, heard: Heard) {
        if let Some(other) = &self.other {
            // Whoever left hears nothing more; the turn goes on until it is stopped.
            let _ = other.send(heard).await;
        }
    }
}

impl Listener for Both {
    type Error = gangway_core::Error;
    type Call = CallId;

    async fn token(&mut self, text: &str) -> gangway_core::Result<()> {
        self.turn.delta(text).await?;
        self.tell(Heard::Token(text.to_owned())).await;
        Ok(())
    }

    async fn notice(&mut self, text: &str) -> gangway_core::Result<()> {
        self.turn.notice(text).await?;
        self.tell(Heard::Notice(text.to_owned())).await;
        Ok(())
    }

    async fn call(&mut self, tool: &ToolName, arguments: &Value) -> gangway_core::Result<CallId> {
        let call = Listener::call(&mut self.turn, tool, arguments).await?;
        self.tell(Heard::Call(tool.clone(), arguments.clone()))
            .await;
        Ok(call)
    }

    async fn result(
        &mut self,
        call: CallId,
        tool: &ToolName,
        result: &Result<Value, ToolError>,
    ) -> gangway_core::Result<()> {
        Listener::result(&mut self.turn, call, tool, result).await?;
        self.tell(Heard::Result(tool.clone(), result.clone())).await;
        Ok(())
    }

    async fn over(&mut self, tool: &ToolName, arguments: &Value) -> gangway_core::Result<()> {
        self.tell(Heard::Over(tool.clone(), arguments.clone()))
            .await;
        Ok(())
    }
}
