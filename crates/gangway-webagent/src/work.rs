//! Settings of pages' sessions, passed to the agent before each turn.

use std::sync::{Arc, Weak};

use futures_util::future::BoxFuture;
use gangway_agents::{TurnSettings, TurnSettingsSource, router::route};
use gangway_core::{AgentError, Origin, Scope, SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_http::auth::ToolPattern;
use gangway_mcp::read_result;
use gangway_models::Provider;
use serde_json::Value;

use crate::{Sites, Visit, metered::Metered, own_tools::PAGE, tools::ToolContext};

/// Maximum number of tool calls in one turn of a chat.
const CHAT_CALLS: u32 = 10;

/// The purpose of a page's session.
pub(crate) enum WorkKind {
    /// Plain conversation.
    Text,
    /// One task, with tools.
    Run {
        /// The only tools, if the page named some.
        tools: Option<Vec<ToolPattern>>,
        /// Whether the model gets all tools instead of those that the tool router selects.
        all: bool,
    },
    /// The user's own conversation in a panel that the page opened.
    Chat {
        /// The only tools by full or short name, if the page named some.
        tools: Option<Vec<String>>,
    },
}

/// A session of a page.
pub(crate) struct Work {
    pub(crate) visit: Weak<Visit>,
    pub(crate) origin: Origin,
    pub(crate) kind: WorkKind,
    pub(crate) system: Option<String>,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tool_calls: u32,
    pub(crate) cite: bool,
}

impl Work {
    pub(crate) fn new(visit: &Arc<Visit>, kind: WorkKind) -> Self {
        let max_tool_calls = match kind {
            WorkKind::Chat { .. } => CHAT_CALLS,
            WorkKind::Text | WorkKind::Run { .. } => 0,
        };
        Self {
            visit: Arc::downgrade(visit),
            origin: visit.origin.clone(),
            kind,
            system: None,
            temperature: None,
            max_tool_calls,
            cite: false,
        }
    }
}

impl Sites {
    fn work(&self, session: SessionId) -> Result<(Arc<Work>, Arc<Visit>), AgentError> {
        let work = self.lock_works().get(&session).cloned();
        let found = work.and_then(|work| Some((Arc::clone(&work), work.visit.upgrade()?)));
        found.ok_or_else(|| AgentError {
            code: "page_closed".to_owned(),
            message: "This conversation belonged to a web page, and the page is closed. Start a new chat to continue."
                .to_owned(),
            retryable: false,
        })
    }

    /// The tools for one turn.
    fn tools_for(&self, work: &Work, visit: &Visit, prompt: &str) -> Vec<Arc<Tool>> {
        let may = |tool: &Arc<Tool>, purpose: ToolContext| {
            self.may_call(visit, &tool.name, purpose).is_ok()
        };
        match &work.kind {
            WorkKind::Text => Vec::new(),
            WorkKind::Run { tools: named, all } => {
                let mut tools = self.tools_of(visit);
                tools.retain(|tool| may(tool, ToolContext::Run));
                if let Some(named) = named {
                    tools.retain(|tool| named.iter().any(|pattern| pattern.has(&tool.name)));
                } else if !all {
                    let route = route(prompt, &tools);
                    // The page's own tools are few and always relevant.
                    tools
                        .retain(|tool| tool.name.server() == PAGE || route.has(tool.name.server()));
                }
                tools
            }
            WorkKind::Chat { tools: named } => {
                let mut tools = self.tools_of(visit);
                tools.retain(|tool| may(tool, ToolContext::Chat));
                if let Some(named) = named {
                    let target = |tool: &Tool, name: &String| {
                        tool.name.tool() == name
                            || name
                                .parse()
                                .is_ok_and(|one: ToolPattern| one.has(&tool.name))
                    };
                    tools.retain(|tool| named.iter().any(|name| target(tool, name)));
                }
                tools
            }
        }
    }
}

impl TurnSettingsSource for Sites {
    fn models(&self, session: SessionId, models: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let work = self.lock_works().get(&session).cloned();
        match work {
            Some(work) => Arc::new(Metered {
                models,
                budgets: Arc::clone(&self.permissions.budgets),
                origin: work.origin.clone(),
            }),
            // Its page was closed, which ended the turn.
            None => models,
        }
    }

    fn brief(&self, session: SessionId, prompt: &str) -> Result<TurnSettings, AgentError> {
        let (work, visit) = self.work(session)?;
        let needed = match work.kind {
            WorkKind::Text => Scope::ModelPrompt,
            WorkKind::Run { .. } => Scope::ModelTools,
            WorkKind::Chat { .. } => Scope::ChatOpen,
        };
        let refused = self.permissions.check(&visit.origin, needed);
        refused.map_err(|refused| AgentError {
            code: "permission_denied".to_owned(),
            message: refused.to_string(),
            retryable: false,
        })?;
        Ok(TurnSettings {
            system: work.system.clone(),
            temperature: work.temperature,
            tools: self.tools_for(&work, &visit, prompt),
            max_tool_calls: work.max_tool_calls,
            cite: work.cite,
        })
    }
}

impl Toolbox for Sites {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            match self.work(session) {
                Ok((work, visit)) => self.tools_for(&work, &visit, sentence),
                Err(_) => Vec::new(),
            }
        })
    }

    fn reader(&self) -> Option<Arc<Tool>> {
        Some(read_result::tool())
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let found = self.work(session);
            let (work, visit) = found.map_err(|gone| ToolError::Unavailable(gone.message))?;
            let purpose = match work.kind {
                WorkKind::Chat { .. } => ToolContext::Chat,
                WorkKind::Text | WorkKind::Run { .. } => ToolContext::Run,
            };
            self.call_tool(&visit, &tool, arguments, purpose).await
        })
    }
}
