//! The agent loop: ask the model, make its tool calls, return the results, until it has an answer.

mod approve;
mod citations;
mod names;
mod shown;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, sync::Arc};

use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use gangway_core::{Citation, SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_models::{
    ChatChunk, ChatRequest, Message, ModelError, Provider, ToolCall, ToolChoice, ToolSpec,
};
use names::Names;
use serde_json::Value;
use shown::Shown;
pub use shown::past_result;

use approve::approve;
pub use approve::decided;
pub(crate) use approve::{call_answered, call_one};

use crate::router::most_fitting;

/// OpenAI's limit.
const MOST_TOOLS: usize = 128;

pub struct Task {
    pub session: SessionId,
    /// The conversation, the prompt last. Tools in it have their own names, `server/tool`.
    pub messages: Vec<Message>,
    /// The default when absent.
    pub model: Option<String>,
    pub tools: Vec<Arc<Tool>>,
    /// The limit of calls; then the model must answer with what it has.
    pub max_tool_calls: u32,
    /// Whether the answer must cite its sources.
    pub cite: bool,
    /// 0.0 to 2.0; the provider's default when absent.
    pub temperature: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The last message of the model.
    pub output: String,
    /// If requested.
    pub citations: Vec<Citation>,
    /// Input and output tokens, if the model reported them.
    pub usage: Option<(u64, u64)>,
}

#[derive(Debug)]
pub enum RunError<E> {
    Model(ModelError),
    Listener(E),
}

/// Receives the events of a run.
pub trait Listener: Send {
    type Error: Send;

    /// Refers to a call in its result.
    type Call: Send;

    /// A part of the model's text.
    fn token(&mut self, text: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// A notice for the user.
    fn notice(&mut self, text: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    fn call(
        &mut self,
        tool: &ToolName,
        arguments: &Value,
    ) -> impl Future<Output = Result<Self::Call, Self::Error>> + Send;

    fn result(
        &mut self,
        call: Self::Call,
        tool: &ToolName,
        result: &Result<Value, ToolError>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Asks the user. `None` when that is not possible.
    fn ask(
        &mut self,
        _question: &str,
        _options: &[String],
    ) -> impl Future<Output = Result<Option<String>, Self::Error>> + Send {
        std::future::ready(Ok(None))
    }

    /// Input and output tokens of one response.
    fn used(
        &mut self,
        _input: u64,
        _output: u64,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        std::future::ready(Ok(()))
    }

    /// The message has ended, and the model continues without a tool call.
    fn end_message(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        std::future::ready(Ok(()))
    }

    /// A tool call above the limit.
    fn over(&mut self, _tool: &ToolName) -> impl Future<Output = Result<(), Self::Error>> + Send {
        std::future::ready(Ok(()))
    }
}

/// Runs until there is an answer. Dropping it cancels model and tools.
pub async fn run<L: Listener>(
    models: &dyn Provider,
    toolbox: &dyn Toolbox,
    mut task: Task,
    listener: &mut L,
) -> Result<Finished, RunError<L::Error>> {
    // One is reserved for the tool that reads on.
    task.tools = most_fitting(sentence(&task.messages), task.tools, MOST_TOOLS - 1);
    // Named from the start, offered once there is something to read.
    let reader = toolbox.reader();
    let named: Vec<_> = task.tools.iter().chain(&reader).cloned().collect();
    let mut names = Names::new(&named, &task.messages);
    names.rename(&mut task.messages);
    let mut specs: Vec<ToolSpec> = task.tools.iter().map(|tool| names.spec(tool)).collect();
    let mut sources = citations::Sources::default();
    if task.cite {
        task.messages.insert(0, citations::instruction());
    }
    let mut unread = reader;
    let mut left = task.max_tool_calls;
    let mut usage = None;
    loop {
        let request = ChatRequest {
            model: task.model.clone(),
            messages: task.messages.clone(),
            // Tools are still offered at the limit: earlier calls would be invalid without them.
            tools: specs.clone(),
            tool_choice: if left == 0 {
                ToolChoice::Never
            } else {
                ToolChoice::Auto
            },
            temperature: task.temperature,
            ..ChatRequest::default()
        };
        let message = listen(models, request, listener).await?;
        if let Some((input, output)) = message.usage {
            let received = listener.used(input, output).await;
            received.map_err(RunError::Listener)?;
        }
        usage = add(usage, message.usage);
        if message.calls.is_empty() || left == 0 {
            return Ok(Finished {
                citations: sources.cited(task.cite, &message.text),
                output: message.text,
                usage,
            });
        }
        // Calls above the limit get a result, but are not made.
        let (now, over) = message
            .calls
            .split_at(message.calls.len().min(left as usize));
        left -= u32::try_from(now.len()).unwrap_or(left);
        if now.iter().all(|call| names.tool(&call.name).is_none()) {
            listener.end_message().await.map_err(RunError::Listener)?;
        }
        let mut results = call_all(toolbox, task.session, &names, now, listener).await?;
        for call in over {
            if let Some(tool) = names.tool(&call.name) {
                let received = listener.over(&tool).await;
                received.map_err(RunError::Listener)?;
            }
            let reason =
                "Not called: the limit of tool calls is reached. Answer with the results so far.";
            results.push((call.clone(), Err(reason.to_owned())));
        }
        task.messages.push(Message::Assistant {
            text: message.text,
            calls: message.calls.clone(),
            fields: Default::default(),
        });
        if results.iter().any(|(_, result)| is_cut(result)) {
            specs.extend(unread.take().map(|reader| names.spec(&reader)));
        }
        let mut images = Vec::new();
        for (n, (call, result)) in results.into_iter().enumerate() {
            // A call that was not made is not a source.
            let number = (n < now.len()).then(|| sources.add(&names, &call, &result));
            let shown = Shown::new(number.filter(|_| task.cite), &result);
            images.extend(shown.images);
            task.messages.push(Message::Tool {
                call: call.id,
                name: call.name,
                content: shown.text,
                failed: result.is_err(),
            });
        }
        if !images.is_empty() {
            task.messages.push(Message::Images(images));
        }
        let called: Vec<_> = now.iter().filter_map(|c| names.tool(&c.name)).collect();
        let offered = toolbox.offered_after(task.session, &called).await;
        if !offered.is_empty() {
            let reader = specs.split_off(task.tools.len());
            task.tools = with_offered(&task, &offered);
            names.add(&task.tools);
            let tools = task.tools.iter().map(|tool| names.spec(tool));
            specs = tools.chain(reader).collect();
        }
    }
}

/// The tools of a task, updated with what servers offer now.
fn with_offered(task: &Task, offered: &[Arc<Tool>]) -> Vec<Arc<Tool>> {
    let now: HashSet<&str> = offered.iter().map(|tool| tool.name.server()).collect();
    let stored = task.tools.iter();
    let stored = stored.filter(|tool| !now.contains(tool.name.server()));
    let tools = stored.chain(offered).cloned().collect();
    most_fitting(sentence(&task.messages), tools, MOST_TOOLS - 1)
}

/// The last message of the user.
fn sentence(messages: &[Message]) -> &str {
    let entry = messages.iter().rev().find_map(|message| match message {
        Message::User(text) => Some(text.as_str()),
        _ => None,
    });
    entry.unwrap_or_default()
}

/// One response of the model.
struct Response {
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<(u64, u64)>,
}

async fn listen<L: Listener>(
    models: &dyn Provider,
    request: ChatRequest,
    listener: &mut L,
) -> Result<Response, RunError<L::Error>> {
    let mut message = Response {
        text: String::new(),
        calls: Vec::new(),
        usage: None,
    };
    let mut chunks = models.chat(request).await.map_err(RunError::Model)?;
    while let Some(chunk) = chunks.next().await {
        match chunk.map_err(RunError::Model)? {
            ChatChunk::Text(text) => {
                listener.token(&text).await.map_err(RunError::Listener)?;
                message.text.push_str(&text);
            }
            ChatChunk::ToolCall(call) => message.calls.push(call),
            ChatChunk::Notice(notice) => {
                listener.notice(&notice).await.map_err(RunError::Listener)?
            }
            // Only for clients of the OpenAI API.
            ChatChunk::Passed(_) => {}
            ChatChunk::Truncated => listener
                .notice(TRUNCATED)
                .await
                .map_err(RunError::Listener)?,
            ChatChunk::Usage { input, output } => message.usage = Some((input, output)),
        }
    }
    Ok(message)
}

/// The notice for a truncated answer.
const TRUNCATED: &str = "The answer was cut off at the model's output limit.";

type ToolAnswers = (ToolCall, Result<Value, String>);

/// Asks for approval of one call after the other, then makes the approved ones concurrently. Results are in the order
/// of the calls.
async fn call_all<L: Listener>(
    toolbox: &dyn Toolbox,
    session: SessionId,
    names: &Names,
    calls: &[ToolCall],
    listener: &mut L,
) -> Result<Vec<ToolAnswers>, RunError<L::Error>> {
    let mut running: FuturesUnordered<BoxFuture<'_, _>> = FuturesUnordered::new();
    let mut results: Vec<Option<ToolAnswers>> = vec![None; calls.len()];
    for (n, call) in calls.iter().enumerate() {
        let Some(tool) = names.tool(&call.name) else {
            let message = format!("There is no tool {:?}.", call.name);
            results[n] = Some((call.clone(), Err(message)));
            continue;
        };
        let text = listener.call(&tool, &call.arguments).await;
        let text = text.map_err(RunError::Listener)?;
        let approved = approve(toolbox, session, &tool, &call.arguments, listener).await;
        if let Err(denied) = approved.map_err(RunError::Listener)? {
            let message = denied.to_string();
            let received = listener.result(text, &tool, &Err(denied)).await;
            received.map_err(RunError::Listener)?;
            results[n] = Some((call.clone(), Err(message)));
            continue;
        }
        let arguments = call.arguments.clone();
        running.push(Box::pin(async move {
            let result = toolbox.call(session, tool.clone(), arguments).await;
            (n, text, tool, result)
        }));
    }
    while let Some((n, text, tool, result)) = running.next().await {
        let received = listener.result(text, &tool, &result).await;
        received.map_err(RunError::Listener)?;
        results[n] = Some((calls[n].clone(), result.map_err(|error| error.to_string())));
    }
    Ok(results.into_iter().flatten().collect())
}

/// Whether a result is truncated.
fn is_cut(result: &Result<Value, String>) -> bool {
    let cut = |value: &Value| value["truncated"] == true && value["handle"].is_string();
    result.as_ref().is_ok_and(cut)
}

fn add(sum: Option<(u64, u64)>, more: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (sum, more) {
        (Some((a, b)), Some((c, d))) => Some((a.saturating_add(c), b.saturating_add(d))),
        (sum, more) => sum.or(more),
    }
}
