//! What is passed through unchanged: a provider's errors, and fields that only it knows.

use gangway_testing::fake::Fake;
use serde_json::{Value, json};

use super::{event, says, server, streamed, with};

#[tokio::test]
async fn a_providers_refusal_keeps_its_status_and_code() {
    for (status, code) in [
        (400, "context_length_exceeded"),
        (401, "invalid_api_key"),
        (404, "model_not_found"),
        (422, "unprocessable"),
        (429, "insufficient_quota"),
    ] {
        let error = json!({ "error": { "message": "no", "type": "t", "code": code } });
        let server = server(&Fake::answers(status, &[], &error.to_string())).await;
        for stream in [false, true] {
            let request = with(json!({ "stream": stream }));
            let (answered, body) = server.post("/v1/chat/completions", request).await;
            assert_eq!(answered, status, "{body}");
            assert_eq!(body["error"]["code"], code, "{body}");
        }
    }
}

#[tokio::test]
async fn a_mistyped_provider_is_an_error_and_no_other_provider_is_called() {
    let fake = says(&["Hello"]);
    let server = server(&fake).await;
    for model in ["opneai/big", "home2/big", "gpt/5"] {
        let (status, body) = server
            .post("/v1/chat/completions", with(json!({ "model": model })))
            .await;
        assert_eq!(status, 404, "{body}");
        assert_eq!(body["error"]["code"], "model_not_found");
        assert!(
            body["error"]["message"].as_str().unwrap().contains(model),
            "{body}"
        );
    }
    assert!(fake.asked().is_empty());
}

/// A provider with reasoning and log probabilities.
fn reasons() -> Fake {
    let logprobs = |token: &str| json!({ "content": [{ "token": token, "logprob": -0.5 }] });
    let chunk = |delta: Value, logprobs: Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": logprobs });
        event(json!({ "id": "x", "model": "big", "system_fingerprint": "fp", "choices": [choice] }))
    };
    let details = json!({ "cached_tokens": 5 });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10,
        "prompt_tokens_details": details });
    let events = [
        chunk(
            json!({ "role": "assistant", "reasoning_content": "I th" }),
            json!(null),
        ),
        chunk(json!({ "reasoning_content": "ink." }), json!(null)),
        chunk(json!({ "content": "Hel" }), logprobs("Hel")),
        chunk(json!({ "content": "lo" }), logprobs("lo")),
        event(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] })),
        event(json!({ "choices": [], "usage": usage })),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    Fake::streams(&events)
}

#[tokio::test]
async fn fields_that_only_the_provider_knows_pass_both_ways() {
    let fake = reasons();
    let server = server(&fake).await;
    let fields = json!({
        "logprobs": true, "top_logprobs": 2, "presence_penalty": 0.5, "frequency_penalty": -0.5,
        "reasoning_effort": "low", "user": "me", "brand_new": { "a": [1] },
    });
    let mut request = with(fields.clone());
    request["messages"] = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": "yes", "reasoning_content": "I thought." },
        { "role": "user", "content": "and?" },
    ]);
    let (status, answer) = server.post("/v1/chat/completions", request.clone()).await;
    assert_eq!(status, 200, "{answer}");
    let asked = &fake.asked()[0];
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(asked[name], *value, "{name}");
    }
    assert_eq!(asked["messages"][1]["reasoning_content"], "I thought.");

    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "Hello");
    assert_eq!(choice["message"]["reasoning_content"], "I think.");
    assert_eq!(choice["logprobs"]["content"].as_array().unwrap().len(), 2);
    assert_eq!(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 5);
    assert_eq!(answer["system_fingerprint"], "fp");
    assert_eq!(answer["model"], "openai/big");

    request["stream"] = json!(true);
    request["stream_options"] = json!({ "include_usage": true });
    let (events, done) = streamed(&server, request).await;
    assert!(done);
    let of = |pick: &dyn Fn(&Value) -> Option<String>| -> String {
        events.iter().filter_map(pick).collect()
    };
    let delta = |name: &'static str| {
        move |event: &Value| Some(event["choices"][0]["delta"][name].as_str()?.to_owned())
    };
    assert_eq!(of(&delta("reasoning_content")), "I think.");
    assert_eq!(of(&delta("content")), "Hello");
    let token = |event: &Value| {
        let content = &event["choices"][0]["logprobs"]["content"];
        Some(content[0]["token"].as_str()?.to_owned())
    };
    assert_eq!(of(&token), "Hello");
    let usage = &events.last().unwrap()["usage"];
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 5);
}
