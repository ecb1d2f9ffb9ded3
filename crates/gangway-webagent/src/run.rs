//! Tasks that pages give to an agent: `agent.run`, event by event.

use std::sync::Arc;

use gangway_agents::Heard;
use gangway_core::{Scope, ToolName};
use gangway_http::auth::ToolPattern;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    SiteError, Stream, WebAgent,
    error::{model_words, words_for_pages},
    stream::Told,
    text::{PROMPT, SYSTEM, first_words, long},
    tools::full_name,
    work::{Kind, Work},
};

/// Calls of tools in a run when the page names no number, and at the most.
const CALLS: u32 = 5;
const MOST_CALLS: u32 = 50;

/// Names of tools in a filter.
const NAMES: usize = 200;

/// A task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunWish {
    /// What is to be done.
    pub task: String,
    /// The only tools: `server/tool` or `server/*`.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Whether the model is shown all tools, not only those that fit the task.
    #[serde(default)]
    pub use_all_tools: bool,
    /// Calls of tools at the most.
    #[serde(default)]
    pub max_tool_calls: Option<u32>,
    /// Whether the answer must say where it is from.
    #[serde(default)]
    pub require_citations: bool,
    /// Stands above the task.
    #[serde(default)]
    pub system_prompt: Option<String>,
    /// Who thinks.
    #[serde(default)]
    pub provider: Option<String>,
    /// Which model of theirs.
    #[serde(default)]
    pub model: Option<String>,
}

impl WebAgent {
    /// Does a task; everything that happens is an event, and so is why it ends without an answer.
    pub async fn run(&self, stream: &Stream, wish: RunWish) -> Result<(), SiteError> {
        let visit = &stream.visit;
        self.permissions.check(&visit.origin, Scope::ModelTools)?;
        long(Some(&wish.task), "task", PROMPT)?;
        long(wish.system_prompt.as_deref(), "systemPrompt", SYSTEM)?;
        let calls = wish.max_tool_calls.unwrap_or(CALLS);
        if calls > MOST_CALLS {
            let words = format!("`maxToolCalls` is {MOST_CALLS} at the most");
            return Err(SiteError::wrong(words));
        }
        let tools = wish.tools.map(|names| {
            let known = self.sites.tools_of(visit);
            let pattern = |name: &String| match full_name(&known, name) {
                Ok(full) => full.to_string().parse().ok(),
                Err(_) => name.parse().ok(),
            };
            let read = names.iter().take(NAMES).filter_map(pattern);
            read.collect::<Vec<ToolPattern>>()
        });
        let model = self.model(wish.provider.as_deref(), wish.model.as_deref())?;
        let kind = Kind::Run {
            tools,
            all: wish.use_all_tools,
        };
        let mut work = Work::new(visit, kind);
        work.max_tool_calls = calls;
        work.cite = wish.require_citations;
        work.system = wish.system_prompt;
        let work = Arc::new(work);
        let title = format!("{}: {}", visit.origin, first_words(&wish.task));
        let session = self.make_session(&work, title, model, true).await?;
        let status = json!({ "type": "status", "message": "Thinking" });
        stream.event(status).await;
        let answer = self.answer(stream, (session, &work), wish.task, Scope::ModelTools, told);
        let result = answer.await;
        self.drop_work(session).await;
        result
    }
}

/// An event as pages know it; the last says how the run ended.
fn told(heard: Heard) -> Told {
    let last = matches!(heard, Heard::Done { .. } | Heard::Failed { .. });
    Told {
        event: Some(event(heard)),
        end: last.then_some(Ok(())),
    }
}

fn event(heard: Heard) -> Value {
    let result = |tool: ToolName, result: Value| json!({ "type": "tool_result", "tool": tool.to_string(), "result": result });
    let failed = |tool: ToolName, code: &str, message: String| {
        let mut event = result(tool, Value::Null);
        event["error"] = json!({ "code": code, "message": message });
        event
    };
    match heard {
        Heard::Token(token) => json!({ "type": "token", "token": token }),
        Heard::Notice(message) => json!({ "type": "status", "message": message }),
        Heard::Call(tool, args) => {
            json!({ "type": "tool_call", "tool": tool.to_string(), "args": args })
        }
        Heard::Result(tool, Ok(value)) => result(tool, value),
        Heard::Result(tool, Err(error)) => failed(tool, error.code(), words_for_pages(&error)),
        Heard::Over(tool, _) => {
            let words = "not called: the run has no calls of tools left";
            failed(tool, "ERR_BUDGET_EXCEEDED", words.to_owned())
        }
        Heard::Done { output, citations } => {
            let cited = citations.into_iter().map(
                |one| json!({ "source": "tool", "ref": one.reference, "excerpt": one.excerpt }),
            );
            let cited: Vec<_> = cited.collect();
            let mut event = json!({ "type": "final", "output": output });
            if !cited.is_empty() {
                event["citations"] = Value::Array(cited);
            }
            event
        }
        Heard::Failed { code, message } => {
            let message = model_words(code, &message);
            json!({ "type": "error", "error": { "code": code, "message": message } })
        }
    }
}
