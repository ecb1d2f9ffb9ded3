//! The server's embedded model, for remote agents: loaded once, in the server, and called over its API.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use gangway_models::{ChatRequest, ChatStream, Failure, ModelError, Provider, openai::OpenAi};

use gangway_client::ServerNote;

/// Prefix of its model names.
const PREFIX: &str = "embedded/";

/// Default context size of an embedded model.
const USUAL_WINDOW: u32 = 8192;

/// Backoff while the server is unreachable: a restart takes about a second.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

pub(super) struct OwnModel {
    data: PathBuf,
    window: u64,
    /// The last server and its client, so that requests share one.
    last: Mutex<Option<(ServerNote, Arc<OpenAi>)>>,
}

impl OwnModel {
    pub(super) fn new(data: PathBuf, context_tokens: Option<u32>) -> Self {
        Self {
            data,
            window: context_tokens.unwrap_or(USUAL_WINDOW).into(),
            last: Mutex::default(),
        }
    }

    /// The current server; its address may change on a restart.
    async fn server(&self) -> Result<Arc<OpenAi>, ModelError> {
        let data = self.data.clone();
        let note = tokio::task::spawn_blocking(move || ServerNote::read(&data)).await;
        let note = note.ok().flatten().ok_or_else(away)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, server)) = &*last
            && (&known.url, &known.token) == (&note.url, &note.token)
        {
            return Ok(Arc::clone(server));
        }
        let base = format!("{}/v1", note.url);
        let server = OpenAi::new(&base, Some(note.token.clone()), None).direct();
        let server = Arc::new(server);
        *last = Some((note, Arc::clone(&server)));
        Ok(server)
    }

    async fn ask(&self, request: ChatRequest) -> Result<ChatStream<'static>, ModelError> {
        self.server().await?.chat(request).await
    }
}

fn away() -> ModelError {
    ModelError::new(
        Failure::Unavailable,
        "The server with the embedded model is not reachable.",
    )
}

impl Provider for OwnModel {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        Box::pin(async {
            let names = self.server().await?.models().await?;
            let own = names
                .iter()
                .filter_map(|name| name.strip_prefix(PREFIX).map(str::to_owned));
            Ok(own.collect())
        })
    }

    fn window<'a>(&'a self, _model: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        Box::pin(std::future::ready(Some(self.window)))
    }

    fn chat(
        &self,
        mut request: ChatRequest,
    ) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        Box::pin(async move {
            let model = request.model.as_deref().unwrap_or_default();
            request.model = Some(match model {
                "" => "embedded".to_owned(),
                name => format!("{PREFIX}{name}"),
            });
            for pause in PAUSES {
                match self.ask(request.clone()).await {
                    Err(error) if error.failure == Failure::Unavailable => {
                        tokio::time::sleep(pause).await;
                    }
                    answer => return answer,
                }
            }
            self.ask(request).await
        })
    }
}
