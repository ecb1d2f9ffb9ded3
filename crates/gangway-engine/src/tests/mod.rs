//! Tests on real weights. Each is a process of its own that loads them, so each tests several steps.

mod answers;
mod changed;
mod faults;
mod forms;
mod lengths;
mod memory;
mod readers;
mod roles;

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::StreamExt as _;
use gangway_embedded::{Settings, Source};
use gangway_models::{
    ChatChunk, ChatRequest, ChatStream, Message, ModelError, ToolCall, weights::WeightsStore,
};
use tempfile::TempDir;

use crate::{
    Llama,
    gauges::Gauges,
    model::{Backend, Model},
    quiet::Quiet,
};

/// The name of the weights in the tests' folders.
const SMALL: &str = "small";

/// The real weights.
fn weights() -> PathBuf {
    let path = std::env::var_os("GANGWAY_TEST_WEIGHTS").map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../target/test-weights/smollm2-135m-instruct.gguf")
        },
        PathBuf::from,
    );
    assert!(
        path.is_file(),
        "there are no weights at {}: run `scripts/setup.sh weights`, or name a file in GANGWAY_TEST_WEIGHTS",
        path.display()
    );
    path.canonicalize().unwrap()
}

/// The real weights in memory, without an engine.
fn model() -> Model {
    let store = WeightsStore::new(weights().parent().unwrap());
    let source = Source::find(&store, None).unwrap();
    let (backend, quiet) = (Backend::start().unwrap(), Quiet::new());
    let gauges = Arc::new(Gauges::default());
    Model::load(&backend, &quiet, source, &Settings::default(), &gauges).unwrap()
}

/// The engine with weights by name.
#[derive(Clone)]
struct Named {
    llama: Arc<Llama>,
    store: WeightsStore,
}

impl Named {
    async fn chat(&self, request: ChatRequest) -> Result<ChatStream<'static>, ModelError> {
        let source = Source::find(&self.store, request.model.as_deref())?;
        self.llama.chat(request, source).await
    }
}

impl Deref for Named {
    type Target = Llama;

    fn deref(&self) -> &Llama {
        &self.llama
    }
}

/// A folder with the real weights, and its engine.
struct Bench {
    folder: TempDir,
    model: Named,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        let folder = TempDir::new().unwrap();
        let llama = Llama::start(settings, Box::new(|_| {})).unwrap();
        let bench = Self {
            model: Named {
                llama: Arc::new(llama),
                store: WeightsStore::new(folder.path()),
            },
            folder,
        };
        bench.put(SMALL);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.gguf"))
    }

    /// Adds the real weights under a name.
    fn put(&self, name: &str) {
        std::os::unix::fs::symlink(weights(), self.path(name)).unwrap();
    }

    async fn start(&self, request: ChatRequest) -> ChatStream<'static> {
        self.model.chat(request).await.unwrap()
    }

    async fn ask(&self, request: ChatRequest) -> Answer {
        let chunks = self.start(request).await;
        Answer::of(chunks).await.unwrap()
    }

    async fn refusal(&self, request: ChatRequest) -> ModelError {
        match self.model.chat(request).await {
            Ok(_) => panic!("it was not refused"),
            Err(error) => error,
        }
    }
}

/// A complete answer.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    text: String,
    calls: Vec<ToolCall>,
    notices: Vec<String>,
    truncated: bool,
    usage: (u64, u64),
}

impl Answer {
    async fn of(mut chunks: ChatStream<'static>) -> Result<Self, ModelError> {
        let mut answer = Self::default();
        while let Some(chunk) = chunks.next().await {
            assert_eq!(answer.usage, (0, 0), "the usage comes last");
            match chunk? {
                ChatChunk::Text(text) => answer.text.push_str(&text),
                ChatChunk::ToolCall(call) => answer.calls.push(call),
                ChatChunk::Notice(notice) => {
                    assert_eq!(answer.text, "", "a notice comes first");
                    answer.notices.push(notice);
                }
                ChatChunk::Passed(passed) => panic!("the engine passes nothing on: {passed:?}"),
                ChatChunk::Truncated => answer.truncated = true,
                ChatChunk::Usage { input, output } => answer.usage = (input, output),
            }
        }
        assert_ne!(answer.usage, (0, 0), "there is a usage");
        Ok(answer)
    }
}

/// A question that always gets the same answer.
fn question(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User(text.to_owned())],
        temperature: Some(0.0),
        ..ChatRequest::default()
    }
}

/// A question with an answer of this many tokens.
fn long_question(tokens: u32) -> ChatRequest {
    ChatRequest {
        max_tokens: Some(tokens),
        ..question("Tell me a very long story about a ship and its crew.")
    }
}

fn said(text: &str) -> Message {
    Message::Assistant {
        text: text.to_owned(),
        calls: Vec::new(),
        fields: Default::default(),
    }
}
