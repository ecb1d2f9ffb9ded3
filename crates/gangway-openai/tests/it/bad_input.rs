//! Invalid requests and failing models, with errors in OpenAI's form.

use gangway_testing::fake::Fake;
use serde_json::{Value, json};

use super::{hello, says, server, with};
use crate::server::TestServer;

#[tokio::test]
async fn every_field_that_does_not_fit_is_named() {
    let server = server(&says(&["never asked"])).await;
    let user = json!({ "role": "user", "content": "hi" });
    for (request, text) in [
        (json!({ "messages": [] }), "`messages` must not be empty"),
        (json!({ "messages": "hi" }), "messages"),
        (
            json!({ "messages": [{ "role": "robot", "content": "x" }] }),
            "`messages[0]` has a `role`",
        ),
        (
            json!({ "messages": [{ "role": "user" }] }),
            "`messages[0]` needs `content`",
        ),
        (
            json!({ "messages": [user, { "role": "assistant" }] }),
            "`messages[1]` needs",
        ),
        (
            json!({ "messages": [{ "role": "tool", "content": "x" }] }),
            "tool_call_id",
        ),
        (
            json!({ "messages": [{ "role": "tool", "content": "x", "tool_call_id": "c" }] }),
            "no earlier message",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "image_url", "image_url": {} }] }] }),
            "only text is supported",
        ),
        (
            json!({ "messages": [{ "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": "[1]" } }] }] }),
            "not a JSON object",
        ),
        (json!({ "n": 2 }), "`n`"),
        (json!({ "temperature": 3 }), "`temperature`"),
        (json!({ "temperature": "hot" }), "temperature"),
        (json!({ "top_p": -1 }), "`top_p`"),
        (json!({ "max_tokens": 0 }), "`max_tokens`"),
        (json!({ "max_tokens": -1 }), "max_tokens"),
        (json!({ "stop": ["a", "b", "c", "d", "e"] }), "`stop`"),
        (json!({ "stop": [""] }), "`stop`"),
        (json!({ "tools": [{ "type": "retrieval" }] }), "`tools[0]`"),
        (
            json!({ "tools": [{ "type": "function", "function": { "name": "a b" } }] }),
            "`tools[0]` needs a name",
        ),
        (
            json!({ "tools": [{ "type": "function", "function": { "name": "a", "parameters": [] } }] }),
            "`tools[0]` has `parameters`",
        ),
        (json!({ "tool_choice": "required" }), "`tool_choice`"),
        (
            json!({ "tool_choice": { "type": "function", "function": { "name": "none" } } }),
            "`tool_choice`",
        ),
        (
            json!({ "response_format": { "type": "yaml" } }),
            "`response_format`",
        ),
    ] {
        let (status, answer) = server
            .post("/v1/chat/completions", with(request.clone()))
            .await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(status, 400, "{request}: {answer}");
        assert!(message.contains(text), "{request}: {message}");
        assert_eq!(
            answer["error"]["type"], "invalid_request_error",
            "{request}"
        );
    }
}

#[tokio::test]
async fn what_the_guard_refuses_has_the_same_format() {
    let server = TestServer::start().await;
    let url = server.url("/v1/chat/completions");
    let wrong_key = server
        .http
        .post(&url)
        .bearer_auth("sk-unknown")
        .json(&hello());
    let from_a_page = server
        .http
        .post(&url)
        .header("origin", "https://evil.example")
        .json(&hello());
    let no_json = server
        .http
        .post(&url)
        .body("{")
        .header("content-type", "text/plain");
    let broken = server
        .http
        .post(&url)
        .body("{")
        .header("content-type", "application/json");
    for (request, status, code) in [
        (wrong_key, 401, "invalid_key"),
        (from_a_page, 403, "origin_not_allowed"),
        (no_json, 415, "unsupported_media_type"),
        (broken, 400, "malformed_json"),
        (server.http.get(server.url("/v1/nothing")), 404, "not_found"),
        (server.http.get(&url), 405, "method_not_allowed"),
    ] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status);
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(
            body["error"]["message"].is_string() && body.get("status").is_none(),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_client_with_a_key_of_its_own_is_admitted() {
    let fake = says(&["hello"]);
    let server = server(&fake).await;
    let key = server.key("models").await;
    let response = server
        .http
        .post(server.url("/v1/chat/completions"))
        .bearer_auth(key.key)
        .json(&hello())
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn a_model_that_fails_has_a_status_a_code_and_its_own_words() {
    for (fake, status, code, message) in [
        (
            Fake::answers(
                429,
                &[("retry-after", "9")],
                "{\"error\":{\"message\":\"slow down\"}}",
            ),
            429,
            "ERR_RATE_LIMITED",
            Some("slow down"),
        ),
        (
            Fake::answers(500, &[], "<html>oops</html>"),
            502,
            "ERR_MODEL_FAILED",
            Some("<html>oops</html>"),
        ),
        (
            Fake::answers(503, &[], ""),
            503,
            "ERR_SERVER_UNAVAILABLE",
            None,
        ),
        (
            Fake::answers(504, &[], "late"),
            504,
            "ERR_TIMEOUT",
            Some("late"),
        ),
        (
            Fake::answers(401, &[], "bad sk-upstream"),
            401,
            "ERR_MODEL_FAILED",
            Some("bad [key]"),
        ),
        (
            Fake::answers(200, &[], "<html>hello</html>"),
            502,
            "ERR_MODEL_FAILED",
            None,
        ),
    ] {
        let server = server(&fake).await;
        for stream in [false, true] {
            let params = with(json!({ "stream": stream }));
            let request = server
                .http
                .post(server.url("/v1/chat/completions"))
                .json(&params);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{code}");
            let wait = response.headers().get("retry-after").cloned();
            assert_eq!(wait.is_some(), status == 429, "{code}");
            let body: Value = response.json().await.unwrap();
            assert_eq!(body["error"]["code"], code, "{body}");
            assert_eq!(body["error"]["details"].as_str(), message, "{body}");
            assert!(!body.to_string().contains("sk-upstream"), "{body}");
        }
    }
}

#[tokio::test]
async fn without_a_model_the_answer_says_how_to_get_one() {
    let server = TestServer::start().await;
    let request = with(json!({ "model": "default" }));
    let (status, answer) = server.post("/v1/chat/completions", request).await;
    assert_eq!(status, 404);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("gangway models pull"), "{message}");
    // A provider without its key reports that and is not called.
    let request = with(json!({ "model": "anthropic/claude" }));
    let (status, answer) = server.post("/v1/chat/completions", request).await;
    assert_eq!(status, 502);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("ANTHROPIC_API_KEY"), "{message}");
}
