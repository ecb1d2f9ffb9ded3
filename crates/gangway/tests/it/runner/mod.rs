//! The process of a remote agent: the real binary, seen from the server's end of its socket.

pub mod acp;
mod builtin;
mod own_model;
mod panes;
mod server;
mod terminal;
pub mod tmux;

use gangway::{config::Config, models::ModelAccess, remote::settings::RunnerSettings};
use serde_json::{Value, json};

/// What a model of OpenAI's kind streams when it says these words.
fn streamed(words: &[&str]) -> Vec<String> {
    let event = |value: Value| format!("data: {value}\n\n");
    let mut all: Vec<String> = words
        .iter()
        .map(|word| event(json!({ "choices": [{ "delta": { "content": word } }] })))
        .collect();
    all.push(event(
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
    ));
    all.push(event(
        json!({ "choices": [], "usage": { "prompt_tokens": 40, "completion_tokens": 2 } }),
    ));
    all
}

/// Settings with one model at this address.
fn settings(base: Option<&str>, data: &std::path::Path) -> RunnerSettings {
    let mut config = Config::default();
    config.models.detect = false;
    config.models.retries = 0;
    config.tools.catalog_url = "off".into();
    let access = ModelAccess {
        openai_base_url: base.map(str::to_owned),
        openai_model: base.map(|_| "test-model".to_owned()),
        ..ModelAccess::default()
    };
    RunnerSettings {
        config,
        data: data.to_owned(),
        access,
        own: "127.0.0.1:1".parse().unwrap(),
    }
}
