//! Tasks that pages give to an agent: `agent.run`, event by event.

use std::sync::Arc;

use gangway_core::Scope;
use gangway_http::auth::ToolPattern;
use serde::Deserialize;
use serde_json::json;

use crate::{
    SiteError, Stream, WebAgent, reader,
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
            let words = format!("`maxToolCalls` must be at most {MOST_CALLS}");
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
        let answer = self.answer(stream, session, wish.task, reader::Kind::Run);
        let result = answer.await;
        self.drop_work(session).await;
        result
    }
}
