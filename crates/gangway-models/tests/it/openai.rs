//! OpenAI's API, as servers in the wild implement it.
use futures_util::StreamExt;
use gangway_models::{
    ChatChunk, ChatRequest, Failure, Message, ModelError, Provider, ToolCall, ToolSpec,
    openai::OpenAi,
};
use serde_json::json;

use super::{ONCE, fake::Fake};

async fn chat(fake: &Fake, request: ChatRequest) -> Result<Vec<ChatChunk>, ModelError> {
    let provider = OpenAi::new(
        &fake.start().await,
        Some("sk-secret".into()),
        Some("m".into()),
    )
    .retrying(ONCE);
    let chunks: Vec<_> = provider.chat(request).await?.collect().await;
    chunks.into_iter().collect()
}

fn event(value: serde_json::Value) -> String {
    format!("data: {value}\n\n")
}

#[tokio::test]
async fn a_tool_call_in_chunks_becomes_one_call() {
    let call = |arguments: &str| {
        event(
            json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] } }] }),
        )
    };
    let begin = event(
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "c1", "function": { "name": "look", "arguments": "" } }] } }] }),
    );
    let end = event(json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }));
    let fake = Fake::streams(&[
        &begin,
        &call("{\"pa"),
        &call("th\": \"ä\"}"),
        &end,
        "data: [DONE]\n\n",
    ]);
    let tools = vec![ToolSpec {
        name: "look".into(),
        description: "Looks".into(),
        parameters: json!({ "type": "object" }),
    }];
    let request = ChatRequest {
        tools,
        messages: vec![Message::User("go".into())],
        ..ChatRequest::default()
    };
    let expected = ToolCall {
        id: "c1".into(),
        name: "look".into(),
        arguments: json!({ "path": "ä" }),
    };
    assert_eq!(
        chat(&fake, request).await.unwrap(),
        [ChatChunk::ToolCall(expected)]
    );
    assert_eq!(fake.asked()[0]["tools"][0]["function"]["name"], "look");
}

#[tokio::test]
async fn calls_and_their_answers_go_back_to_the_model() {
    let fake = Fake::streams(&["data: [DONE]\n\n"]);
    let call = ToolCall {
        id: "c1".into(),
        name: "look".into(),
        arguments: json!({ "a": 1 }),
    };
    let messages = vec![
        Message::System("Be kind.".into()),
        Message::Assistant {
            text: String::new(),
            calls: vec![call],
            fields: Default::default(),
        },
        Message::Tool {
            call: "c1".into(),
            name: "look".into(),
            content: "seen".into(),
            failed: false,
        },
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
    let expected = json!([
        { "role": "system", "content": "Be kind." },
        { "role": "assistant", "content": "", "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"a\":1}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": "seen" },
    ]);
    assert_eq!(fake.asked()[0]["messages"], expected);
    assert!(
        fake.asked()[0].get("tools").is_none(),
        "no tools means no list of tools"
    );
}

#[tokio::test]
async fn pictures_go_to_models_that_see_and_to_no_others() {
    let image = gangway_models::Image {
        mime_type: "image/png".into(),
        data: "AAAA".into(),
    };
    for (model, sees) in [("gpt-4o", true), ("gpt-3.5-turbo", false)] {
        let fake = Fake::streams(&["data: [DONE]\n\n"]);
        let request = ChatRequest {
            model: Some(model.into()),
            messages: vec![
                Message::User("look".into()),
                Message::Images(vec![image.clone()]),
            ],
            ..ChatRequest::default()
        };
        chat(&fake, request).await.unwrap();
        let asked = fake.asked();
        let url = &asked[0]["messages"][1]["content"][1]["image_url"]["url"];
        assert_eq!(*url == "data:image/png;base64,AAAA", sees, "{asked:?}");
        assert_eq!(
            asked[0]["messages"].as_array().unwrap().len(),
            1 + usize::from(sees)
        );
    }
}

#[tokio::test]
async fn text_that_is_cut_in_the_middle_of_a_character_arrives_whole() {
    let body = event(
        json!({ "choices": [{ "delta": { "content": "grüße 🛳️" }, "finish_reason": "stop" }] }),
    );
    let bytes = body.as_bytes();
    for cut in (1..bytes.len()).step_by(3) {
        let fake = Fake::streams_bytes(&[&bytes[..cut], &bytes[cut..]]);
        assert_eq!(
            chat(&fake, ChatRequest::default()).await.unwrap(),
            [ChatChunk::Text("grüße 🛳️".into())],
            "{cut}"
        );
    }
}

#[tokio::test]
async fn text_and_usage_in_one_event_are_both_handled() {
    let both = event(json!({
        "choices": [{ "delta": { "content": "hi" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1 },
    }));
    let chunks = chat(&Fake::streams(&[&both]), ChatRequest::default())
        .await
        .unwrap();
    assert_eq!(
        chunks,
        [
            ChatChunk::Text("hi".into()),
            ChatChunk::Usage {
                input: 3,
                output: 1
            }
        ]
    );
}

#[tokio::test]
async fn an_error_in_the_stream_is_reported_without_the_key_and_truncated() {
    for body in [
        json!({ "error": { "message": format!("no sk-secret {}", "x".repeat(2000)) } }),
        json!({ "error": "no sk-secret" }),
    ] {
        let error = chat(&Fake::streams(&[&event(body)]), ChatRequest::default())
            .await
            .unwrap_err();
        assert!(
            error.message.contains("no [key]") && error.message.len() < 700,
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_line_without_end_is_abandoned() {
    let fake = Fake::endless(b"x");
    let error = chat(&fake, ChatRequest::default()).await.unwrap_err();
    assert!(error.message.contains("too long"), "{error}");
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused() {
    let call = event(
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "f", "arguments": "{\"cut" } }] }, "finish_reason": "length" }] }),
    );
    let error = chat(&Fake::streams(&[&call]), ChatRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.failure, error.message.contains("not a JSON object")),
        (Failure::Failed, true)
    );
}

#[tokio::test]
async fn a_wait_that_the_provider_asks_for_is_kept() {
    let fake = Fake::answers(429, &[("retry-after", "7")], "slow down");
    let error = chat(&fake, ChatRequest::default()).await.unwrap_err();
    assert_eq!(
        (error.failure, error.retry_after.unwrap().as_secs()),
        (Failure::RateLimited, 7)
    );
}
