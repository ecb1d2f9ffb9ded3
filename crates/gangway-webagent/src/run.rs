//! Tasks of pages for an agent: `agent.run`, event by event.

use std::sync::Arc;

use gangway_core::Scope;
use gangway_http::auth::ToolPattern;
use serde::Deserialize;
use serde_json::json;

use crate::{
    SiteError, Stream, WebAgent, reader,
    text::{PROMPT, SYSTEM, excerpt, long},
    tools::full_name,
    work::{Work, WorkKind},
};

/// Tool calls in a run: default and maximum.
const CALLS: u32 = 5;
const MOST_CALLS: u32 = 50;

/// Maximum number of tool names in a filter.
const NAMES: usize = 200;

/// A task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOptions {
    /// The prompt.
    pub task: String,
    /// The only allowed tools: `server/tool` or `server/*`.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Whether the model gets all tools instead of those that the tool router selects.
    #[serde(default)]
    pub use_all_tools: bool,
    /// Maximum number of tool calls.
    #[serde(default)]
    pub max_tool_calls: Option<u32>,
    /// Whether the answer must cite its sources.
    #[serde(default)]
    pub require_citations: bool,
    /// The system prompt.
    #[serde(default)]
    pub system_prompt: Option<String>,
    /// The provider.
    #[serde(default)]
    pub provider: Option<String>,
    /// Its model.
    #[serde(default)]
    pub model: Option<String>,
}

impl WebAgent {
    /// Runs a task; everything that happens is an event, including a failure.
    pub async fn run(&self, stream: &Stream, options: RunOptions) -> Result<(), SiteError> {
        let visit = &stream.visit;
        self.permissions.check(&visit.origin, Scope::ModelTools)?;
        long(Some(&options.task), "task", PROMPT)?;
        long(options.system_prompt.as_deref(), "systemPrompt", SYSTEM)?;
        let calls = options.max_tool_calls.unwrap_or(CALLS);
        if calls > MOST_CALLS {
            let message = format!("`maxToolCalls` must be at most {MOST_CALLS}");
            return Err(SiteError::wrong(message));
        }
        let tools = options.tools.map(|names| {
            let known = self.sites.tools_of(visit);
            let pattern = |name: &String| match full_name(&known, name) {
                Ok(full) => full.to_string().parse().ok(),
                Err(_) => name.parse().ok(),
            };
            let read = names.iter().take(NAMES).filter_map(pattern);
            read.collect::<Vec<ToolPattern>>()
        });
        let model = self.model(options.provider.as_deref(), options.model.as_deref())?;
        let kind = WorkKind::Run {
            tools,
            all: options.use_all_tools,
        };
        let mut work = Work::new(visit, kind);
        work.max_tool_calls = calls;
        work.cite = options.require_citations;
        work.system = options.system_prompt;
        let work = Arc::new(work);
        let title = format!("{}: {}", visit.origin, excerpt(&options.task));
        let session = self.make_session(&work, title, model, true).await?;
        let status = json!({ "type": "status", "message": "Thinking" });
        stream.event(status).await;
        let answer = self.answer(stream, session, options.task, reader::CallKind::Run);
        let result = answer.await;
        self.drop_work(session).await;
        result
    }
}
