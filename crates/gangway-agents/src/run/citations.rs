//! Where an answer is from: results of tools, numbered, and those numbers found in the answer.

use gangway_core::Citation;
use gangway_models::{Message, ToolCall};
use serde_json::Value;

use super::Names;

/// Enough to recognise a source by.
const EXCERPT: usize = 200;

/// What tools said so far.
#[derive(Default)]
pub(super) struct Sources {
    all: Vec<Citation>,
}

/// What a model is told when its answer must say where it is from.
pub(super) fn instruction() -> Message {
    Message::System(
        "Results of tools begin with a number such as [1]. Name the numbers that you rely on in your answer, \
         like this: The ship sails at noon [1]."
            .into(),
    )
}

impl Sources {
    /// One more; its number.
    pub(super) fn add(
        &mut self,
        names: &Names,
        call: &ToolCall,
        result: &Result<Value, String>,
    ) -> usize {
        let text = match result {
            Ok(Value::String(text)) => text.clone(),
            Ok(value) => value.to_string(),
            Err(words) => words.clone(),
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

    /// Those that an answer names, or all when it names none: it was made from them.
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
