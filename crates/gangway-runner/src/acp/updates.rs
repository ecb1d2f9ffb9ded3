//! Converts an agent's updates to the events of a turn.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    ContentBlock, Plan, PlanEntryStatus, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate,
};
use serde_json::{Value, json};

use super::super::executor::TurnSink;

/// Calls of one turn that are tracked.
const MOST_CALLS: usize = 1024;

enum Call {
    /// Announced without its arguments, which many agents send in a second message.
    Announced {
        tool: String,
        title: String,
    },
    /// Reported; without a result yet.
    Open {
        number: u32,
        tool: String,
    },
    Ended,
}

#[derive(Default)]
pub(super) struct Updates {
    calls: BTreeMap<String, Call>,
    plan: String,
    /// The id of the current message, if the agent sends one.
    message: Option<String>,
}

impl Updates {
    pub(super) async fn tell(&mut self, update: SessionUpdate, sink: &TurnSink) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let id = chunk.message_id.map(|id| id.to_string());
                if self.message.is_some() && id.is_some() && self.message != id {
                    sink.message_end().await;
                }
                self.message = id;
                sink.delta(&block_text(&chunk.content)).await;
            }
            SessionUpdate::ToolCall(call) => self.call(call, sink).await,
            SessionUpdate::ToolCallUpdate(update) => self.update(update, sink).await,
            SessionUpdate::Plan(plan) => self.plan(&plan, sink).await,
            SessionUpdate::UsageUpdate(usage) => {
                let size = Some(usage.size).filter(|size| *size > 0);
                sink.context(usage.used, size).await;
            }
            // Thoughts, echoes of the prompt, and the agent's own settings.
            _ => {}
        }
    }

    async fn call(&mut self, call: ToolCall, sink: &TurnSink) {
        let id = call.tool_call_id.to_string();
        self.announce(&id, call.name, call.title);
        let waits = call.status == ToolCallStatus::Pending;
        self.begin(&id, call.raw_input, !waits, sink).await;
        self.end(&id, call.status, call.raw_output, &call.content, sink)
            .await;
    }

    /// Applies what a permission request says about a known call.
    pub(super) async fn asked(&mut self, about: &ToolCallUpdate, sink: &TurnSink) {
        if self.calls.contains_key(&about.tool_call_id.to_string()) {
            self.update(about.clone(), sink).await;
        }
    }

    async fn update(&mut self, update: ToolCallUpdate, sink: &TurnSink) {
        let (id, fields) = (update.tool_call_id.to_string(), update.fields);
        let title = fields.title.unwrap_or_else(|| "tool".to_owned());
        self.announce(&id, fields.name, title);
        let runs = fields
            .status
            .is_some_and(|status| status != ToolCallStatus::Pending);
        self.begin(&id, fields.raw_input, runs, sink).await;
        if let Some(status) = fields.status {
            let content = fields.content.unwrap_or_default();
            self.end(&id, status, fields.raw_output, &content, sink)
                .await;
        }
    }

    fn announce(&mut self, id: &str, name: Option<String>, title: String) {
        if self.calls.len() >= MOST_CALLS || self.calls.contains_key(id) {
            return;
        }
        let tool = name.unwrap_or_else(|| title.clone());
        let announced = Call::Announced { tool, title };
        self.calls.insert(id.to_owned(), announced);
    }

    /// Reports a call once its arguments are known, or once it runs without any.
    async fn begin(&mut self, id: &str, input: Option<Value>, runs: bool, sink: &TurnSink) {
        let input = input.filter(|input| !is_empty(input));
        if input.is_none() && !runs {
            return;
        }
        if let Some(call @ Call::Announced { .. }) = self.calls.get_mut(id)
            && let Call::Announced { tool, title } = std::mem::replace(call, Call::Ended)
        {
            let arguments = input.unwrap_or_else(|| json!({ "title": title }));
            let number = sink.call(&tool, &arguments).await;
            *call = Call::Open { number, tool };
        }
    }

    async fn end(
        &mut self,
        id: &str,
        status: ToolCallStatus,
        output: Option<Value>,
        content: &[ToolCallContent],
        sink: &TurnSink,
    ) {
        let failed = match status {
            ToolCallStatus::Completed => false,
            ToolCallStatus::Failed => true,
            _ => return,
        };
        let Some(call @ Call::Open { .. }) = self.calls.get_mut(id) else {
            return;
        };
        let Call::Open { number, tool } = std::mem::replace(call, Call::Ended) else {
            return;
        };
        let shown: Vec<String> = content.iter().map(shown).collect();
        let shown = shown.join("\n");
        let value = match output {
            _ if !shown.is_empty() => Value::String(shown),
            Some(output) => output,
            None => Value::Null,
        };
        let result = match (failed, &value) {
            (false, value) => Ok(value),
            (true, Value::String(message)) => Err(message.as_str()),
            (true, _) => Err("it failed"),
        };
        sink.result(number, &tool, result).await;
    }

    /// Ends open calls at the end of a turn.
    pub(super) async fn close(&mut self, sink: &TurnSink) {
        for (_, call) in std::mem::take(&mut self.calls) {
            if let Call::Open { number, tool } = call {
                let message = "the agent did not report a result";
                sink.result(number, &tool, Err(message)).await;
            }
        }
    }

    async fn plan(&mut self, plan: &Plan, sink: &TurnSink) {
        let entries = plan.entries.iter().take(100).map(|entry| {
            let mark = match entry.status {
                PlanEntryStatus::Completed => "x",
                PlanEntryStatus::InProgress => ">",
                _ => " ",
            };
            format!("\n[{mark}] {}", entry.content)
        });
        let text = format!("Plan:{}", entries.collect::<String>());
        if text != self.plan {
            sink.notice(&text).await;
            self.plan = text;
        }
    }
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

pub(super) fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Image(_) => "[an image]".to_owned(),
        ContentBlock::Audio(_) => "[a recording]".to_owned(),
        _ => "[a file]".to_owned(),
    }
}

fn shown(content: &ToolCallContent) -> String {
    match content {
        ToolCallContent::Content(content) => block_text(&content.content),
        ToolCallContent::Diff(diff) => format!("changed {}", diff.path.display()),
        _ => "[a terminal]".to_owned(),
    }
}
