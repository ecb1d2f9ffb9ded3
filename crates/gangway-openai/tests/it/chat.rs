//! Successful chats, complete and streamed.

use futures_util::StreamExt;
use gangway_testing::{eventually, fake::Fake};
use serde_json::json;

use super::{event, hello, says, server, streamed, with};

const LOOK: &str = r#"{ "type": "function", "function": { "name": "look", "description": "Looks",
    "parameters": { "type": "object", "properties": { "path": { "type": "string" } } } } }"#;

#[tokio::test]
async fn a_whole_answer_has_text_usage_and_a_reason_for_its_end() {
    let fake = says(&["Hel", "lo"]);
    let server = server(&fake).await;
    let (status, answer) = server.post("/v1/chat/completions", hello()).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "openai/big");
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 });
    assert_eq!(answer["usage"], usage);
    // The provider is asked for its own model by its own name.
    assert_eq!(fake.asked()[0]["model"], "big");
}

#[tokio::test]
async fn a_streamed_answer_says_who_speaks_first_and_how_much_was_used_last() {
    let server = server(&says(&["Hel", "lo"])).await;
    let request = with(json!({ "stream": true, "stream_options": { "include_usage": true } }));
    let (events, done) = streamed(&server, request).await;
    assert!(done);
    let first = &events[0]["choices"][0]["delta"];
    assert_eq!(first, &json!({ "role": "assistant", "content": "Hel" }));
    assert_eq!(events[1]["choices"][0]["delta"], json!({ "content": "lo" }));
    assert_eq!(events[2]["choices"][0]["finish_reason"], "stop");
    assert_eq!(events[3]["choices"], json!([]));
    assert_eq!(events[3]["usage"]["total_tokens"], 10);
    assert_eq!(events.len(), 4);
    let id = &events[0]["id"];
    assert!(events.iter().all(|event| event["id"] == *id));
}

#[tokio::test]
async fn tools_go_to_the_model_and_its_calls_come_back() {
    let call = json!({ "index": 0, "id": "c1", "function": { "name": "look", "arguments": "{\"path\":\"a\"}" } });
    let fake = Fake::streams(&[
        &event(json!({ "choices": [{ "delta": { "tool_calls": [call] } }] })),
        &event(json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })),
    ]);
    let server = server(&fake).await;
    let tool: serde_json::Value = serde_json::from_str(LOOK).unwrap();
    let request = json!({ "tools": [tool], "tool_choice": "required" });
    let (_, answer) = server
        .post("/v1/chat/completions", with(request.clone()))
        .await;
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], json!(null));
    let called = json!([{ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"path\":\"a\"}" } }]);
    assert_eq!(choice["message"]["tool_calls"], called);
    assert_eq!(fake.asked()[0]["tool_choice"], "required");
    assert_eq!(fake.asked()[0]["tools"][0], tool);

    let mut request = with(request);
    request["stream"] = json!(true);
    let (events, done) = streamed(&server, request).await;
    assert!(done);
    let call = &events[0]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(call["index"], 0);
    assert_eq!(call["function"]["arguments"], "{\"path\":\"a\"}");
    assert_eq!(events[1]["choices"][0]["finish_reason"], "tool_calls");

    // The result of the call is sent back, with the text around it.
    let messages = json!([
        { "role": "developer", "content": [{ "type": "text", "text": "Be " }, { "type": "text", "text": "kind." }] },
        { "role": "user", "content": "look" },
        { "role": "assistant", "content": null, "tool_calls": called },
        { "role": "tool", "tool_call_id": "c1", "content": "seen" },
    ]);
    server
        .post(
            "/v1/chat/completions",
            with(json!({ "messages": messages })),
        )
        .await;
    let asked = &fake.asked()[2]["messages"];
    assert_eq!(asked[0], json!({ "role": "system", "content": "Be kind." }));
    assert_eq!(asked[2]["tool_calls"], called);
    assert_eq!(
        asked[3],
        json!({ "role": "tool", "tool_call_id": "c1", "content": "seen" })
    );
}

#[tokio::test]
async fn a_client_that_wants_one_call_gets_the_first() {
    let call = |n: u32| json!({ "index": n, "id": format!("c{n}"), "function": { "name": "look", "arguments": "{}" } });
    let fake = Fake::streams(&[
        &event(json!({ "choices": [{ "delta": { "tool_calls": [call(0), call(1)] } }] })),
        &event(json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })),
    ]);
    let server = server(&fake).await;
    let tool: serde_json::Value = serde_json::from_str(LOOK).unwrap();
    for (parallel, calls) in [(true, 2), (false, 1)] {
        let request = with(json!({ "tools": [tool], "parallel_tool_calls": parallel }));
        let (_, answer) = server.post("/v1/chat/completions", request).await;
        let made = answer["choices"][0]["message"]["tool_calls"].as_array();
        assert_eq!(made.unwrap().len(), calls);
    }
}

#[tokio::test]
async fn generation_options_reach_the_model() {
    let fake = says(&["{}"]);
    let server = server(&fake).await;
    let schema = json!({ "type": "object", "required": ["a"] });
    let request = with(json!({
        "temperature": 0.5, "top_p": 0.9, "seed": 4, "stop": "END", "max_completion_tokens": 9,
        "response_format": { "type": "json_schema", "json_schema": { "name": "x", "schema": schema } },
    }));
    assert_eq!(server.post("/v1/chat/completions", request).await.0, 200);
    let asked = &fake.asked()[0];
    assert_eq!(asked["temperature"], 0.5);
    assert_eq!(asked["top_p"], 0.9);
    assert_eq!(asked["seed"], 4);
    assert_eq!(asked["stop"], json!(["END"]));
    assert_eq!(asked["max_tokens"], 9);
    assert_eq!(asked["response_format"]["json_schema"]["schema"], schema);
}

#[tokio::test]
async fn an_answer_at_its_longest_length_reports_it() {
    let cut =
        event(json!({ "choices": [{ "delta": { "content": "a" }, "finish_reason": "length" }] }));
    let server = server(&Fake::streams(&[&cut])).await;
    let (_, answer) = server.post("/v1/chat/completions", hello()).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn a_failure_in_the_middle_keeps_the_text_and_ends_without_the_final_event() {
    let half = event(json!({ "choices": [{ "delta": { "content": "half" } }] }));
    let server = server(&Fake::streams(&[&half])).await;
    let (events, done) = streamed(&server, with(json!({ "stream": true }))).await;
    assert!(!done);
    assert_eq!(events[0]["choices"][0]["delta"]["content"], "half");
    assert_eq!(events[1]["error"]["code"], "ERR_MODEL_FAILED");
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_request_to_the_model() {
    let chunk = event(json!({ "choices": [{ "delta": { "content": "on and on " } }] }));
    let server = server(&Fake::endless(chunk.as_bytes())).await;
    let response = server
        .http
        .post(server.url("/v1/chat/completions"))
        .json(&with(json!({ "stream": true })))
        .send()
        .await
        .unwrap();
    let mut body = response.bytes_stream();
    body.next().await.unwrap().unwrap();
    let active = async || server.service.registry.activity().active;
    assert_eq!(active().await, 1);
    drop(body);
    eventually(async || (active().await == 0).then_some(())).await;
}

#[tokio::test]
async fn the_models_of_every_provider_are_listed_by_full_name() {
    let list = json!({ "data": [{ "id": "big" }, { "id": "org/small" }] }).to_string();
    let server = server(&Fake::answers(200, &[], &list)).await;
    let (status, models) = server.get("/v1/models").await;
    assert_eq!(status, 200);
    let ids: Vec<_> = models["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["id"])
        .collect();
    assert_eq!(ids, ["openai/big", "openai/org/small"]);
    let (_, one) = server.get("/v1/models/openai/org/small").await;
    assert_eq!(one["owned_by"], "openai");
    let (status, none) = server.get("/v1/models/openai/none").await;
    assert_eq!(
        (status.as_u16(), &none["error"]["code"]),
        (404, &json!("model_not_found"))
    );
}

#[tokio::test]
async fn an_answer_without_a_word_ends_well() {
    let end = event(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
    let server = server(&Fake::streams(&[&end, "data: [DONE]\n\n"])).await;
    let (events, done) = streamed(&server, with(json!({ "stream": true }))).await;
    assert!(done);
    assert_eq!(
        events.last().unwrap()["choices"][0]["finish_reason"],
        "stop"
    );
    let (status, answer) = server.post("/v1/chat/completions", hello()).await;
    assert_eq!(
        (status.as_u16(), &answer["choices"][0]["message"]["content"]),
        (200, &json!(""))
    );
}

#[tokio::test]
async fn figures_that_are_none_do_not_spoil_an_answer() {
    for usage in [
        json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX }),
        json!({ "prompt_tokens": -1, "completion_tokens": 1.5 }),
        json!({ "prompt_tokens": "many", "completion_tokens": null }),
    ] {
        let end = event(
            json!({ "choices": [{ "delta": { "content": "hi" }, "finish_reason": "stop" }], "usage": usage }),
        );
        let server = server(&Fake::streams(&[&end])).await;
        let (status, answer) = server.post("/v1/chat/completions", hello()).await;
        assert_eq!(
            (status.as_u16(), &answer["usage"]["total_tokens"]),
            (200, &json!(0)),
            "{usage}"
        );
    }
}
