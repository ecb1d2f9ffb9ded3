//! A model server on OpenAI's wire whose answers come chunk by chunk, as the test lets them.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    response::IntoResponse,
    routing::{get, post},
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// What the model says, and what it was asked.
#[derive(Clone)]
pub struct Model(Arc<Inner>);

struct Inner {
    chunks: Vec<String>,
    asked: Mutex<Vec<Value>>,
    /// Chunks that may be said; none is waited for where there is no gate.
    gate: Option<Semaphore>,
}

impl Model {
    /// Says this at once, each time.
    pub fn says(chunks: &[&str]) -> Self {
        Self::new(chunks.iter().map(|chunk| (*chunk).to_owned()), None)
    }

    /// Says this many numbered chunks, each when the test lets it.
    pub fn held(chunks: usize) -> Self {
        let gate = Semaphore::new(0);
        Self::new((0..chunks).map(|n| format!("chunk {n}, ")), Some(gate))
    }

    fn new(chunks: impl Iterator<Item = String>, gate: Option<Semaphore>) -> Self {
        Self(Arc::new(Inner {
            chunks: chunks.collect(),
            asked: Mutex::default(),
            gate,
        }))
    }

    /// The whole answer.
    pub fn answer(&self) -> String {
        self.0.chunks.concat()
    }

    /// Lets it send this many more chunks.
    pub fn release(&self, chunks: usize) {
        self.0.gate.as_ref().unwrap().add_permits(chunks);
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Value> {
        self.0.asked.lock().unwrap().clone()
    }

    /// Where it listens.
    pub async fn start(&self) -> String {
        let listed = || async { Json(json!({ "data": [{ "id": "test-model" }] })) };
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/models", get(listed))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/v1")
    }
}

async fn chat(State(model): State<Model>, Json(asked): Json<Value>) -> impl IntoResponse {
    model.0.asked.lock().unwrap().push(asked);
    let chunks = model.0.chunks.clone();
    let message = stream::iter(chunks).then(move |chunk| {
        let model = model.clone();
        async move {
            if let Some(gate) = &model.0.gate {
                gate.acquire().await.unwrap().forget();
            }
            let delta = json!({ "choices": [{ "delta": { "content": chunk } }] });
            format!("data: {delta}\n\n")
        }
    });
    let end = [
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 11, "completion_tokens": 3 } }),
    ];
    let end = end.map(|line| format!("data: {line}\n\n")).concat() + "data: [DONE]\n\n";
    let body = message.chain(stream::iter([end])).map(Ok::<_, Infallible>);
    Body::from_stream(body)
}
