//! The built-in agent on a model server that speaks the real wire.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::StatusCode,
    response::IntoResponse,
    routing::{get, post},
};
use serde_json::{Value, json};

use crate::support::TestServer;

/// What the model server answers with, and what it was asked.
#[derive(Clone, Default)]
struct Model {
    status: u16,
    body: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    fn says(pieces: &[&str]) -> Self {
        let mut body = String::new();
        for piece in pieces {
            let chunk =
                json!({ "choices": [{ "delta": { "content": piece }, "finish_reason": null }] });
            body += &format!("data: {chunk}\n\n");
        }
        body += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        body += "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
        Self {
            status: 200,
            body,
            ..Self::default()
        }
    }

    fn answers(status: u16, body: &str) -> Self {
        Self {
            status,
            body: body.into(),
            ..Self::default()
        }
    }

    async fn start(&self) -> String {
        let chat = |State(model): State<Self>, body: axum::Json<Value>| async move {
            model.asked.lock().unwrap().push(body.0);
            (
                StatusCode::from_u16(model.status).unwrap(),
                Body::from(model.body),
            )
                .into_response()
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route(
                "/v1/models",
                get(|| async { axum::Json(json!({ "data": [{ "id": "first" }] })) }),
            )
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/v1")
    }
}

async fn turn(server: &TestServer, prompt: &str) -> Vec<crate::support::Frame> {
    let session = server.session().await;
    let stream = server.send_message(&session, prompt).await;
    server
        .sse(&format!("/api/stream/{stream}"), None)
        .await
        .rest()
        .await
}

#[tokio::test]
async fn the_builtin_agent_streams_a_models_answer_and_counts_its_tokens() {
    let model = Model::says(&["Hel", "lo ", "there"]);
    let server = TestServer::with_model(&model.start().await, Some("sk-test")).await;
    let frames = turn(&server, "hi").await;
    let deltas: Vec<_> = frames
        .iter()
        .filter(|f| f.event == "assistant.message_delta")
        .map(|f| f.data["delta"].clone())
        .collect();
    assert_eq!(deltas, ["Hel", "lo ", "there"]);
    assert_eq!(
        frames.last().unwrap().data["usage"],
        json!({ "inputTokens": 11, "outputTokens": 3 })
    );
    assert_eq!(model.asked.lock().unwrap()[0]["model"], "test-model");
}

#[tokio::test]
async fn a_model_is_shown_what_was_said_before() {
    let model = Model::says(&["ok"]);
    let server = TestServer::with_model(&model.start().await, None).await;
    let session = server.session().await;
    server.ask(&session, "first").await;
    server.ask(&session, "second").await;
    let expected = json!([{ "role": "user", "content": "first" }, { "role": "assistant", "content": "ok" }, { "role": "user", "content": "second" }]);
    assert_eq!(model.asked.lock().unwrap()[1]["messages"], expected);
}

#[tokio::test]
async fn without_a_model_the_chat_explains_that() {
    let server = TestServer::with(|config| config.default_agent = "builtin".into()).await;
    let frames = turn(&server, "hi").await;
    let error = frames.iter().find(|f| f.event == "session.error").unwrap();
    assert_eq!(error.data["code"], "no_model");
    assert!(
        error.data["message"]
            .as_str()
            .unwrap()
            .contains("OPENAI_API_KEY")
    );
}

#[tokio::test]
async fn each_failure_of_a_model_is_reported_by_type_and_never_contains_the_key() {
    let cut = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let cases = [
        (
            Model::answers(401, r#"{"error":{"message":"bad key sk-secret"}}"#),
            "model_unauthorized",
            "bad key [key]",
        ),
        (
            Model::answers(429, "slow down"),
            "rate_limited",
            "slow down",
        ),
        (
            Model::answers(500, "<html>oops</html>"),
            "model_failed",
            "500",
        ),
        (
            Model::answers(200, "<html>not a stream</html>"),
            "model_failed",
            "not a chat stream",
        ),
        (
            Model::answers(200, "data: {broken\n\n"),
            "model_failed",
            "not a chat stream",
        ),
        (
            Model::answers(200, cut),
            "model_failed",
            "stopped in the middle",
        ),
        (
            Model::answers(200, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"),
            "model_failed",
            "overloaded",
        ),
    ];
    for (model, code, text) in cases {
        let server = TestServer::with_model(&model.start().await, Some("sk-secret")).await;
        let frames = turn(&server, "hi").await;
        let error = frames
            .iter()
            .find(|f| f.event == "session.error")
            .unwrap_or_else(|| panic!("{code}: {frames:?}"));
        let message = error.data["message"].as_str().unwrap();
        assert_eq!(error.data["code"], code, "{message}");
        assert!(
            message.contains(text) && !message.contains("sk-secret"),
            "{message}"
        );
        assert_eq!(frames.last().unwrap().data["outcome"], "failed");
    }
}

#[tokio::test]
async fn a_model_server_that_is_not_there_is_reported() {
    let server = TestServer::with_model("http://127.0.0.1:9/v1", None).await;
    let frames = turn(&server, "hi").await;
    let error = frames.iter().find(|f| f.event == "session.error").unwrap();
    assert_eq!(error.data["code"], "server_unavailable");
}

#[tokio::test]
async fn text_before_a_cut_stays_and_is_marked_as_partial() {
    let model = Model::answers(
        200,
        "data: {\"choices\":[{\"delta\":{\"content\":\"half an answer\"}}]}\n\n",
    );
    let server = TestServer::with_model(&model.start().await, None).await;
    let frames = turn(&server, "hi").await;
    let message = frames
        .iter()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(
        (&message.data["content"], &message.data["partial"]),
        (&json!("half an answer"), &json!(true))
    );
}

#[tokio::test]
async fn a_message_that_waited_is_shown_the_answer_it_waited_for() {
    let model = Model::says(&["ok"]);
    let server = TestServer::with_model(&model.start().await, None).await;
    let session = server.session().await;
    for n in 0..4 {
        server.send_message(&session, &format!("n{n}")).await;
    }
    server.ask(&session, "last").await;
    for asked in model.asked.lock().unwrap().iter() {
        let messages = asked["messages"].as_array().unwrap();
        for (n, message) in messages.iter().enumerate() {
            let expected = if n % 2 == 0 { "user" } else { "assistant" };
            assert_eq!(message["role"], expected, "{asked}");
        }
    }
}

#[tokio::test]
async fn a_model_that_stops_responding_times_out_and_its_output_is_kept() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Begins an answer and then says nothing, on a connection that stays open.
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut socket, _)) = listener.accept().await {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let _ = socket.read(&mut [0; 4096]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let _ = socket.write_all(format!("{head}{text}").as_bytes()).await;
            held.push(socket);
        }
    });
    let yaml = format!(
        "providers: {{ slow: {{ type: openai, base_url: 'http://{address}', model: m }} }}"
    );
    let providers = gangway::config::Config::parse(&yaml).unwrap().providers;
    let server = TestServer::with(|config| {
        config.default_agent = "builtin".into();
        config.providers = providers;
        config.models.silence_seconds = 1;
    })
    .await;
    let frames = turn(&server, "hi").await;
    let message = frames
        .iter()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(
        (&message.data["content"], &message.data["partial"]),
        (&json!("half"), &json!(true))
    );
    let error = frames.iter().find(|f| f.event == "session.error").unwrap();
    assert_eq!(error.data["code"], "timeout");
}
