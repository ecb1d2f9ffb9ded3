//! The built-in loop as the executor of a remote agent: a model with tools, and a conversation in memory.

use std::{ffi::OsString, sync::Arc};

use futures_util::{StreamExt, future::BoxFuture};
use gangway_agents::{
    builtin::{failed, used, user_message},
    router::route,
    run::{Listener, RunError, Task, run},
};
use gangway_core::{AgentError, OWN, SessionId, ToolError, ToolName, Toolbox, Usage};
use gangway_mcp::ServerSpec;
use gangway_models::{ChatChunk, ChatRequest, Failure, Message, ModelError, Provider};
use serde_json::Value;

use super::{
    brief::{SUMMARIZE, instructions, trimmed},
    conversation::ModelConversation,
    executor::{Executor, Prompt, TurnSink},
    pages::{Pages, TurnTools},
    transcript::transcript,
    wire::Setup,
};

/// Creates the parts of the built-in loop.
pub trait BuiltinFactory: Send + Sync {
    /// Models and tools for an agent. Must return soon: nothing is connected yet.
    fn parts(&self, setup: &Setup) -> Result<BuiltinParts, String>;

    /// The MCP servers of the project, for agents that run such servers themselves; the returned function may block.
    fn servers(&self, _setup: &Setup) -> Servers {
        Arc::new(Vec::new)
    }

    /// The command that connects an MCP client over stdio to the socket that is appended to it.
    fn page_server(&self) -> Option<Vec<OsString>> {
        None
    }

    /// The guard command, which kills a program when this process is killed.
    fn guard(&self) -> Vec<OsString> {
        Vec::new()
    }
}

pub type Servers = Arc<dyn Fn() -> Vec<ServerSpec> + Send + Sync>;

pub struct BuiltinParts {
    pub models: Arc<dyn Provider>,
    pub tools: Arc<dyn OwnTools>,
    /// Tool calls per turn.
    pub max_tool_calls: u32,
}

/// The tools of one agent.
pub trait OwnTools: Toolbox {
    /// Starts to connect; calls wait for it within limits.
    fn open(&self);

    fn close(&self) -> BoxFuture<'_, ()>;

    /// The result of a page's tool as the model gets it: truncated if it is long, and readable with the reader.
    fn bounded(&self, _session: SessionId, result: Value) -> Value {
        result
    }
}

pub struct Builtin {
    parts: BuiltinParts,
    model: Option<String>,
    session: SessionId,
    instructions: Message,
    past: ModelConversation,
    pages: Arc<Pages>,
}

impl Builtin {
    #[must_use]
    pub fn new(setup: &Setup, parts: BuiltinParts, pages: Arc<Pages>) -> Self {
        let instructions = format!(
            "{}\n\nYou work in the project {}, in the folder {}.",
            instructions(setup),
            setup.project,
            setup.folder.display()
        );
        Self {
            parts,
            model: setup.model.clone(),
            session: SessionId::new(),
            instructions: Message::System(instructions),
            past: ModelConversation::default(),
            pages,
        }
    }

    async fn answer(
        &mut self,
        prompt: &Prompt,
        sink: &TurnSink,
    ) -> Result<Option<Usage>, AgentError> {
        self.past.prompt(user_message(&prompt.text, &prompt.source));
        let servers = &*self.parts.tools;
        let toolbox = TurnTools::new(servers, self.session, &prompt.text, &self.pages, sink).await;
        let (own, mut tools): (Vec<_>, Vec<_>) = toolbox
            .all()
            .into_iter()
            .partition(|tool| tool.name.server() == OWN);
        let used = used(&self.past.messages);
        let route = route(&prompt.text, &tools);
        tools.retain(|tool| route.has(tool.name.server()) || used.contains(tool.name.server()));
        tools.extend(own);
        let mut messages = vec![self.instructions.clone()];
        messages.extend(self.past.messages.iter().cloned());
        let task = Task {
            session: self.session,
            messages,
            model: self.model.clone(),
            tools,
            max_tool_calls: self.parts.max_tool_calls,
            cite: false,
            temperature: None,
        };
        let mut hearing = TurnListener {
            sink,
            tools: &toolbox,
            past: &mut self.past,
            models: &*self.parts.models,
            model: self.model.as_deref(),
        };
        let finished = run(&*self.parts.models, &toolbox, task, &mut hearing).await;
        let finished = finished.map_err(|broken| match broken {
            RunError::Model(error) => failed(error),
            RunError::Listener(never) => match never {},
        })?;
        Ok(finished.usage.map(|(input, output)| Usage {
            input_tokens: input,
            output_tokens: output,
        }))
    }
}

impl Builtin {
    /// Summarizes the conversation. It is sent as one text: a model that is sent tool calls wants the tools, too.
    async fn summarize(&self) -> Result<String, String> {
        let whole = transcript(&self.past.messages);
        let mut problem = String::new();
        // It may not fit into the context window; the end matters most.
        for part in [1, 2, 4, 8] {
            let mut begin = whole.len() - whole.len() / part;
            while !whole.is_char_boundary(begin) {
                begin += 1;
            }
            let text = format!(
                "{SUMMARIZE}\n\n<conversation>\n{}\n</conversation>",
                &whole[begin..]
            );
            let request = ChatRequest {
                model: self.model.clone(),
                messages: vec![Message::User(text)],
                ..ChatRequest::default()
            };
            match self.ask(request).await {
                Ok(summary) => return Ok(summary),
                Err(error) => {
                    problem = error.message;
                    if !matches!(error.failure, Failure::TooLong | Failure::BadRequest) {
                        break;
                    }
                }
            }
        }
        Err(problem)
    }

    /// The text of one response.
    async fn ask(&self, request: ChatRequest) -> Result<String, ModelError> {
        let mut chunks = self.parts.models.chat(request).await?;
        let mut message = String::new();
        while let Some(chunk) = chunks.next().await {
            if let ChatChunk::Text(text) = chunk? {
                message.push_str(&text);
            }
        }
        Ok(message)
    }
}

impl Executor for Builtin {
    fn start(&mut self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn settle(&mut self) {
        self.parts.tools.open();
        let (models, model) = (Arc::clone(&self.parts.models), self.model.clone());
        // So that the first message does not wait for the detection of local models.
        tokio::spawn(async move { models.window(model.as_deref()).await });
    }

    fn run_turn<'a>(
        &'a mut self,
        prompt: &'a Prompt,
        sink: &'a TurnSink,
    ) -> BoxFuture<'a, Result<Option<Usage>, AgentError>> {
        Box::pin(self.answer(prompt, sink))
    }

    fn hand_over(&mut self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let summary = trimmed(&self.summarize().await?)?;
            self.past.begin_with(&summary);
            Ok(summary)
        })
    }

    fn end(&mut self) -> BoxFuture<'_, ()> {
        self.parts.tools.close()
    }
}

/// The listener cannot fail.
enum Never {}

struct TurnListener<'a> {
    sink: &'a TurnSink,
    tools: &'a TurnTools<'a>,
    past: &'a mut ModelConversation,
    models: &'a dyn Provider,
    model: Option<&'a str>,
}

impl Listener for TurnListener<'_> {
    type Error = Never;
    /// Its number and its id; the calls of page tools are numbered when they are made.
    type Call = (Option<u32>, String);

    async fn token(&mut self, text: &str) -> Result<(), Never> {
        self.past.token(text);
        self.sink.delta(text).await;
        Ok(())
    }

    async fn notice(&mut self, text: &str) -> Result<(), Never> {
        self.sink.notice(text).await;
        Ok(())
    }

    async fn call(&mut self, tool: &ToolName, arguments: &Value) -> Result<Self::Call, Never> {
        let id = self.past.call(tool, arguments);
        if self.tools.is_of_page(tool) {
            return Ok((None, id));
        }
        let call = self.sink.call(&tool.to_string(), arguments).await;
        Ok((Some(call), id))
    }

    async fn result(
        &mut self,
        (call, id): Self::Call,
        tool: &ToolName,
        result: &Result<Value, ToolError>,
    ) -> Result<(), Never> {
        self.past.result(&id, result);
        let Some(call) = call else { return Ok(()) };
        let message = result.as_ref().map_err(ToString::to_string);
        let text = message.as_ref().map(|value| *value).map_err(String::as_str);
        self.sink.result(call, &tool.to_string(), text).await;
        Ok(())
    }

    async fn used(&mut self, input: u64, output: u64) -> Result<(), Never> {
        let window = self.models.window(self.model).await;
        self.sink
            .context(input.saturating_add(output), window)
            .await;
        Ok(())
    }
}
