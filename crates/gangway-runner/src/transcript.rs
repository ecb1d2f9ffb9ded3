//! A conversation as plain text, for a model that summarizes it.

use gangway_models::Message;

/// Characters of arguments and results: a summary needs the outcome, not all of it.
const SHORT: usize = 2000;

pub(super) fn transcript(messages: &[Message]) -> String {
    let lines = messages.iter().flat_map(|message| match message {
        Message::System(_) => Vec::new(),
        Message::User(text) => vec![format!("Person: {text}")],
        Message::Assistant { text, calls, .. } => {
            let texts = (!text.is_empty()).then(|| format!("Agent: {text}"));
            let called = calls.iter().map(|call| {
                let arguments = short(&call.arguments.to_string());
                format!("Agent calls {} with {arguments}", call.name)
            });
            texts.into_iter().chain(called).collect()
        }
        Message::Tool {
            name,
            content,
            failed,
            ..
        } => {
            let how = if *failed { "failed" } else { "answered" };
            vec![format!("{name} {how}: {}", short(content))]
        }
        Message::Images(images) => vec![format!("[{} images]", images.len())],
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

fn short(text: &str) -> String {
    super::executor::cut(text, SHORT)
}

#[cfg(test)]
mod tests {
    use gangway_models::ToolCall;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_transcript_has_who_said_what_and_what_came_of_calls() {
        let messages = [
            Message::System("Be kind.".into()),
            Message::User("Where is it?".into()),
            Message::Assistant {
                text: "I look.".into(),
                calls: vec![ToolCall {
                    id: "call_1".into(),
                    name: "files/read".into(),
                    arguments: json!({ "path": "a" }),
                }],
                fields: Default::default(),
            },
            Message::Tool {
                call: "call_1".into(),
                name: "files/read".into(),
                content: "x".repeat(SHORT + 1),
                failed: false,
            },
        ];
        let long = "x".repeat(SHORT);
        let wanted = format!(
            "Person: Where is it?\n\nAgent: I look.\n\nAgent calls files/read with {{\"path\":\"a\"}}\n\nfiles/read answered: {long}…"
        );
        assert_eq!(transcript(&messages), wanted);
    }
}
