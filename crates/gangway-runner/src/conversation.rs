//! The conversation of the built-in loop, as its model is sent it.

use gangway_agents::{
    builtin::{CONTEXT_CHARS, PAST_RESULT, fitting},
    run::past_result,
};
use gangway_core::{ToolError, ToolName};
use gangway_models::{Message, ToolCall};
use serde_json::Value;

use crate::brief::handed_over;

/// The conversation for the model.
#[derive(Default)]
pub(crate) struct ModelConversation {
    pub(crate) messages: Vec<Message>,
    /// Whether the last message is still being streamed.
    open: bool,
    calls: u64,
}

impl ModelConversation {
    /// Replaces everything by a summary. Some models require every message to be answered before the next one.
    pub(crate) fn begin_with(&mut self, summary: &str) {
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

    pub(crate) fn prompt(&mut self, prompt: Message) {
        self.open = false;
        self.messages.push(prompt);
        self.messages = fitting(std::mem::take(&mut self.messages), CONTEXT_CHARS);
    }

    pub(crate) fn token(&mut self, more: &str) {
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
    pub(crate) fn call(&mut self, tool: &ToolName, arguments: &Value) -> String {
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

    pub(crate) fn result(&mut self, id: &str, result: &Result<Value, ToolError>) {
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
