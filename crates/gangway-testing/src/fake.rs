//! A fake provider that responds byte for byte as configured, and records its requests.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, Response},
};
use futures_util::{StreamExt, stream};
use serde_json::Value;

type Headers = Vec<(String, String)>;

/// A response.
#[derive(Clone)]
pub struct Fake {
    status: u16,
    headers: Headers,
    chunks: Vec<Vec<u8>>,
    endless: bool,
    stalls: bool,
    /// Responses before this one, each used once.
    before: Arc<Mutex<Vec<(u16, Headers)>>>,
    /// Responses to requests that contain these words; the first match is used.
    instead: Vec<(String, Fake)>,
    asked: Arc<Mutex<Vec<Value>>>,
    bearers: Arc<Mutex<Vec<String>>>,
    /// The response to the first request with a body.
    first: Arc<Mutex<Option<Vec<Vec<u8>>>>>,
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
            stalls: false,
            before: Arc::default(),
            instead: Vec::new(),
            asked: Arc::default(),
            bearers: Arc::default(),
            first: Arc::default(),
        }
    }

    pub fn endless(chunk: &[u8]) -> Self {
        Self {
            endless: true,
            ..Self::streams_bytes(&[&chunk.repeat(64 << 10)])
        }
    }

    /// Repeats the same chunks.
    pub fn without_end(self) -> Self {
        Self {
            endless: true,
            ..self
        }
    }

    /// Hangs after its last chunk, without closing the connection.
    pub fn then_silent(self) -> Self {
        Self {
            stalls: true,
            ..self
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

    /// Fails with these statuses and headers first, one per request.
    pub fn after(self, refusals: &[(u16, &[(&str, &str)])]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let refusals = refusals
            .iter()
            .rev()
            .map(|(status, headers)| (*status, headers.iter().map(owned).collect()));
        self.before.lock().unwrap().extend(refusals);
        self
    }

    /// Responds differently if the request contains these words; empty words match a request without a body.
    pub fn when(mut self, message: &str, other: Self) -> Self {
        self.instead.push((message.to_owned(), other));
        self
    }

    fn heard(&self, body: &str) -> &Self {
        let fits = |message: &str| match message {
            "" => body.is_empty(),
            message => body.contains(message),
        };
        let other = self.instead.iter().find(|(message, _)| fits(message));
        other.map_or(self, |(_, other)| other)
    }

    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    /// Responds differently to the first request with a body.
    pub fn first_says(self, chunks: &[&str]) -> Self {
        let chunks = chunks.iter().map(|chunk| chunk.as_bytes().to_vec());
        *self.first.lock().unwrap() = Some(chunks.collect());
        self
    }

    /// The `Authorization` headers of all requests, in order.
    pub fn bearers(&self) -> Vec<String> {
        self.bearers.lock().unwrap().clone()
    }

    /// Its URL.
    pub async fn start(&self) -> String {
        self.start_at(([127, 0, 0, 1], 0).into()).await
    }

    pub async fn start_at(&self, address: SocketAddr) -> String {
        let router = Router::new().fallback(answer).with_state(self.clone());
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }
}

async fn answer(State(fake): State<Fake>, headers: HeaderMap, body: String) -> Response<Body> {
    if let Some(shown) = headers.get("authorization") {
        let shown = shown.to_str().unwrap().to_owned();
        fake.bearers.lock().unwrap().push(shown);
    }
    let body_empty = body.is_empty();
    // A request for the list of models has no body.
    if !body.is_empty() {
        let asked = serde_json::from_str(&body).unwrap_or_default();
        fake.asked.lock().unwrap().push(asked);
    }
    let refusal = fake.before.lock().unwrap().pop();
    if let Some((status, headers)) = refusal {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(name, value);
        }
        return response.body(Body::from("busy")).unwrap();
    }
    let fake = fake.heard(&body);
    let first = (!body_empty).then(|| fake.first.lock().unwrap().take());
    let chunks = first.flatten().unwrap_or_else(|| fake.chunks.clone());
    let chunks = stream::iter(chunks);
    let chunks = if fake.endless {
        chunks.cycle().left_stream()
    } else {
        chunks.right_stream()
    };
    let silence = fake.stalls.then_some(stream::pending());
    let chunks = chunks.chain(stream::iter(silence).flatten());
    // A pause, so that the chunks arrive separately.
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
