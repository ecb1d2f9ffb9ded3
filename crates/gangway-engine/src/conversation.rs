//! Converts a request's messages to turns for any chat template; tools become text.

use gangway_models::{ChatRequest, Message, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

/// Start of a tool call in the model's input and output. Several model families were trained on this marker.
pub(crate) const CALL: &str = "<tool_call>";
/// End of a tool call.
pub(crate) const CALL_END: &str = "</tool_call>";

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub role: &'static str,
    pub text: String,
    /// How many messages it contains.
    pub messages: usize,
    /// Whether it is a tool result rather than a user message.
    pub answers: bool,
}

impl Turn {
    fn new(role: &'static str, text: String) -> Self {
        Self {
            role,
            text,
            messages: 1,
            answers: false,
        }
    }
}

/// The tools that this request offers to the model.
pub(crate) fn callable(request: &ChatRequest) -> Vec<&ToolSpec> {
    match &request.tool_choice {
        ToolChoice::Never => Vec::new(),
        ToolChoice::Named(name) => request
            .tools
            .iter()
            .filter(|tool| tool.name == *name)
            .collect(),
        ToolChoice::Auto | ToolChoice::Required => request.tools.iter().collect(),
    }
}

/// The turns of a request, oldest first.
pub(crate) fn turns(request: &ChatRequest) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in &request.messages {
        let turn = turn(message);
        match turns.last_mut() {
            // Templates require alternating roles, so the results of one turn's calls are one turn.
            Some(last) if turn.answers && last.answers => {
                last.text.push('\n');
                last.text.push_str(&turn.text);
                last.messages += 1;
            }
            _ => turns.push(turn),
        }
    }
    let tools = callable(request);
    if !tools.is_empty() {
        let about = describe(&tools);
        match turns.first_mut() {
            Some(first) if first.role == "system" => {
                first.text.push_str("\n\n");
                first.text.push_str(&about);
            }
            _ => turns.insert(
                0,
                Turn {
                    messages: 0,
                    ..Turn::new("system", about)
                },
            ),
        }
    }
    turns
}

fn turn(message: &Message) -> Turn {
    match message {
        Message::System(text) => Turn::new("system", text.clone()),
        Message::User(text) => Turn::new("user", text.clone()),
        Message::Images(images) => Turn::new(
            "user",
            format!("[{} images that this model cannot process]", images.len()),
        ),
        Message::Assistant { text, calls, .. } => {
            let mut entry = text.clone();
            for call in calls {
                if !entry.is_empty() {
                    entry.push('\n');
                }
                entry.push_str(&spell(call));
            }
            Turn::new("assistant", entry)
        }
        Message::Tool {
            name,
            content,
            failed,
            ..
        } => {
            let how = if *failed { " failed" } else { "" };
            let text = format!("<tool_response>\n{name}{how}: {content}\n</tool_response>");
            Turn {
                answers: true,
                ..Turn::new("user", text)
            }
        }
    }
}

/// A tool call as the model writes it.
fn spell(call: &ToolCall) -> String {
    let name = Value::from(call.name.as_str());
    let mut arguments = String::new();
    spread(&call.arguments, &mut arguments);
    format!("{CALL}{{\"name\": {name}, \"arguments\": {arguments}}}{CALL_END}")
}

/// JSON with the spaces that the grammar produces, so that a call has the same tokens when it is read again.
fn spread(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                text.push_str(if number > 0 { ", " } else { "" });
                spread(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (number, (key, field)) in fields.iter().enumerate() {
                text.push_str(if number > 0 { ", " } else { "" });
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
                spread(field, text);
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// Describes the tools to the model.
fn describe(tools: &[&ToolSpec]) -> String {
    let mut text = format!(
        "You can call tools. To call one, write {CALL}{{\"name\": …, \"arguments\": {{…}}}}{CALL_END} and wait for its answer. The tools:"
    );
    for tool in tools {
        let line = json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        });
        text.push('\n');
        text.push_str(&line.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: "Tells the weather".to_owned(),
            parameters: json!({"type": "object"}),
        }
    }

    fn result(name: &str, failed: bool) -> Message {
        Message::Tool {
            call: "1".to_owned(),
            name: name.to_owned(),
            content: "rain".to_owned(),
            failed,
        }
    }

    #[test]
    fn calls_and_their_answers_are_written_in_the_format_of_the_model() {
        let request = ChatRequest {
            messages: vec![
                Message::User("And in Kiel?".to_owned()),
                Message::Assistant {
                    text: String::new(),
                    calls: vec![ToolCall {
                        id: "1".to_owned(),
                        name: "weather".to_owned(),
                        arguments: json!({"city": "Kiel", "days": [1, 2]}),
                    }],
                    fields: Default::default(),
                },
                result("weather", false),
                result("tides", true),
            ],
            ..ChatRequest::default()
        };
        let turns = turns(&request);
        assert_eq!(
            turns[1].text,
            r#"<tool_call>{"name": "weather", "arguments": {"city": "Kiel", "days": [1, 2]}}</tool_call>"#
        );
        assert_eq!((turns[2].role, turns[2].messages), ("user", 2));
        assert!(turns[2].text.contains("weather: rain"));
        assert!(turns[2].text.contains("tides failed: rain"));
    }

    #[test]
    fn tools_are_described_above_the_conversation_unless_they_must_not_be_called() {
        let mut request = ChatRequest {
            messages: vec![
                Message::System("Be brief.".to_owned()),
                Message::User("Hi".to_owned()),
            ],
            tools: vec![tool("weather"), tool("tides")],
            ..ChatRequest::default()
        };
        let all = turns(&request);
        assert_eq!(all.len(), 2);
        assert!(all[0].text.starts_with("Be brief.\n\nYou can call tools."));
        assert!(all[0].text.contains("\"tides\""));
        request.tool_choice = ToolChoice::Named("weather".to_owned());
        assert!(!turns(&request)[0].text.contains("\"tides\""));
        request.tool_choice = ToolChoice::Never;
        assert_eq!(turns(&request)[0].text, "Be brief.");
        request.messages.remove(0);
        request.tool_choice = ToolChoice::Auto;
        assert_eq!(turns(&request)[0].role, "system");
    }
}
