//! Names that model APIs accept, for the tools of a run and those called before it.

use std::sync::Arc;

use gangway_core::{Tool, ToolName};
use gangway_mcp::ModelNames;
use gangway_models::{Message, ToolCall, ToolSpec};

pub(super) struct Names {
    /// In naming order, so that the name of a tool does not change.
    all: Vec<ToolName>,
    names: ModelNames,
}

impl Names {
    /// For these tools, and for earlier ones that may be gone.
    pub(super) fn new(tools: &[Arc<Tool>], before: &[Message]) -> Self {
        let past = before.iter().flat_map(calls_of);
        let past = past.filter_map(|call| call.name.parse().ok());
        let all: Vec<ToolName> = tools
            .iter()
            .map(|tool| tool.name.clone())
            .chain(past)
            .collect();
        let names = ModelNames::new(&all);
        Self { all, names }
    }

    pub(super) fn add(&mut self, tools: &[Arc<Tool>]) {
        self.all.extend(tools.iter().map(|tool| tool.name.clone()));
        self.names = ModelNames::new(&self.all);
    }

    /// Renames tools in a conversation to their model names.
    pub(super) fn rename(&self, messages: &mut [Message]) {
        let known = |name: &mut String| {
            let tool = name.parse().ok();
            let short = tool.and_then(|tool: ToolName| self.names.to_model_name(&tool));
            if let Some(short) = short.map(str::to_owned) {
                *name = short;
            }
        };
        for message in messages {
            match message {
                Message::Assistant { calls, .. } => {
                    calls.iter_mut().for_each(|call| known(&mut call.name));
                }
                Message::Tool { name, .. } => known(name),
                Message::System(_) | Message::User(_) | Message::Images(_) => {}
            }
        }
    }

    pub(super) fn tool(&self, name: &str) -> Option<ToolName> {
        self.names.from_model_name(name).cloned()
    }

    pub(super) fn spec(&self, tool: &Tool) -> ToolSpec {
        ToolSpec {
            name: self
                .names
                .to_model_name(&tool.name)
                .unwrap_or_default()
                .to_owned(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
        }
    }
}

fn calls_of(message: &Message) -> &[ToolCall] {
    match message {
        Message::Assistant { calls, .. } => calls,
        _ => &[],
    }
}
