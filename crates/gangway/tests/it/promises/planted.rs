//! Keys that a test plants, providers that repeat them, and the search for them afterwards.

use std::{collections::BTreeMap, path::Path};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, Response, StatusCode, Uri},
};
use rand::RngExt;
use serde_json::json;

use super::chance;
use crate::providers::wires::Wire;

/// Keys by what they are for.
pub struct Planted {
    keys: BTreeMap<String, String>,
    chance: rand::rngs::StdRng,
}

impl Planted {
    pub fn new() -> Self {
        Self {
            keys: BTreeMap::new(),
            chance: chance(18),
        }
    }

    /// A new key.
    pub fn key(&mut self, name: &str) -> String {
        let secret: u128 = self.chance.random();
        self.learn(name, &format!("sk-{secret:032x}"))
    }

    /// A key that another service has generated.
    pub fn learn(&mut self, name: &str, key: &str) -> String {
        self.keys.insert(name.to_owned(), key.to_owned());
        key.to_owned()
    }

    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// Every key that is found in this place; half of one counts.
    pub fn found(&self, place: &str, bytes: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        let found = self.keys.iter().filter(|(_, key)| {
            let (a, b) = key.split_at(key.len() / 2);
            text.contains(a) || text.contains(b)
        });
        found
            .map(|(name, _)| format!("{name} in {place}"))
            .collect()
    }

    /// The same for every file below a folder, but for those that may hold one.
    pub fn found_below(&self, folder: &Path, but: &[&str]) -> Vec<String> {
        let mut hits = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                hits.extend(self.found_below(&path, but));
            } else if !but.iter().any(|end| path.ends_with(end)) {
                let place = path.display().to_string();
                hits.extend(self.found(&place, place.as_bytes()));
                // A socket has a name and nothing to read.
                if path.is_file() {
                    hits.extend(self.found(&place, &std::fs::read(&path).unwrap()));
                }
            }
        }
        hits
    }
}

/// A provider of every kind that repeats the key it is shown: in text, in calls, in errors and in its list of models.
pub async fn echo() -> String {
    let router = Router::new().fallback(repeat).with_state(());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address.to_string()
}

async fn repeat(
    State(()): State<()>,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response<Body> {
    let mut shown = ["authorization", "x-api-key"].iter();
    let shown = shown.find_map(|name| headers.get(*name)?.to_str().ok());
    let key = shown.unwrap_or_default().trim_start_matches("Bearer ");
    let wire = match uri.path() {
        path if path.contains("anthropic") => Wire::Anthropic,
        path if path.contains("ollama") => Wire::Ollama,
        _ => Wire::OpenAi,
    };
    let answer = |status: StatusCode, body: String| {
        let response = Response::builder().status(status);
        // Headers of a provider are not passed on either.
        let response = response.header("x-request-id", key);
        response.body(Body::from(body)).unwrap()
    };
    if body.is_empty() {
        return answer(StatusCode::OK, wire.list(&format!("model-{key}")));
    }
    let half = wire.text("half ");
    if body.contains("please refuse") {
        let message =
            json!({ "error": { "message": format!("{} no such key {key}", "x".repeat(460)) } });
        return answer(StatusCode::UNAUTHORIZED, message.to_string());
    }
    if body.contains("please break") {
        let message = format!("{} no such key {key}", "x".repeat(465));
        return answer(StatusCode::OK, half + &wire.error(&message));
    }
    let (a, b) = key.split_at(key.len() / 3);
    let mut entry = vec![half, wire.text(a), wire.text(b)];
    entry.extend(wire.call(&json!({ "path": key })));
    entry.extend([wire.text(&format!(" {key}")), wire.end()]);
    answer(StatusCode::OK, entry.concat())
}
