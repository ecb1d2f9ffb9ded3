//! Any server that speaks OpenAI's chat completions.

use std::{sync::Arc, time::Duration};

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use serde::{Deserialize, Serialize};

use crate::{ChatRequest, ModelError, Piece, Pieces, Provider, Role};

/// An answer that is not a stream may be this large before it is given up.
const MAX_JSON: usize = 1 << 20;

/// A server with a base URL such as `https://api.openai.com/v1`.
pub struct OpenAi {
    base: String,
    key: Option<String>,
    model: Option<String>,
    client: reqwest::Client,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<WireUsage>,
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

#[derive(Deserialize)]
struct WireError {
    message: Option<String>,
}

#[derive(Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

impl OpenAi {
    /// A server at `base`, with a key if it wants one and a model to use when nobody names one.
    #[must_use]
    pub fn new(base: &str, key: Option<String>, model: Option<String>) -> Self {
        Self {
            base: base.trim_end_matches('/').to_owned(),
            key,
            model,
            client: crate::http_client(),
        }
    }

    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}/{path}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<reqwest::Response, ModelError> {
        let response = request
            .send()
            .await
            .map_err(|e| ModelError::from_transport(&self.base, &e))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|v| v.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let mut words =
            String::from_utf8_lossy(&read_at_most(response, MAX_JSON).await.unwrap_or_default())
                .into_owned();
        if let Ok(Chunk {
            error: Some(WireError {
                message: Some(message),
            }),
            ..
        }) = serde_json::from_str(&words)
        {
            words = message;
        }
        if let Some(key) = self.key.as_deref().filter(|key| !key.is_empty()) {
            // Some servers repeat the key they refuse.
            words = words.replace(key, "[key]");
        }
        Err(ModelError::from_status(
            &self.base,
            status.as_u16(),
            retry_after,
            &words,
        ))
    }
}

impl Provider for OpenAi {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async {
            let response = self
                .send(self.request(reqwest::Method::GET, "models"))
                .await?;
            let body = read_at_most(response, MAX_JSON).await?;
            let models: Models = serde_json::from_slice(&body).map_err(|_| {
                ModelError::failed(format!(
                    "{} answered something that is not a list of models.",
                    self.base
                ))
            })?;
            Ok(models.data.into_iter().map(|model| model.id).collect())
        }
        .boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>> {
        async move {
            let model = match request.model.or_else(|| self.model.clone()) {
                Some(model) => model,
                None => self.models().await?.into_iter().next().ok_or_else(|| {
                    ModelError::failed(format!(
                        "The server at {} has no model. Add one to it first.",
                        self.base
                    ))
                })?,
            };
            let messages = request
                .messages
                .iter()
                .map(|m| WireMessage {
                    role: role(m.role),
                    content: &m.content,
                })
                .collect();
            let body = Body {
                model: &model,
                messages,
                stream: true,
                stream_options: StreamOptions {
                    include_usage: true,
                },
            };
            let response = self
                .send(
                    self.request(reqwest::Method::POST, "chat/completions")
                        .json(&body),
                )
                .await?;
            Ok(pieces(response, self.base.as_str().into()).boxed())
        }
        .boxed()
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

async fn read_at_most(response: reqwest::Response, most: usize) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ModelError::failed("The model's answer broke off."))?;
        if body.len() + chunk.len() > most {
            return Err(ModelError::failed("The model's answer is far too long."));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn pieces(
    response: reqwest::Response,
    at: Arc<str>,
) -> impl stream::Stream<Item = Result<Piece, ModelError>> + Send + 'static {
    let events = response.bytes_stream().eventsource();
    let state = Reading {
        events: Box::pin(events),
        at,
        finished: false,
        over: false,
    };
    stream::unfold(state, |mut reading| async move {
        if reading.over {
            return None;
        }
        let next = reading.next().await?;
        reading.over = next.is_err();
        Some((next, reading))
    })
}

struct Reading<S> {
    events: S,
    at: Arc<str>,
    /// Whether the model said that it is done.
    finished: bool,
    over: bool,
}

impl<S> Reading<S>
where
    S: stream::Stream<Item = Result<Event, EventStreamError<reqwest::Error>>> + Unpin,
{
    async fn next(&mut self) -> Option<Result<Piece, ModelError>> {
        loop {
            let event = match self.events.next().await {
                Some(Ok(event)) => event,
                Some(Err(EventStreamError::Transport(error))) => {
                    return Some(Err(ModelError::from_transport(&self.at, &error)));
                }
                Some(Err(_)) => return Some(Err(self.garbled())),
                None if self.finished => return None,
                None => {
                    return Some(Err(ModelError::failed(format!(
                        "The model at {} stopped in the middle of its answer.",
                        self.at
                    ))));
                }
            };
            if event.data == "[DONE]" {
                return None;
            }
            let Ok(chunk) = serde_json::from_str::<Chunk>(&event.data) else {
                return Some(Err(self.garbled()));
            };
            if let Some(error) = chunk.error {
                let words = error.message.unwrap_or_default();
                return Some(Err(ModelError::failed(format!(
                    "The model at {} failed, saying: {words}",
                    self.at
                ))));
            }
            let choice = chunk.choices.into_iter().next();
            self.finished |= choice
                .as_ref()
                .is_some_and(|choice| choice.finish_reason.is_some());
            if let Some(text) = choice
                .and_then(|choice| choice.delta?.content)
                .filter(|text| !text.is_empty())
            {
                return Some(Ok(Piece::Text(text)));
            }
            if let Some(usage) = chunk.usage {
                return Some(Ok(Piece::Usage {
                    input: usage.prompt_tokens,
                    output: usage.completion_tokens,
                }));
            }
        }
    }

    fn garbled(&self) -> ModelError {
        ModelError::failed(format!(
            "The model at {} sent something that is not a chat stream.",
            self.at
        ))
    }
}
