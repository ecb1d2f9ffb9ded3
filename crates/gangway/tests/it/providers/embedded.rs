//! The embedded model on real weights, all the way through the server and its engine.

use serde_json::{Value, json};

use crate::support::{Gangway, TestServer, test_weights};

/// A server with the small model that tests use in its store.
async fn server() -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("models");
    std::fs::create_dir_all(&store).unwrap();
    std::os::unix::fs::symlink(test_weights(), store.join("small.gguf")).unwrap();
    TestServer::in_folder(folder, |config| config.default_agent = "builtin".into()).await
}

fn capital() -> Value {
    let question = "What is the capital of France? Answer with the name only.";
    json!({ "temperature": 0, "max_tokens": 24, "messages": [{ "role": "user", "content": question }] })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_model_answers_in_a_session_and_on_the_openai_api_without_any_set_up() {
    let server = server().await;
    let (_, providers) = server.get("/api/providers").await;
    assert_eq!(
        providers["default"],
        json!({ "provider": "embedded", "model": "small" })
    );

    // In a session, two turns: the second builds on what was read for the first.
    let session = server.session().await;
    let answer = server.ask(&session, "What is the capital of France?").await;
    // What a small model says by chance is not always right; below it is asked without chance.
    assert!(!answer.trim().is_empty());
    server.ask(&session, "And of Italy?").await;
    let (_, activity) = server.get("/api/models/activity").await;
    assert_eq!(activity["embedded"]["loaded"], "small");
    let reused = activity["embedded"]["reusedTokens"].as_u64().unwrap();
    assert!(reused > 20, "{activity}");

    // On the OpenAI door, whole.
    let (status, answer) = server.post("/v1/chat/completions", capital()).await;
    assert_eq!(status, 200, "{answer}");
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("Paris"), "{text}");
    assert!(answer["usage"]["completion_tokens"].as_u64().unwrap() > 0);

    // With a tool that it must call: the arguments fit the schema whatever the model thinks.
    let parameters = json!({
        "type": "object", "additionalProperties": false, "required": ["city", "unit"],
        "properties": { "city": { "type": "string", "maxLength": 40 }, "unit": { "enum": ["celsius", "fahrenheit"] } },
    });
    let tool = json!({ "type": "function", "function": { "name": "weather", "description": "Tells the weather in a city", "parameters": parameters } });
    let request = json!({
        "temperature": 0, "max_tokens": 80, "tools": [tool], "tool_choice": "required",
        "messages": [{ "role": "user", "content": "How warm is it in Paris, in celsius?" }],
    });
    let (status, answer) = server.post("/v1/chat/completions", request).await;
    assert_eq!(status, 200, "{answer}");
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "weather", "{answer}");
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert!(arguments["city"].is_string(), "{arguments}");
    assert!(
        ["celsius", "fahrenheit"].contains(&arguments["unit"].as_str().unwrap()),
        "{arguments}"
    );
}

#[tokio::test]
async fn weights_that_are_cut_short_are_refused_with_a_reason_and_the_server_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("models");
    std::fs::create_dir_all(&store).unwrap();
    let whole = std::fs::read(test_weights()).unwrap();
    std::fs::write(store.join("cut.gguf"), &whole[..1 << 20]).unwrap();
    std::fs::write(store.join("wrong.gguf"), "not a model at all").unwrap();
    let server = TestServer::in_folder(folder, |_| {}).await;
    for (name, text) in [("cut", "truncated"), ("wrong", "not a GGUF file")] {
        let mut request = capital();
        request["model"] = json!(format!("embedded/{name}"));
        let (status, answer) = server.post("/v1/chat/completions", request).await;
        assert_eq!(status, 502, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(text), "{message}");
    }
    assert_eq!(server.get("/readyz").await.0, 200);
}

/// Weights in which a word of the vocabulary is there twice, over which llama.cpp ends the process.
fn with_a_word_twice() -> Vec<u8> {
    let mut whole = std::fs::read(test_weights()).unwrap();
    let key = b"tokenizer.ggml.tokens";
    let place = whole.windows(key.len()).position(|bytes| bytes == key);
    // After the key: the kind, the kind of the entries, how many there are.
    let mut at = place.unwrap() + key.len() + 4 + 4 + 8;
    let mut first: Option<Vec<u8>> = None;
    loop {
        let length = u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
        at += 8;
        // Further on than the special words.
        if length == 2 && at > place.unwrap() + 2000 {
            let word = &mut whole[at..at + length];
            match &first {
                Some(first) => {
                    word.copy_from_slice(first);
                    return whole;
                }
                None => first = Some(word.to_vec()),
            }
        }
        at += length;
    }
}

#[tokio::test]
async fn weights_that_would_kill_the_server_are_refused_with_a_reason_and_good_ones_still_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("models");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("twice.gguf"), with_a_word_twice()).unwrap();
    std::os::unix::fs::symlink(test_weights(), store.join("small.gguf")).unwrap();
    let mut server = Gangway::serve(folder.path(), &[]);
    let ask = async |name: &str| {
        let mut body = capital();
        body["model"] = json!(format!("embedded/{name}"));
        let request = server
            .http
            .post(format!("{}/v1/chat/completions", server.url));
        let response = request.json(&body).send().await.unwrap();
        (
            response.status().as_u16(),
            response.json::<Value>().await.unwrap(),
        )
    };
    for _ in 0..2 {
        let (status, answer) = ask("twice").await;
        assert_eq!(status, 502, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        let reason = "weights twice: the file crashes the engine: ";
        assert!(message.contains(reason), "{message}");
        assert!(!message.contains('/'), "{message}");
    }
    let (status, answer) = ask("small").await;
    assert_eq!(status, 200, "{answer}");
    assert!(server.child.try_wait().unwrap().is_none(), "it lives on");
}

#[tokio::test]
async fn what_the_asker_did_wrong_is_reported() {
    let server = server().await;
    let mut long = capital();
    long["messages"][0]["content"] = json!("Paris and London. ".repeat(20_000));
    let mut strange = capital();
    let schema = json!({ "type": "object", "if": { "type": "string" } });
    strange["response_format"] =
        json!({ "type": "json_schema", "json_schema": { "name": "a", "schema": schema } });
    for (request, code) in [
        (long, "context_length_exceeded"),
        (strange, "invalid_request_error"),
    ] {
        let (status, answer) = server.post("/v1/chat/completions", request).await;
        assert_eq!(status, 400, "{answer}");
        assert_eq!(answer["error"]["type"], "invalid_request_error");
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}
