//! A server that says what a provider would say, byte for byte, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Body, extract::State, http::Response};
use futures_util::{StreamExt, stream};
use serde_json::Value;

/// What the server answers with.
#[derive(Clone)]
pub struct Fake {
    status: u16,
    headers: Vec<(String, String)>,
    chunks: Vec<Vec<u8>>,
    endless: bool,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Fake {
    pub fn streams(chunks: &[&str]) -> Self {
        let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
        Self::streams_bytes(&chunks)
    }

    pub fn streams_bytes(chunks: &[&[u8]]) -> Self {
        let chunks = chunks.iter().map(|chunk| chunk.to_vec()).collect();
        Self {
            status: 200,
            headers: Vec::new(),
            chunks,
            endless: false,
            asked: Arc::default(),
        }
    }

    pub fn endless(chunk: &[u8]) -> Self {
        Self {
            endless: true,
            ..Self::streams_bytes(&[&chunk.repeat(64 << 10)])
        }
    }

    pub fn answers(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        Self {
            status,
            headers,
            ..Self::streams(&[body])
        }
    }

    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    /// Where it listens.
    pub async fn start(&self) -> String {
        let router = Router::new().fallback(answer).with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }
}

async fn answer(State(fake): State<Fake>, body: String) -> Response<Body> {
    fake.asked
        .lock()
        .unwrap()
        .push(serde_json::from_str(&body).unwrap_or_default());
    let chunks = stream::iter(fake.chunks.clone());
    let chunks = if fake.endless {
        chunks.cycle().left_stream()
    } else {
        chunks.right_stream()
    };
    // A pause between two pieces, so that they arrive as two.
    let body = Body::from_stream(chunks.then(|chunk| async {
        tokio::task::yield_now().await;
        Ok::<_, std::convert::Infallible>(chunk)
    }));
    let mut response = Response::builder().status(fake.status);
    for (name, value) in &fake.headers {
        response = response.header(name, value);
    }
    response.body(body).unwrap()
}
