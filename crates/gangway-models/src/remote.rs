//! A provider over HTTP: URL, authentication and retries.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use jiff::Timestamp;
use parking_lot::Mutex;
use reqwest::{
    Method, RequestBuilder, Response,
    header::{HeaderMap, HeaderValue, RETRY_AFTER},
};
use serde_json::Value;

use crate::{
    ChatRequest, ChatStream, Failure, ModelError, Provider,
    guess::best_guess,
    http::{LazyClient, SILENCE, is_plain_local, read_at_most},
    incoming::Incoming,
    redact::{Redactor, shown_url},
};

/// How a provider expects its API key.
#[derive(Debug, Clone, Copy)]
pub enum KeyHeader {
    Bearer,
    Named(&'static str),
}

/// The API of one provider.
pub trait Wire: Send + Sync + 'static {
    const KEY: KeyHeader;
    /// A header of every request.
    const HEADER: Option<(&'static str, &'static str)> = None;
    /// The path of the list of models.
    const MODELS: &'static str;
    /// The path for chats.
    const CHAT: &'static str;

    fn names(list: Value) -> Option<Vec<String>>;

    /// The request body.
    fn body(model: &str, request: &ChatRequest, at: &str) -> Result<Value, ModelError>;

    /// The streamed response.
    fn chunks(incoming: Incoming) -> ChatStream<'static>;
}

/// Retries of a request that failed before any response.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    pub times: u32,
    /// The first pause, doubled for each further attempt, unless the provider says how long to wait.
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

/// If a provider asks for a longer pause, the request fails instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

pub struct Remote<W> {
    base: String,
    /// The URL without secrets.
    at: Arc<str>,
    redactor: Redactor,
    key: Option<String>,
    client: LazyClient,
    /// The default model.
    model: Option<String>,
    /// The default model that was found when none is configured, so that not every turn lists the models.
    found: Mutex<Option<String>>,
    retry: Retry,
    wire: PhantomData<W>,
}

impl<W: Wire> Remote<W> {
    /// A server at `base`, with its API key and default model.
    #[must_use]
    pub fn new(base: &str, key: Option<String>, model: Option<String>) -> Self {
        let base = base.trim_end_matches('/');
        Self {
            base: base.to_owned(),
            at: shown_url(base).into(),
            redactor: Redactor::new(key.as_deref()),
            key: key.filter(|key| !key.is_empty()),
            client: LazyClient::new(SILENCE, !is_plain_local(base)),
            model,
            found: Mutex::default(),
            retry: Retry::default(),
            wire: PhantomData,
        }
    }

    #[must_use]
    pub fn retrying(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the idle timeout.
    #[must_use]
    pub fn silent_for(mut self, silence: Duration) -> Self {
        self.client.silence = silence;
        self
    }

    /// Uses no proxy, for a server on this machine whose key must not leave it.
    #[must_use]
    pub fn direct(mut self) -> Self {
        self.client.proxy = false;
        self
    }

    /// A JSON response, or `None` on any failure.
    pub(crate) async fn peek(&self, request: RequestBuilder) -> Option<Value> {
        let response = request.send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        serde_json::from_slice(&read_at_most(response).await.ok()?).ok()
    }

    /// A request outside of the API: at the root, without the version in the base URL.
    pub(crate) fn request_at_root(&self, path: &str) -> RequestBuilder {
        let root = self.base.strip_suffix("/v1").unwrap_or(&self.base);
        self.with_key(self.client.get().get(format!("{root}{path}")))
    }

    /// The model that answers for this one.
    pub(crate) async fn model_for(&self, request: Option<&str>) -> Option<String> {
        self.pick_model(request).await.ok()
    }

    /// A JSON response.
    pub(crate) async fn json(&self, path: &str) -> Result<Value, ModelError> {
        let response = self.once(self.request(Method::GET, path)).await?;
        let body = read_at_most(response).await?;
        serde_json::from_slice(&body).map_err(|_| self.unexpected())
    }

    fn unexpected(&self) -> ModelError {
        ModelError::failed(format!(
            "The server at {} sent an unexpected response.",
            self.at
        ))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.with_key(
            self.client
                .get()
                .request(method, format!("{}{path}", self.base)),
        )
    }

    fn with_key(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some((name, value)) = W::HEADER {
            request = request.header(name, value);
        }
        match (&self.key, W::KEY) {
            (Some(key), KeyHeader::Bearer) => request.bearer_auth(key),
            (Some(key), KeyHeader::Named(name)) => match HeaderValue::from_str(key) {
                Ok(mut value) => {
                    // Keeps it out of libraries' logs.
                    value.set_sensitive(true);
                    request.header(name, value)
                }
                // Sending reports the error.
                Err(_) => request.header(name, key),
            },
            (None, _) => request,
        }
    }

    /// Sends a chat; retries while no byte of a response has arrived, so that nothing is lost or doubled.
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

    /// The response on success; otherwise an error with the provider's message, without the key.
    async fn once(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        let broke = |e: reqwest::Error| ModelError::from_transport(&self.at, &e);
        let response = request.send().await.map_err(broke)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // The default that was found may be the cause.
        *self.found.lock() = None;
        let retry_after = wait_asked_for(response.headers(), Timestamp::now());
        let body = read_at_most(response).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        let error = ModelError::from_status(&self.at, status.as_u16(), retry_after, &body);
        // Some servers repeat the key that they refuse.
        Err(self.redactor.error(error))
    }

    /// The requested model, the configured one, or the best guess among those available.
    async fn pick_model(&self, request: Option<&str>) -> Result<String, ModelError> {
        let known = request.map(str::to_owned).or_else(|| self.model.clone());
        if let Some(model) = known.or_else(|| self.found.lock().clone()) {
            return Ok(model);
        }
        let models = self.models().await?;
        let Some(model) = best_guess(&models) else {
            let message = format!("The server at {} has no models. Add one first.", self.at);
            return Err(ModelError::new(Failure::NoModel, message));
        };
        *self.found.lock() = Some(model.to_owned());
        Ok(model.to_owned())
    }
}

/// `Retry-After`: in seconds, or as a date.
fn wait_asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    // Rounded up to the named second; a time in the past means now.
    let seconds = until.as_second().saturating_sub(now.as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

impl<W: Wire> Provider for Remote<W> {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async {
            let names = W::names(self.json(W::MODELS).await?).ok_or_else(|| self.unexpected())?;
            let names = names.into_iter().map(|name| self.redactor.text(name));
            Ok(names.collect())
        }
        .boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        async move {
            let model = self.pick_model(request.model.as_deref()).await?;
            let body = W::body(&model, &request, &self.at)?;
            let response = self.send(&body).await?;
            let incoming = Incoming::new(response, Arc::clone(&self.at), self.client.silence);
            Ok(self.redactor.chunks(W::chunks(incoming)))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_understood_as_seconds_and_as_a_time() {
        let now: Timestamp = "2026-04-01T12:00:00.5Z".parse().unwrap();
        for (text, seconds) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Wed, 01 Apr 2026 12:01:30 GMT", Some(90)),
            ("Wed, 01 Apr 2026 11:00:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            let wait = wait_asked_for(&headers, now);
            assert_eq!(wait.map(|wait| wait.as_secs()), seconds, "{text:?}");
        }
        assert_eq!(wait_asked_for(&HeaderMap::new(), now), None);
    }
}
