//! The built-in loop as the executor of a remote agent: a model with tools, and a conversation in memory.

use std::{ffi::OsString, sync::Arc};

use futures_util::{StreamExt, future::BoxFuture};
use gangway_agents::{
    builtin::{CONTEXT_CHARS, PAST_RESULT, failed, fitting, used, user_message},
    router::route,
    run::{Listener, RunError, Task, past_result, run},
};
use gangway_core::{AgentError, SessionId, ToolError, ToolName, Toolbox, Usage};
use gangway_mcp::ServerSpec;
use gangway_models::{ChatRequest, Failure, Message, ModelError, Piece, Provider, ToolCall};
use serde_json::Value;

use super::{
    brief::{SUMMARIZE, handed_over, instructions, trimmed},
    executor::{Executor, Prompt, TurnSink},
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
}

pub struct Builtin {
    parts: BuiltinParts,
    model: Option<String>,
    session: SessionId,
    instructions: Message,
    past: ModelConversation,
}

impl Builtin {
    #[must_use]
    pub fn new(setup: &Setup, parts: BuiltinParts) -> Self {
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
        }
    }

    async fn answer(
        &mut self,
        prompt: &Prompt,
        sink: &TurnSink,
    ) -> Result<Option<Usage>, AgentError> {
        self.past.prompt(user_message(&prompt.text, &prompt.source));
        let toolbox: &dyn Toolbox = &*self.parts.tools;
        let mut tools = toolbox.tools(self.session, &prompt.text).await;
        let used = used(&self.past.messages);
        let route = route(&prompt.text, &tools);
        tools.retain(|tool| route.has(tool.name.server()) || used.contains(tool.name.server()));
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
            past: &mut self.past,
            models: &*self.parts.models,
            model: self.model.as_deref(),
        };
        let finished = run(&*self.parts.models, toolbox, task, &mut hearing).await;
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
        let mut pieces = self.parts.models.chat(request).await?;
        let mut message = String::new();
        while let Some(piece) = pieces.next().await {
            if let Piece::Text(text) = piece? {
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

/// The conversation for the model.
#[derive(Default)]
struct ModelConversation {
    messages: Vec<Message>,
    /// Whether the last message is still being streamed.
    open: bool,
    calls: u64,
}

impl ModelConversation {
    /// Replaces everything by a summary. Some models require every message to be answered before the next one.
    fn begin_with(&mut self, summary: &str) {
        self.open = false;
        self.messages = vec![
            Message::User(handed_over(summary)),
            Message::Assistant {
                text: "I have read the summary.".into(),
                calls: Vec::new(),
                fields: Default::default(),
            },
        ];
    }

    fn prompt(&mut self, prompt: Message) {
        self.open = false;
        self.messages.push(prompt);
        self.messages = fitting(std::mem::take(&mut self.messages), CONTEXT_CHARS);
    }

    fn token(&mut self, more: &str) {
        match self.messages.last_mut() {
            Some(Message::Assistant { text, .. }) if self.open => text.push_str(more),
            _ => self.messages.push(Message::Assistant {
                text: more.to_owned(),
                calls: Vec::new(),
                fields: Default::default(),
            }),
        }
        self.open = true;
    }

    /// Records a call, with a placeholder result in case it is interrupted.
    fn call(&mut self, tool: &ToolName, arguments: &Value) -> String {
        self.open = false;
        self.calls += 1;
        let (id, name) = (format!("call_{}", self.calls), tool.to_string());
        self.messages.push(Message::Assistant {
            text: String::new(),
            calls: vec![ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments: arguments.clone(),
            }],
            fields: Default::default(),
        });
        self.messages.push(Message::Tool {
            call: id.clone(),
            name,
            content: "This call was interrupted.".into(),
            failed: true,
        });
        id
    }

    fn result(&mut self, id: &str, result: &Result<Value, ToolError>) {
        let text = match result {
            Ok(value) => past_result(value),
            Err(error) => error.to_string(),
        };
        let found = self.messages.iter_mut().rev().find_map(|one| match one {
            Message::Tool {
                call,
                content,
                failed,
                ..
            } if call == id => Some((content, failed)),
            _ => None,
        });
        if let Some((content, failed)) = found {
            *content = text.chars().take(PAST_RESULT).collect();
            *failed = result.is_err();
        }
    }
}

/// The listener cannot fail.
enum Never {}

struct TurnListener<'a> {
    sink: &'a TurnSink,
    past: &'a mut ModelConversation,
    models: &'a dyn Provider,
    model: Option<&'a str>,
}

impl Listener for TurnListener<'_> {
    type Error = Never;
    type Call = (u32, String);

    async fn token(&mut self, text: &str) -> Result<(), Never> {
        self.past.token(text);
        self.sink.delta(text).await;
        Ok(())
    }

    async fn notice(&mut self, text: &str) -> Result<(), Never> {
        self.sink.notice(text).await;
        Ok(())
    }

    async fn call(&mut self, tool: &ToolName, arguments: &Value) -> Result<(u32, String), Never> {
        let id = self.past.call(tool, arguments);
        Ok((self.sink.call(&tool.to_string(), arguments).await, id))
    }

    async fn result(
        &mut self,
        (call, id): (u32, String),
        tool: &ToolName,
        result: &Result<Value, ToolError>,
    ) -> Result<(), Never> {
        self.past.result(&id, result);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_cut_off_is_reported_and_one_that_answered_is_not() {
        let mut past = ModelConversation::default();
        past.prompt(Message::User("Hi".into()));
        past.token("One ");
        past.token("moment.");
        let tool: ToolName = "files/read".parse().unwrap();
        let first = past.call(&tool, &serde_json::json!({}));
        let second = past.call(&tool, &serde_json::json!({ "a": 1 }));
        past.result(&second, &Ok(Value::String("text".into())));
        past.token("Done.");
        let shown: Vec<String> = past
            .messages
            .iter()
            .map(|message| match message {
                Message::System(text) | Message::User(text) => text.clone(),
                Message::Assistant { text, calls, .. } => format!("{text}{}", calls.len()),
                Message::Tool {
                    content, failed, ..
                } => format!("{content} {failed}"),
                Message::Images(images) => images.len().to_string(),
            })
            .collect();
        let wanted = [
            "Hi",
            "One moment.0",
            "1",
            "This call was interrupted. true",
            "1",
            "text false",
            "Done.0",
        ];
        assert_eq!(shown, wanted);
        assert_ne!(first, second);
    }

    #[test]
    fn the_oldest_words_go_first_when_there_are_too_many() {
        let mut past = ModelConversation::default();
        for n in 0..10 {
            past.prompt(Message::User(format!("{n}{}", "x".repeat(100_000))));
        }
        assert!(past.messages.len() < 5 && past.messages.len() > 1);
        assert!(matches!(past.messages.last(), Some(Message::User(text)) if text.starts_with('9')));
    }
}
