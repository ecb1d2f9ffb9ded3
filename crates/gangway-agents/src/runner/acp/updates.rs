//! What an agent tells of its work, in the words of a turn.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    ContentBlock, Plan, PlanEntryStatus, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate,
};
use serde_json::{Value, json};

use super::super::mind::Ear;

/// Calls of one turn that are told apart.
const MOST_CALLS: usize = 1024;

/// A call whose end is not known yet.
struct Open {
    number: u32,
    tool: String,
}

/// What is known of a turn.
#[derive(Default)]
pub(super) struct Updates {
    calls: BTreeMap<String, Option<Open>>,
    plan: String,
    /// The message that is being written, where the agent tells.
    message: Option<String>,
}

impl Updates {
    /// Tells one.
    pub(super) async fn tell(&mut self, update: SessionUpdate, ear: &Ear) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let id = chunk.message_id.map(|id| id.to_string());
                if self.message.is_some() && id.is_some() && self.message != id {
                    ear.message_end().await;
                }
                self.message = id;
                ear.delta(&words(&chunk.content)).await;
            }
            SessionUpdate::ToolCall(call) => self.call(call, ear).await,
            SessionUpdate::ToolCallUpdate(update) => self.update(update, ear).await,
            SessionUpdate::Plan(plan) => self.plan(&plan, ear).await,
            SessionUpdate::UsageUpdate(usage) => {
                let size = Some(usage.size).filter(|size| *size > 0);
                ear.context(usage.used, size).await;
            }
            // What it thinks to itself, repeats of what was said to it, and settings of its own.
            _ => {}
        }
    }

    async fn call(&mut self, call: ToolCall, ear: &Ear) {
        let id = call.tool_call_id.to_string();
        if !self.calls.contains_key(&id) {
            let tool = call.name.unwrap_or_else(|| call.title.clone());
            let arguments = call.raw_input.unwrap_or(json!({ "title": call.title }));
            self.begin(id.clone(), tool, &arguments, ear).await;
        }
        self.end(&id, call.status, call.raw_output, &call.content, ear)
            .await;
    }

    async fn update(&mut self, update: ToolCallUpdate, ear: &Ear) {
        let (id, fields) = (update.tool_call_id.to_string(), update.fields);
        if !self.calls.contains_key(&id) {
            let title = fields.title.unwrap_or_else(|| "tool".to_owned());
            let arguments = fields.raw_input.unwrap_or(json!({ "title": title }));
            let tool = fields.name.unwrap_or(title);
            self.begin(id.clone(), tool, &arguments, ear).await;
        }
        if let Some(status) = fields.status {
            let content = fields.content.unwrap_or_default();
            self.end(&id, status, fields.raw_output, &content, ear)
                .await;
        }
    }

    async fn begin(&mut self, id: String, tool: String, arguments: &Value, ear: &Ear) {
        if self.calls.len() >= MOST_CALLS {
            return;
        }
        let number = ear.call(&tool, arguments).await;
        self.calls.insert(id, Some(Open { number, tool }));
    }

    async fn end(
        &mut self,
        id: &str,
        status: ToolCallStatus,
        output: Option<Value>,
        content: &[ToolCallContent],
        ear: &Ear,
    ) {
        let failed = match status {
            ToolCallStatus::Completed => false,
            ToolCallStatus::Failed => true,
            _ => return,
        };
        let Some(Open { number, tool }) = self.calls.get_mut(id).and_then(Option::take) else {
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
            (true, Value::String(words)) => Err(words.as_str()),
            (true, _) => Err("it failed"),
        };
        ear.result(number, &tool, result).await;
    }

    /// Ends what is still open when a turn is over.
    pub(super) async fn close(&mut self, ear: &Ear) {
        for (_, open) in std::mem::take(&mut self.calls) {
            if let Some(Open { number, tool }) = open {
                let words = "the agent did not tell how this ended";
                ear.result(number, &tool, Err(words)).await;
            }
        }
    }

    async fn plan(&mut self, plan: &Plan, ear: &Ear) {
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
            ear.notice(&text).await;
            self.plan = text;
        }
    }
}

/// A block as text.
fn words(block: &ContentBlock) -> String {
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
        ToolCallContent::Content(content) => words(&content.content),
        ToolCallContent::Diff(diff) => format!("changed {}", diff.path.display()),
        _ => "[a terminal]".to_owned(),
    }
}
