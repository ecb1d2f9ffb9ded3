//! The built-in agent: a model with tools, on the user's models and tools.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::{
    FutureExt,
    future::{BoxFuture, join},
};
use gangway_core::{
    Agent, AgentError, CallId, OWN, QuestionId, Readiness, Source, ToolError, ToolName, Toolbox,
    Turn, Usage,
    conversation::{Entry, EntryBody},
};
use gangway_models::{
    Failure, Message, ModelError, ToolCall,
    registry::{NO_MODEL, Registry},
};
use serde_json::Value;

use crate::{
    app_events::{about, newest},
    router::route,
    run::{Listener, RunError, Task, call_answered, past_result, run},
};

/// Characters of conversation that a model is sent; the oldest turns are left out first.
pub const CONTEXT_CHARS: usize = 400_000;

/// Characters that a model is sent of a result of an earlier turn.
pub const PAST_RESULT: usize = 10_000;

pub struct Builtin {
    models: Arc<Registry>,
    tools: Arc<dyn Toolbox>,
    max_tool_calls: u32,
}

impl Builtin {
    /// With a limit of tool calls per turn.
    #[must_use]
    pub fn new(models: Arc<Registry>, tools: Arc<dyn Toolbox>, max_tool_calls: u32) -> Self {
        Self {
            models,
            tools,
            max_tool_calls,
        }
    }

    async fn answer(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let offered = self.tools.tools(turn.session(), turn.prompt());
        let (messages, mut tools) = join(messages(&turn), offered).await;
        let mut messages = messages?;
        let mut max_tool_calls = self.max_tool_calls;
        if let Some(question) = turn.open_question() {
            let texts = self.resume(&mut turn, &question).await?;
            let made = texts.iter().filter(|m| matches!(m, Message::Tool { .. }));
            let made = u32::try_from(made.count()).unwrap_or(u32::MAX);
            max_tool_calls = max_tool_calls.saturating_sub(made);
            messages.extend(texts);
            messages = fitting(messages, CONTEXT_CHARS);
            // The answer may have taken long.
            tools = self.tools.tools(turn.session(), turn.prompt()).await;
        }
        // Gangway's own tools were selected for this prompt already.
        let (own, mut tools): (Vec<_>, Vec<_>) =
            tools.into_iter().partition(|t| t.name.server() == OWN);
        // Servers that were used in this conversation stay, whatever the prompt is about.
        let used = used(&messages);
        let route = route(turn.prompt(), &tools);
        tools.retain(|tool| route.has(tool.name.server()) || used.contains(tool.name.server()));
        tools.extend(own);
        let task = Task {
            session: turn.session(),
            messages,
            model: turn.model().map(str::to_owned),
            tools,
            max_tool_calls,
            cite: false,
            temperature: None,
        };
        let finished = run(&*self.models, &*self.tools, task, &mut turn).await;
        let finished = finished.map_err(|broken| match broken {
            RunError::Model(error) => failed(error),
            RunError::Listener(error) => error.into(),
        })?;
        Ok(finished.usage.map(|(input, output)| Usage {
            input_tokens: input,
            output_tokens: output,
        }))
    }

    /// Continues after a restart: waits for the answer to the open question, makes the call that it was about, and
    /// returns the messages of this turn for the model.
    async fn resume(
        &self,
        turn: &mut Turn,
        question: &QuestionId,
    ) -> Result<Vec<Message>, AgentError> {
        let mut entries = turn.so_far().await?;
        let answer = turn.reopen(question).await?;
        let open = entries
            .iter_mut()
            .filter_map(|entry| match &mut entry.line {
                EntryBody::Tool {
                    call,
                    tool,
                    arguments,
                    result: result @ None,
                } => Some((call, tool, arguments, result)),
                _ => None,
            });
        let mut open: Vec<_> = open.collect();
        let asked = open.pop();
        // Calls of one response are made once all of them are approved, so none of these was made.
        for (call, tool, _, result) in open {
            let not_made = Err(NOT_MADE.to_owned());
            turn.tool_result(call.clone(), tool, not_made.clone())
                .await?;
            *result = Some(not_made);
        }
        if let Some((call, tool, arguments, result)) = asked {
            let made = match tool.parse::<ToolName>() {
                Ok(name) => {
                    let arguments = arguments.clone();
                    call_answered(&*self.tools, turn.session(), name, arguments, &answer).await
                }
                Err(error) => Err(ToolError::Failed(error.to_string())),
            };
            let made = made.map_err(|error| error.to_string());
            turn.tool_result(call.clone(), tool, made.clone()).await?;
            *result = Some(made);
        }
        Ok(entries.into_iter().flat_map(past).collect())
    }
}

/// The result of a call that was interrupted by a restart.
const NOT_MADE: &str =
    "Not called: Gangway was restarted first. Call it again if it is still needed.";

impl Listener for Turn {
    type Error = gangway_core::Error;
    type Call = CallId;

    async fn token(&mut self, text: &str) -> gangway_core::Result<()> {
        self.delta(text).await
    }

    async fn notice(&mut self, text: &str) -> gangway_core::Result<()> {
        Turn::notice(self, text).await
    }

    async fn call(&mut self, tool: &ToolName, arguments: &Value) -> gangway_core::Result<CallId> {
        self.tool_call(&tool.to_string(), arguments.clone()).await
    }

    async fn result(
        &mut self,
        call: CallId,
        tool: &ToolName,
        result: &Result<Value, ToolError>,
    ) -> gangway_core::Result<()> {
        let tool = tool.to_string();
        match result {
            Ok(value) => self.tool_result(call, &tool, Ok(value.clone())).await,
            Err(error) => self.tool_failed(call, &tool, error).await,
        }
    }

    async fn end_message(&mut self) -> gangway_core::Result<()> {
        Turn::end_message(self).await
    }

    async fn over(&mut self, tool: &ToolName) -> gangway_core::Result<()> {
        let error = ToolError::Refused {
            code: "ERR_BUDGET_EXCEEDED",
            message: "not called: the limit of tool calls is reached".to_owned(),
        };
        self.tool_skipped(&tool.to_string(), &error).await
    }

    async fn ask(
        &mut self,
        question: &str,
        options: &[String],
    ) -> gangway_core::Result<Option<String>> {
        Turn::ask(self, question, options).await.map(Some)
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

    fn resumes_questions(&self) -> bool {
        true
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        self.answer(turn).boxed()
    }
}

#[must_use]
pub fn used(messages: &[Message]) -> BTreeSet<String> {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant { calls, .. } => Some(calls),
        _ => None,
    });
    let names = calls.flatten().filter_map(|call| call.name.parse().ok());
    names
        .map(|name: ToolName| name.server().to_owned())
        .collect()
}

/// The conversation up to this turn, the prompt last, as far as a model is sent.
pub(crate) async fn messages(turn: &Turn) -> Result<Vec<Message>, AgentError> {
    let (entries, mut instead) = newest(turn, turn.history().await?).await?;
    let mut messages = Vec::with_capacity(entries.len() + 1);
    for entry in entries {
        messages.extend(instead.remove(&entry.seq).map(Message::User));
        messages.extend(past(entry));
    }
    messages.push(user_message(turn.prompt(), turn.source()));
    Ok(fitting(messages, CONTEXT_CHARS))
}

/// The end of a conversation that fits into `room` characters, always with its last message.
#[must_use]
pub fn fitting(mut messages: Vec<Message>, mut room: usize) -> Vec<Message> {
    let fits = messages.iter().rev().take_while(|message| {
        room = room.saturating_sub(length(message));
        room > 0
    });
    // The prompt is always sent, however long it is.
    let stored = fits.count().max(1);
    let mut messages = messages.split_off(messages.len() - stored);
    // A result without its call is invalid.
    let orphans = messages
        .iter()
        .take_while(|m| matches!(m, Message::Tool { .. }));
    let orphans = orphans.count();
    messages.drain(..orphans);
    messages
}

fn length(message: &Message) -> usize {
    match message {
        Message::System(text) | Message::User(text) | Message::Assistant { text, .. } => text.len(),
        Message::Tool { content, .. } => content.len(),
        Message::Images(images) => images.iter().map(|image| image.data.len()).sum(),
    }
}

/// The messages for an entry of the history.
fn past(entry: Entry) -> Vec<Message> {
    match entry.line {
        EntryBody::User { text, source } => vec![user_message(&text, &source)],
        EntryBody::Assistant { text, .. } => vec![Message::Assistant {
            text,
            calls: Vec::new(),
            fields: Default::default(),
        }],
        EntryBody::Tool {
            call,
            tool,
            arguments,
            result,
        } => called(call, tool, arguments, result),
        EntryBody::App { app, app_event, .. } => about(&app, &app_event)
            .map(Message::User)
            .into_iter()
            .collect(),
        EntryBody::Asked { .. }
        | EntryBody::PageCall { .. }
        // Shown to the person; what others write must not instruct the model.
        | EntryBody::PageMessage { .. }
        | EntryBody::Notice { .. }
        | EntryBody::Failed { .. }
        | EntryBody::Ended { .. } => Vec::new(),
    }
}

/// A call of the history and its result; one without a result is marked as interrupted.
fn called(
    call: CallId,
    tool: String,
    arguments: Value,
    result: Option<Result<Value, String>>,
) -> Vec<Message> {
    let id = call.to_string();
    let failed = !matches!(result, Some(Ok(_)));
    let content = match result {
        Some(Ok(value)) => past_result(&value),
        Some(Err(text)) => text,
        None => "This call was interrupted.".into(),
    };
    let arguments = if arguments.is_object() {
        arguments
    } else {
        Value::Object(serde_json::Map::new())
    };
    let made = ToolCall {
        id: id.clone(),
        name: tool.clone(),
        arguments,
    };
    let ask = Message::Assistant {
        text: String::new(),
        calls: vec![made],
        fields: Default::default(),
    };
    let answer = Message::Tool {
        call: id,
        name: tool,
        content: content.chars().take(PAST_RESULT).collect(),
        failed,
    };
    vec![ask, answer]
}

/// An applet's message is prefixed with its name, so that the model knows the sender.
#[must_use]
pub fn user_message(text: &str, source: &Source) -> Message {
    Message::User(user_text(text, source))
}

#[must_use]
pub fn user_text(text: &str, source: &Source) -> String {
    match source {
        Source::Person => text.to_owned(),
        Source::Applet { slug } => format!("[applet:{slug}] {text}"),
        Source::Agent { name } => format!("[agent:{name}] {text}"),
        // The session of a page has no other senders.
        Source::Page { .. } => text.to_owned(),
    }
}

#[must_use]
pub fn failed(error: ModelError) -> AgentError {
    let (code, retryable) = match error.failure {
        Failure::Unavailable => ("server_unavailable", true),
        Failure::RateLimited => ("rate_limited", true),
        Failure::OverBudget => ("budget_exceeded", true),
        Failure::Timeout => ("timeout", true),
        Failure::Unauthorized => ("model_unauthorized", false),
        Failure::NoModel => ("no_model", true),
        // Retrying would fail in the same way.
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
