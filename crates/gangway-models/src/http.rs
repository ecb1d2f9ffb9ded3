//! Requests to a provider, with a limit on every wait and every size.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt, stream::BoxStream};
use reqwest::{Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ModelError, Pieces, Provider};

/// An answer that is not a stream may be this large before it is given up.
const MAX_JSON: usize = 4 << 20;

/// A line of a stream may be this long: a tool call with a file in it fits, an endless line does not.
const MAX_LINE: usize = 4 << 20;

/// A client for outbound requests, with limits on every wait.
#[must_use]
pub fn http_client() -> reqwest::Client {
    // A second install fails, and means that it is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        // The longest silence: a large model may think this long before its first token.
        .read_timeout(Duration::from_secs(120))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap_or_default()
}

/// How a provider wants its key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyHeader {
    Bearer,
    Named(&'static str),
}

/// Where a provider is and how it is asked.
pub(crate) struct Endpoint {
    base: Arc<str>,
    key: Option<String>,
    key_header: KeyHeader,
    client: reqwest::Client,
    /// The model to use when nobody names one.
    model: Option<String>,
    /// The model that was found when none was configured, so that not every turn asks for the list.
    found: Mutex<Option<String>>,
}

impl Endpoint {
    pub(crate) fn new(
        base: &str,
        key: Option<String>,
        key_header: KeyHeader,
        model: Option<String>,
    ) -> Self {
        Self {
            base: base.trim_end_matches('/').into(),
            key: key.filter(|key| !key.is_empty()),
            key_header,
            client: http_client(),
            model,
            found: Mutex::default(),
        }
    }

    /// Its address, for messages.
    pub(crate) fn base(&self) -> &Arc<str> {
        &self.base
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        match (&self.key, self.key_header) {
            (Some(key), KeyHeader::Bearer) => request.bearer_auth(key),
            (Some(key), KeyHeader::Named(name)) => request.header(name, key),
            (None, _) => request,
        }
    }

    /// The answer, if it is a success; otherwise an error with the provider's own words, never with the key.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, ModelError> {
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
            .and_then(|v| v.to_str().ok()?.parse().ok())
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

    /// A whole JSON answer.
    pub(crate) async fn json<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, ModelError> {
        let body = read_at_most(self.send(request).await?).await?;
        serde_json::from_slice(&body).map_err(|_| {
            ModelError::failed(format!(
                "The server at {} answered something unexpected.",
                self.base
            ))
        })
    }

    /// The model to use: the one that was asked for, the usual one, or the best guess among those there are.
    pub(crate) async fn pick_model(
        &self,
        provider: &dyn Provider,
        wish: Option<String>,
    ) -> Result<String, ModelError> {
        if let Some(model) = wish
            .or_else(|| self.model.clone())
            .or_else(|| self.found().clone())
        {
            return Ok(model);
        }
        let models = provider.models().await?;
        let Some(model) = best_guess(&models) else {
            let message = format!(
                "The server at {} has no model. Add one to it first.",
                self.base
            );
            return Err(ModelError::failed(message));
        };
        *self.found() = Some(model.to_owned());
        Ok(model.to_owned())
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same pieces, with the key taken out of what the provider says when it fails.
    pub(crate) fn guarded(&self, pieces: Pieces<'static>) -> Pieces<'static> {
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

/// The words of an error: `{"message": …}` or plain text.
pub(crate) fn words_in(error: &Value) -> String {
    let words = error["message"].as_str().or_else(|| error.as_str());
    words.map_or_else(|| error.to_string(), str::to_owned)
}

/// The words in the body of an error.
fn words_of(body: &str) -> String {
    match serde_json::from_str::<Value>(body) {
        Ok(Value::Object(fields)) if fields.contains_key("error") => words_in(&fields["error"]),
        _ => body.to_owned(),
    }
}

async fn read_at_most(response: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ModelError::failed("The model's answer broke off."))?;
        if body.len() + chunk.len() > MAX_JSON {
            return Err(ModelError::failed("The model's answer is far too long."));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The bytes of a stream; an error once a line gets too long.
fn bounded(
    response: Response,
    at: Arc<str>,
) -> impl Stream<Item = Result<bytes::Bytes, ModelError>> + Send {
    let mut line = 0;
    response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|e| ModelError::from_transport(&at, &e))?;
        line = match chunk.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => chunk.len() - end,
            None => line + chunk.len(),
        };
        if line > MAX_LINE {
            return Err(ModelError::failed(format!(
                "The model at {at} sends a line without end."
            )));
        }
        Ok(chunk)
    })
}

/// The `data` of each server-sent event.
pub(crate) fn events(
    response: Response,
    at: Arc<str>,
) -> BoxStream<'static, Result<String, ModelError>> {
    let garbled = ModelError::garbled(&at);
    bounded(response, at)
        .eventsource()
        .map(move |event| match event {
            Ok(event) => Ok(event.data),
            Err(EventStreamError::Transport(error)) => Err(error),
            Err(_) => Err(garbled.clone()),
        })
        .boxed()
}

/// Each line of a stream of JSON lines.
pub(crate) fn lines(
    response: Response,
    at: Arc<str>,
) -> BoxStream<'static, Result<Vec<u8>, ModelError>> {
    let chunks = bounded(response, at).boxed();
    let state = (chunks, Vec::new(), false);
    futures_util::stream::unfold(state, |(mut chunks, mut rest, over)| async move {
        loop {
            if let Some(end) = rest.iter().position(|byte: &u8| *byte == b'\n') {
                let mut line: Vec<u8> = rest.drain(..=end).collect();
                line.pop();
                return Some((Ok(line), (chunks, rest, over)));
            }
            if over {
                return None;
            }
            match chunks.next().await {
                Some(Ok(chunk)) => rest.extend_from_slice(&chunk),
                Some(Err(error)) => return Some((Err(error), (chunks, Vec::new(), true))),
                // A last line without its end is only there when the stream was whole.
                None if rest.is_empty() => return None,
                None => return Some((Ok(std::mem::take(&mut rest)), (chunks, rest, true))),
            }
        }
    })
    .boxed()
}

/// Words in the names of models that do not chat.
const NOT_FOR_CHAT: [&str; 12] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "image",
    "audio",
    "realtime",
    "moderation",
    "transcribe",
    "rerank",
    "clip",
    "sora",
];

/// What to use when nobody chose: the newest of OpenAI's small all-round models, or the first that chats.
fn best_guess(models: &[String]) -> Option<&str> {
    let small = |name: &&String| name.starts_with("gpt-") && name.ends_with("-mini");
    let chats = |name: &&String| !NOT_FOR_CHAT.iter().any(|word| name.contains(word));
    let newest = models.iter().filter(small).filter(chats).max();
    newest
        .or_else(|| models.iter().find(chats))
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_chats_is_guessed_from_whatever_the_server_lists() {
        let guess = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            best_guess(&names).map(str::to_owned)
        };
        assert_eq!(
            guess(&["whisper-1", "gpt-4o-mini", "gpt-5-mini", "gpt-5"]).as_deref(),
            Some("gpt-5-mini")
        );
        assert_eq!(
            guess(&["nomic-embed-text", "llama3.2:1b"]).as_deref(),
            Some("llama3.2:1b")
        );
        assert_eq!(guess(&["text-embedding-3-small"]), None);
    }
}
