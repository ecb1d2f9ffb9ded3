//! Ollama's native API.

use futures_util::StreamExt;
use gangway_models::{
    ChatChunk, ChatRequest, Message, ModelError, Provider, ToolCall, ToolSpec, ollama::Ollama,
};
use serde_json::json;

use super::{ONCE, fake::Fake};

async fn chat(fake: &Fake, request: ChatRequest) -> Result<Vec<ChatChunk>, ModelError> {
    let provider = Ollama::new(&fake.start().await, None, Some("llama3.2".into())).retrying(ONCE);
    let chunks: Vec<_> = provider.chat(request).await?.collect().await;
    chunks.into_iter().collect()
}

#[tokio::test]
async fn an_answer_with_a_tool_call_and_its_tokens_is_parsed() {
    let fake = Fake::streams(&[
        "{\"message\":{\"role\":\"assistant\",\"content\":\"Let me \"},\"done\":false}\n{\"message\":{\"content\":\"see\"}",
        ",\"done\":false}\n",
        "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"look\",\"arguments\":{\"a\":1}}}]},\"done\":false}\n",
        "{\"message\":{\"content\":\"\"},\"done\":true,\"prompt_eval_count\":12,\"eval_count\":5}\n",
    ]);
    let tools = vec![ToolSpec {
        name: "look".into(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
    }];
    let request = ChatRequest {
        tools,
        temperature: Some(0.5),
        messages: vec![Message::User("go".into())],
        ..ChatRequest::default()
    };
    let chunks = chat(&fake, request).await.unwrap();
    let ChatChunk::ToolCall(made) = &chunks[2] else {
        panic!("{chunks:?}");
    };
    // Ollama's calls have no ids, so each gets a unique one.
    let call = ToolCall {
        id: made.id.clone(),
        name: "look".into(),
        arguments: json!({ "a": 1 }),
    };
    assert!(made.id.len() > 10, "{made:?}");
    let expected = [
        ChatChunk::Text("Let me ".into()),
        ChatChunk::Text("see".into()),
        ChatChunk::ToolCall(call),
        ChatChunk::Usage {
            input: 12,
            output: 5,
        },
    ];
    assert_eq!(chunks, expected);
    let asked = &fake.asked()[0];
    assert_eq!(
        (&asked["model"], &asked["options"]["temperature"]),
        (&json!("llama3.2"), &json!(0.5))
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_or_fails_is_reported() {
    let half = "{\"message\":{\"content\":\"half\"},\"done\":false}\n";
    for (chunks, text) in [
        (vec![half], "stopped in the middle"),
        (
            vec![half, "{\"error\":\"out of memory\"}\n"],
            "out of memory",
        ),
        (vec!["<html>\n"], "not a chat stream"),
    ] {
        let error = chat(&Fake::streams(&chunks), ChatRequest::default())
            .await
            .unwrap_err();
        assert!(error.message.contains(text), "{error}");
    }
}
