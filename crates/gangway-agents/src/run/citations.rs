//! Citations: numbered tool results, and their numbers found in the answer.

use gangway_core::Citation;
use gangway_models::{Message, ToolCall};
use serde_json::Value;

use super::Names;

/// Enough to recognize a source.
const EXCERPT: usize = 200;

#[derive(Default)]
pub(super) struct Sources {
    all: Vec<Citation>,
}

/// The instruction to cite sources.
pub(super) fn instruction() -> Message {
    Message::System(
        "Results of tools begin with a number such as [1]. Name the numbers that you rely on in your answer, \
         like this: The ship sails at noon [1]."
            .into(),
    )
}

impl Sources {
    /// Adds a result; returns its number.
    pub(super) fn add(
        &mut self,
        names: &Names,
        call: &ToolCall,
        result: &Result<Value, String>,
    ) -> usize {
        let text = match result {
            Ok(Value::String(text)) => text.clone(),
            Ok(value) => value.to_string(),
            Err(message) => message.clone(),
        };
        let reference = names
            .tool(&call.name)
            .map_or_else(|| call.name.clone(), |tool| tool.to_string());
        self.all.push(Citation {
            reference,
            excerpt: text.chars().take(EXCERPT).collect(),
        });
        self.all.len()
    }

    /// The cited sources, or all when none is cited: the answer was made from them.
    pub(super) fn cited(self, wanted: bool, answer: &str) -> Vec<Citation> {
        if !wanted {
            return Vec::new();
        }
        let named = |n: usize| answer.contains(&format!("[{}]", n + 1));
        let any = (0..self.all.len()).any(named);
        let all = self.all.into_iter().enumerate();
        all.filter(|(n, _)| !any || named(*n))
            .map(|(_, citation)| citation)
            .collect()
    }
}
