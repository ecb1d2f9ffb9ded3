//! A provider on the other side of HTTP: where it is, how it is asked, and when it is asked again.

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
    ChatRequest, Failure, ModelError, Pieces, Provider,
    guess::best_guess,
    http::{LazyClient, SILENCE, is_plain_local, read_at_most},
    incoming::Incoming,
    redact::{Redactor, shown_url},
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
    fn pieces(incoming: Incoming) -> Pieces<'static>;
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
    base: String,
    /// The same as it may be shown.
    at: Arc<str>,
    redactor: Redactor,
    key: Option<String>,
    client: LazyClient,
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

    /// The same, asking again in another rhythm.
    #[must_use]
    pub fn retrying(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same, with another limit on how long it may say nothing.
    #[must_use]
    pub fn silent_for(mut self, silence: Duration) -> Self {
        self.client.silence = silence;
        self
    }

    /// The same without any proxy, for a server on this machine whose key nobody else may see.
    #[must_use]
    pub fn direct(mut self) -> Self {
        self.client.proxy = false;
        self
    }

    /// A whole JSON answer to what need not be known; nothing when there is none.
    pub(crate) async fn peek(&self, request: RequestBuilder) -> Option<Value> {
        let response = request.send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        serde_json::from_slice(&read_at_most(response).await.ok()?).ok()
    }

    /// A request beside the API: at the place where the base URL's version begins.
    pub(crate) fn request_at_root(&self, path: &str) -> RequestBuilder {
        let root = self.base.strip_suffix("/v1").unwrap_or(&self.base);
        self.with_key(self.client.get().get(format!("{root}{path}")))
    }

    /// The model that answers when this one is wished for.
    pub(crate) async fn model_for(&self, wish: Option<&str>) -> Option<String> {
        self.pick_model(wish).await.ok()
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
                    // So that no library writes it down.
                    value.set_sensitive(true);
                    request.header(name, value)
                }
                // The client says that it cannot be sent.
                Err(_) => request.header(name, key),
            },
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
        let broke = |e: reqwest::Error| ModelError::from_transport(&self.at, &e);
        let response = request.send().await.map_err(broke)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // The model that was found may be what it objects to.
        *self.found.lock() = None;
        let retry_after = wait_asked_for(response.headers(), Timestamp::now());
        let body = read_at_most(response).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        let error = ModelError::from_status(&self.at, status.as_u16(), retry_after, &body);
        // Some servers repeat the key they refuse.
        Err(self.redactor.error(error))
    }

    /// The model to use: the one that was asked for, the usual one, or the best guess among those there are.
    async fn pick_model(&self, wish: Option<&str>) -> Result<String, ModelError> {
        let known = wish.map(str::to_owned).or_else(|| self.model.clone());
        if let Some(model) = known.or_else(|| self.found.lock().clone()) {
            return Ok(model);
        }
        let models = self.models().await?;
        let Some(model) = best_guess(&models) else {
            let message = format!(
                "The server at {} has no model. Add one to it first.",
                self.at
            );
            return Err(ModelError::new(Failure::NoModel, message));
        };
        *self.found.lock() = Some(model.to_owned());
        Ok(model.to_owned())
    }
}

/// How long a provider asks to wait: in seconds, or until a time.
fn wait_asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    // Up to the second that was named, not the one before; a time that has passed is now.
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

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>> {
        async move {
            let model = self.pick_model(request.model.as_deref()).await?;
            let body = W::body(&model, &request, &self.at)?;
            let response = self.send(&body).await?;
            let incoming = Incoming::new(response, Arc::clone(&self.at), self.client.silence);
            Ok(self.redactor.pieces(W::pieces(incoming)))
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
