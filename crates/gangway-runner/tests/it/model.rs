//! A model whose responses are controlled by a test.

use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use gangway_core::{SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_models::{ChatChunk, ChatRequest, ChatStream, ModelError, Provider};
use gangway_runner::{
    builtin::{BuiltinFactory, BuiltinParts, OwnTools},
    wire::Setup,
};
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

/// Streams what the test sends; dropping the sender ends the response.
#[derive(Clone)]
pub struct Model {
    answers: Arc<AsyncMutex<mpsc::Receiver<mpsc::Receiver<ChatChunk>>>>,
    pub asked: Arc<Mutex<Vec<ChatRequest>>>,
}

pub struct Answers(mpsc::Sender<mpsc::Receiver<ChatChunk>>);

impl Answers {
    /// The parts of the next response.
    pub async fn next(&self) -> mpsc::Sender<ChatChunk> {
        let (chunks, receiver) = mpsc::channel(100_000);
        self.0.send(receiver).await.unwrap();
        chunks
    }

    /// A complete response.
    pub async fn whole(&self, words: &[&str]) {
        let chunks = self.next().await;
        for word in words {
            chunks.send(ChatChunk::Text((*word).into())).await.unwrap();
        }
        let usage = ChatChunk::Usage {
            input: 10,
            output: 2,
        };
        chunks.send(usage).await.unwrap();
    }
}

impl Model {
    pub fn new() -> (Self, Answers) {
        let (sender, answers) = mpsc::channel(100);
        let model = Self {
            answers: Arc::new(AsyncMutex::new(answers)),
            asked: Arc::default(),
        };
        (model, Answers(sender))
    }
}

impl Provider for Model {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn window<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        async { Some(1000) }.boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        async move {
            self.asked.lock().unwrap().push(request);
            let answer = self.answers.lock().await.recv().await;
            let chunks = stream::unfold(answer.unwrap(), |mut answer| async {
                Some((Ok(answer.recv().await?), answer))
            });
            Ok(chunks.boxed())
        }
        .boxed()
    }
}

impl BuiltinFactory for Model {
    fn parts(&self, _: &Setup) -> Result<BuiltinParts, String> {
        Ok(BuiltinParts {
            models: Arc::new(self.clone()),
            tools: Arc::new(NoTools),
            max_tool_calls: 5,
        })
    }
}

struct NoTools;

impl Toolbox for NoTools {
    fn tools<'a>(&'a self, _: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        async { Vec::new() }.boxed()
    }

    fn call(
        &self,
        _: SessionId,
        tool: ToolName,
        _: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        async { Err(ToolError::NotFound(tool)) }.boxed()
    }
}

impl OwnTools for NoTools {
    fn open(&self) {}

    fn close(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}
