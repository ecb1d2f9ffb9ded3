//! The process of a remote agent: the real binary, seen from the server's end of its socket.

pub mod acp;
mod builtin;
mod own_model;

use std::process::{Child, Stdio};

use gangway::config::{Config, RunnerSettings};
use gangway_providers::ModelAccess;
use gangway_runner::wire::{Backend, Setup};
use gangway_testing::runner::Server;
use serde_json::{Value, json};

use crate::support::{Gangway, eventually};

/// A runner as a process of its own, killed when dropped.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Runner {
    /// Starts the binary without a terminal.
    fn start(server: &Server) -> Self {
        let mut command = Gangway::command(&server.data());
        command.args(["agent", "--ticket"]).arg(&server.ticket);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }

    /// Waits until it exits; true on success.
    async fn ended(&mut self) -> bool {
        let ended = eventually(|| {
            let status = self.0.try_wait().unwrap();
            async move { status }
        });
        ended.await.success()
    }
}

/// What the runner is to be, with these settings.
fn setup(server: &Server, backend: Backend, settings: &RunnerSettings) -> Setup {
    Setup {
        settings: settings.to_json().unwrap(),
        ..server.setup(backend)
    }
}

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
