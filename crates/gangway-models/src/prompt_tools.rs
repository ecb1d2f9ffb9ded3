//! Tools for models without tool support: described in the prompt, with calls parsed from the text.

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::{
    ChatChunk, ChatRequest, ChatStream, Message, ModelError, ToolCall, ToolChoice, ToolSpec,
};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// Anything longer is not a call.
const LONGEST: usize = 1 << 20;

/// The request with tools described as text.
pub(crate) fn in_prompt(mut request: ChatRequest) -> ChatRequest {
    let tools = std::mem::take(&mut request.tools);
    let choice = std::mem::take(&mut request.tool_choice);
    let offered: Vec<ToolSpec> = match &choice {
        ToolChoice::Never => Vec::new(),
        ToolChoice::Named(name) => tools
            .into_iter()
            .filter(|tool| tool.name == *name)
            .collect(),
        ToolChoice::Auto | ToolChoice::Required => tools,
    };
    request.messages = request.messages.into_iter().map(as_text).collect();
    if !offered.is_empty() {
        let must = choice != ToolChoice::Auto;
        let message = Message::System(manual(&offered, must));
        request.messages.insert(0, message);
        if must {
            // With structured output, only a call can come.
            request.format = Some(form(&offered));
        }
    }
    request
}

fn manual(tools: &[ToolSpec], must: bool) -> String {
    let mut words = String::from("You can use these tools:\n");
    for tool in tools {
        let line = json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
        words += &format!("{line}\n");
    }
    words += if must {
        "Answer with one call and nothing else, as JSON: "
    } else {
        "When a tool helps, answer with a call and nothing else, like this: "
    };
    let example = json!({ "name": tools[0].name, "arguments": {} });
    words += &if must {
        format!("{example}")
    } else {
        format!(
            "{OPEN}{example}{CLOSE}\nThe result comes in the next message. When no tool helps, just answer."
        )
    };
    words
}

fn form(tools: &[ToolSpec]) -> Value {
    let names: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
    json!({
        "type": "object",
        "properties": { "name": { "enum": names }, "arguments": { "type": "object" } },
        "required": ["name", "arguments"],
    })
}

/// Calls and results as plain messages.
fn as_text(message: Message) -> Message {
    match message {
        Message::Assistant {
            mut text, calls, ..
        } => {
            for call in calls {
                let call = json!({ "name": call.name, "arguments": call.arguments });
                text += &format!("{OPEN}{call}{CLOSE}");
            }
            Message::Assistant {
                text,
                calls: Vec::new(),
                fields: Default::default(),
            }
        }
        Message::Tool { name, content, .. } => {
            Message::User(format!("Result of {name}:\n{content}"))
        }
        other => other,
    }
}

/// Extracts calls from the text. A `forced` response is a single call without tags.
pub(crate) fn find_calls(chunks: ChatStream<'static>, forced: bool) -> ChatStream<'static> {
    let finder = Finder {
        chunks,
        held: String::new(),
        in_call: forced,
        forced,
        calls: 0,
        over: false,
    };
    stream::unfold(finder, |mut finder| async move {
        if finder.over {
            return None;
        }
        let found = finder.next().await;
        Some((stream::iter(found), finder))
    })
    .flatten()
    .boxed()
}

struct Finder {
    chunks: ChatStream<'static>,
    /// Text that may be the start of a tag, or a partial call.
    held: String,
    in_call: bool,
    forced: bool,
    calls: u32,
    over: bool,
}

impl Finder {
    async fn next(&mut self) -> Vec<Result<ChatChunk, ModelError>> {
        match self.chunks.next().await {
            Some(Ok(ChatChunk::Text(text))) => {
                self.held += &text;
                self.take(false)
            }
            // Held text comes before the last parts.
            Some(Ok(last @ (ChatChunk::Usage { .. } | ChatChunk::Truncated))) => {
                let mut found = self.take(true);
                found.push(Ok(last));
                found
            }
            Some(Err(error)) => {
                self.over = true;
                let mut found = self.take(true);
                found.push(Err(error));
                found
            }
            Some(other) => vec![other],
            None => {
                self.over = true;
                self.take(true)
            }
        }
    }

    /// Returns what is certain.
    fn take(&mut self, end: bool) -> Vec<Result<ChatChunk, ModelError>> {
        let mut found = Vec::new();
        loop {
            if self.in_call {
                let close = self.held.find(CLOSE).filter(|_| !self.forced);
                let (call, rest) = match close {
                    Some(at) => (at, at + CLOSE.len()),
                    None if end || self.held.len() > LONGEST => (self.held.len(), self.held.len()),
                    None => return found,
                };
                let text = self.held[..call].to_owned();
                self.held.drain(..rest);
                self.in_call = false;
                found.extend(self.call(&text).map(Ok));
                continue;
            }
            if let Some(at) = self.held.find(OPEN) {
                let before: String = self.held.drain(..at).collect();
                self.held.drain(..OPEN.len());
                found.extend(spoken(before));
                self.in_call = true;
                continue;
            }
            let certain = if end {
                self.held.len()
            } else {
                certain(&self.held)
            };
            found.extend(spoken(self.held.drain(..certain).collect()));
            return found;
        }
    }

    /// A call, or the text as it is.
    fn call(&mut self, text: &str) -> Option<ChatChunk> {
        let value: Option<Value> = serde_json::from_str(text.trim()).ok();
        let name = value
            .as_ref()
            .and_then(|v| v["name"].as_str())
            .map(str::to_owned);
        let Some((name, value)) = name.zip(value) else {
            return (!text.trim().is_empty()).then(|| ChatChunk::Text(text.to_owned()));
        };
        self.calls += 1;
        let arguments = value["arguments"].clone();
        Some(ChatChunk::ToolCall(ToolCall {
            id: format!("call_{}", self.calls),
            name,
            arguments: if arguments.is_object() {
                arguments
            } else {
                json!({})
            },
        }))
    }
}

fn spoken(text: String) -> Option<Result<ChatChunk, ModelError>> {
    (!text.is_empty()).then_some(Ok(ChatChunk::Text(text)))
}

/// The length of the text that cannot be the start of a tag.
fn certain(text: &str) -> usize {
    let longest = OPEN.len().min(text.len() + 1);
    let begins = (1..longest).rev().find(|n| text.ends_with(&OPEN[..*n]));
    text.len() - begins.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn found(parts: &[&str], forced: bool) -> Vec<ChatChunk> {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| Ok(ChatChunk::Text((*part).to_owned())))
            .collect();
        let usage = Ok(ChatChunk::Usage {
            input: 1,
            output: 1,
        });
        let chunks = stream::iter(parts).chain(stream::iter([usage])).boxed();
        let all: Vec<_> = find_calls(chunks, forced).collect().await;
        let mut chunks: Vec<ChatChunk> = Vec::new();
        for chunk in all.into_iter().map(Result::unwrap) {
            match (chunks.last_mut(), chunk) {
                (Some(ChatChunk::Text(so_far)), ChatChunk::Text(more)) => so_far.push_str(&more),
                (_, chunk) => chunks.push(chunk),
            }
        }
        assert_eq!(
            chunks.pop(),
            Some(ChatChunk::Usage {
                input: 1,
                output: 1
            })
        );
        chunks
    }

    fn call(n: u32, arguments: Value) -> ChatChunk {
        let (id, name) = (format!("call_{n}"), "look".to_owned());
        ChatChunk::ToolCall(ToolCall {
            id,
            name,
            arguments,
        })
    }

    #[tokio::test]
    async fn calls_are_found_wherever_the_text_is_cut() {
        let text = "I look. <tool_call>{\"name\":\"look\",\"arguments\":{\"a\":\"<ü>\"}}</tool_call> <tool <tool_call>{\"name\":\"look\"}</tool_call>";
        let expected = [
            ChatChunk::Text("I look. ".into()),
            call(1, json!({ "a": "<ü>" })),
            ChatChunk::Text(" <tool ".into()),
            call(2, json!({})),
        ];
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (a, b) = text.split_at(cut);
            assert_eq!(found(&[a, b], false).await, expected, "{cut}");
        }
    }

    #[tokio::test]
    async fn what_is_no_call_is_passed_on_as_text() {
        for text in [
            "a < b",
            "<tool_cal",
            "<tool_call>not json</tool_call>",
            "<tool_call>{\"n\":1}",
        ] {
            let message = found(&[text], false).await;
            let Some(ChatChunk::Text(message)) = message.first() else {
                panic!("{message:?}");
            };
            assert!(text.contains(message.as_str()), "{message}");
        }
    }

    #[tokio::test]
    async fn a_forced_answer_is_a_call() {
        let parts = ["{\"name\":\"lo", "ok\",\"arguments\":{\"x\":1}}"];
        assert_eq!(found(&parts, true).await, [call(1, json!({ "x": 1 }))]);
    }

    #[test]
    fn a_conversation_with_calls_becomes_words() {
        let tool = ToolSpec {
            name: "look".into(),
            description: "Looks".into(),
            parameters: json!({ "type": "object" }),
        };
        let made = ToolCall {
            id: "c".into(),
            name: "look".into(),
            arguments: json!({}),
        };
        let request = ChatRequest {
            tools: vec![tool],
            tool_choice: ToolChoice::Required,
            messages: vec![
                Message::Assistant {
                    text: String::new(),
                    calls: vec![made],
                    fields: Default::default(),
                },
                Message::Tool {
                    call: "c".into(),
                    name: "look".into(),
                    content: "seen".into(),
                    failed: false,
                },
            ],
            ..ChatRequest::default()
        };
        let message = in_prompt(request);
        assert!(message.tools.is_empty() && message.tool_choice == ToolChoice::Auto);
        assert!(
            matches!(&message.messages[0], Message::System(words) if words.contains("\"look\""))
        );
        assert_eq!(
            message.messages[2],
            Message::User("Result of look:\nseen".into())
        );
        assert_eq!(
            message.format.unwrap()["properties"]["name"]["enum"],
            json!(["look"])
        );
    }
}
