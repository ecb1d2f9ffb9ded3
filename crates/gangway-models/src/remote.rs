//! A provider on the other side of HTTP: where it is, how it is asked, and when it is asked again.

use std::{
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use crate::{
    ChatRequest, Failure, ModelError, Pieces, Provider,
    guess::best_guess,
    http::{http_client, read_at_most, words_of},
};

/// How a provider wants its key.
#[derive(Debug, Clone, Copy)]
pub enum KeyHeader {
    /// As a bearer token.
    Bearer,
    /// In a header of its own.
    Named(&'static str),
}

/// What one provider's API looks like.
pub trait Wire: Send + Sync + 'static {
    /// Where the key goes.
    const KEY: KeyHeader;
    /// A header that every request carries.
    const HEADER: Option<(&'static str, &'static str)> = None;
    /// Where the list of models is.
    const MODELS: &'static str;
    /// Where a chat goes.
    const CHAT: &'static str;

    /// The names in a list of models.
    fn names(list: Value) -> Option<Vec<String>>;

    /// A chat as this API writes it.
    fn body(model: &str, request: &ChatRequest, at: &str) -> Result<Value, ModelError>;

    /// The answer as it streams in.
    fn pieces(response: Response, at: Arc<str>) -> Pieces<'static>;
}

/// How often and how soon a request that failed before any answer is made again.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// Further attempts at the most.
    pub times: u32,
    /// The first pause; each further one is twice as long. A provider that says how long to wait is waited for.
    pub pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            times: 2,
            pause: Duration::from_millis(500),
        }
    }
}

/// A provider that asks for a longer pause than this is not waited for: the person is told instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A provider at a base URL.
pub struct Remote<W> {
    base: Arc<str>,
    key: Option<String>,
    client: reqwest::Client,
    /// The model to use when nobody names one.
    model: Option<String>,
    /// The model that was found when none was configured, so that not every turn asks for the list.
    found: Mutex<Option<String>>,
    retry: Retry,
    wire: PhantomData<W>,
}

impl<W: Wire> Remote<W> {
    /// A server at `base`, with its key if it wants one and a model to use when nobody names one.
    #[must_use]
    pub fn new(base: &str, key: Option<String>, model: Option<String>) -> Self {
        Self {
            base: base.trim_end_matches('/').into(),
            key: key.filter(|key| !key.is_empty()),
            client: http_client(),
            model,
            found: Mutex::default(),
            retry: Retry::default(),
            wire: PhantomData,
        }
    }

    /// The same, asking again in another rhythm.
    #[must_use]
    pub fn retrying(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same, on a client with other limits.
    #[must_use]
    pub fn on(mut self, client: reqwest::Client) -> Self {
        self.client = client;
        self
    }

    /// A whole JSON answer, for what is not a chat.
    pub(crate) async fn json(&self, path: &str) -> Result<Value, ModelError> {
        let response = self.once(self.request(Method::GET, path)).await?;
        let body = read_at_most(response).await?;
        serde_json::from_slice(&body).map_err(|_| self.unexpected())
    }

    fn unexpected(&self) -> ModelError {
        ModelError::failed(format!(
            "The server at {} answered something unexpected.",
            self.base
        ))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if let Some((name, value)) = W::HEADER {
            request = request.header(name, value);
        }
        match (&self.key, W::KEY) {
            (Some(key), KeyHeader::Bearer) => request.bearer_auth(key),
            (Some(key), KeyHeader::Named(name)) => request.header(name, key),
            (None, _) => request,
        }
    }

    /// Sends a chat, again where nothing of an answer can be lost or doubled: no byte of one has come.
    async fn send(&self, body: &Value) -> Result<Response, ModelError> {
        let mut pause = self.retry.pause;
        for _ in 0..self.retry.times {
            let error = match self.chat_once(body).await {
                Err(error) if error.again => error,
                answer => return answer,
            };
            let wait = error.retry_after.unwrap_or(pause);
            if wait > LONGEST_PAUSE {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
        self.chat_once(body).await
    }

    async fn chat_once(&self, body: &Value) -> Result<Response, ModelError> {
        self.once(self.request(Method::POST, W::CHAT).json(body))
            .await
    }

    /// The answer, if it is a success; otherwise an error with the provider's own words, never with the key.
    async fn once(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        let broke = |e: reqwest::Error| ModelError::from_transport(&self.base, &e);
        let response = request.send().await.map_err(broke)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // The model that was found may be what it objects to.
        *self.found() = None;
        let retry_after = response.headers().get("retry-after");
        let retry_after = retry_after
            .and_then(|v| v.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let body = read_at_most(response).await.unwrap_or_default();
        let words = self.redact(&words_of(&String::from_utf8_lossy(&body)));
        Err(ModelError::from_status(
            &self.base,
            status.as_u16(),
            retry_after,
            &words,
        ))
    }

    /// The model to use: the one that was asked for, the usual one, or the best guess among those there are.
    async fn pick_model(&self, wish: Option<&str>) -> Result<String, ModelError> {
        let known = wish.map(str::to_owned).or_else(|| self.model.clone());
        if let Some(model) = known.or_else(|| self.found().clone()) {
            return Ok(model);
        }
        let models = self.models().await?;
        let Some(model) = best_guess(&models) else {
            let message = format!(
                "The server at {} has no model. Add one to it first.",
                self.base
            );
            return Err(ModelError::new(Failure::NoModel, message));
        };
        *self.found() = Some(model.to_owned());
        Ok(model.to_owned())
    }

    fn found(&self) -> MutexGuard<'_, Option<String>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same pieces, with the key taken out of what the provider says when it fails.
    fn guarded(&self, pieces: Pieces<'static>) -> Pieces<'static> {
        let Some(key) = self.key.clone() else {
            return pieces;
        };
        let redact = move |mut error: ModelError| {
            error.message = error.message.replace(&key, "[key]");
            error.details = error.details.map(|words| words.replace(&key, "[key]"));
            error
        };
        pieces.map(move |piece| piece.map_err(&redact)).boxed()
    }

    /// Some servers repeat the key they refuse.
    fn redact(&self, words: &str) -> String {
        match &self.key {
            Some(key) => words.replace(key, "[key]"),
            None => words.to_owned(),
        }
    }
}

impl<W: Wire> Provider for Remote<W> {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async { W::names(self.json(W::MODELS).await?).ok_or_else(|| self.unexpected()) }.boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>> {
        async move {
            let model = self.pick_model(request.model.as_deref()).await?;
            let body = W::body(&model, &request, &self.base)?;
            let response = self.send(&body).await?;
            Ok(self.guarded(W::pieces(response, Arc::clone(&self.base))))
        }
        .boxed()
    }
}
