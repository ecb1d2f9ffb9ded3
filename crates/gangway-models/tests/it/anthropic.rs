//! Anthropic's Messages wire.

use futures_util::StreamExt;
use gangway_models::{
    ChatChunk, ChatRequest, Failure, Message, ModelError, Provider, ToolCall, anthropic::Anthropic,
};
use serde_json::{Value, json};

use super::{ONCE, fake::Fake};

async fn chat(fake: &Fake, request: ChatRequest) -> Result<Vec<ChatChunk>, ModelError> {
    let provider = Anthropic::new(
        &fake.start().await,
        Some("sk-ant".into()),
        Some("claude".into()),
    )
    .retrying(ONCE);
    let chunks: Vec<_> = provider.chat(request).await?.collect().await;
    chunks.into_iter().collect()
}

fn event(value: Value) -> String {
    format!(
        "event: {}\ndata: {value}\n\n",
        value["type"].as_str().unwrap()
    )
}

#[tokio::test]
async fn an_answer_with_a_tool_call_and_its_tokens_is_parsed() {
    let events: Vec<String> = [
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Let me see" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "t1", "name": "look", "input": {} } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{\"a\":" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "1}" } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ]
    .map(event)
    .into();
    let chunks: Vec<&str> = events.iter().map(String::as_str).collect();
    let chunks = chat(&Fake::streams(&chunks), ChatRequest::default())
        .await
        .unwrap();
    let call = ToolCall {
        id: "t1".into(),
        name: "look".into(),
        arguments: json!({ "a": 1 }),
    };
    let expected = [
        ChatChunk::Text("Let me see".into()),
        ChatChunk::ToolCall(call),
        ChatChunk::Usage {
            input: 9,
            output: 20,
        },
    ];
    assert_eq!(chunks, expected);
}

#[tokio::test]
async fn tokens_from_the_cache_count_as_read_and_are_distinguished() {
    let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 5 });
    let events = [
        json!({ "type": "message_start", "message": { "usage": usage } }),
        json!({ "type": "message_delta", "delta": {}, "usage": { "output_tokens": 2 } }),
        json!({ "type": "message_stop" }),
    ]
    .map(event);
    let chunks = events.each_ref().map(String::as_str);
    let chunks = chat(&Fake::streams(&chunks), ChatRequest::default())
        .await
        .unwrap();
    let [ChatChunk::Passed(passed), used] = chunks.as_slice() else {
        panic!("{chunks:?}");
    };
    let details = json!({ "prompt_tokens_details": { "cached_tokens": 40 } });
    assert_eq!(json!(passed.usage), details);
    let all = ChatChunk::Usage {
        input: 48,
        output: 2,
    };
    assert_eq!(*used, all);
}

#[tokio::test]
async fn a_conversation_goes_out_in_turns_that_alternate() {
    let fake = Fake::streams(&["data: {\"type\":\"message_stop\"}\n\n"]);
    let call = ToolCall {
        id: "t1".into(),
        name: "look".into(),
        arguments: json!({}),
    };
    let messages = vec![
        Message::System("Be kind.".into()),
        Message::User("one".into()),
        Message::User("two".into()),
        Message::Assistant {
            text: String::new(),
            calls: vec![call],
            fields: Default::default(),
        },
        Message::Tool {
            call: "t1".into(),
            name: "look".into(),
            content: "no".into(),
            failed: true,
        },
        Message::User("three".into()),
    ];
    chat(
        &fake,
        ChatRequest {
            messages,
            ..ChatRequest::default()
        },
    )
    .await
    .unwrap();
    let asked = &fake.asked()[0];
    assert_eq!(asked["system"], "Be kind.");
    let expected = json!([
        { "role": "user", "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }] },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "look", "input": {} }] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": true },
            { "type": "text", "text": "three" }] },
    ]);
    assert_eq!(asked["messages"], expected);
}

#[tokio::test]
async fn failures_are_reported_by_type() {
    let overloaded = event(
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } }),
    );
    let error = chat(&Fake::streams(&[&overloaded]), ChatRequest::default())
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::Unavailable);
    let body = r#"{"type":"error","error":{"type":"authentication_error","message":"bad sk-ant"}}"#;
    let error = chat(&Fake::answers(401, &[], body), ChatRequest::default())
        .await
        .unwrap_err();
    assert!(
        error.failure == Failure::Unauthorized && error.message.contains("bad [key]"),
        "{error}"
    );
}
