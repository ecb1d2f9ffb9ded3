//! Requests to a provider, with a limit on every wait and every size.

use std::{sync::Arc, time::Duration};

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt, stream::BoxStream};
use reqwest::Response;
use serde_json::Value;

use crate::ModelError;

/// An answer that is not a stream may be this large before it is given up.
const MAX_JSON: usize = 4 << 20;

/// A line of a stream may be this long: a tool call with a file in it fits, an endless line does not.
const MAX_LINE: usize = 4 << 20;

/// A whole answer may be this long on the wire: far more than any model writes, far less than a memory.
const MAX_ANSWER: usize = 64 << 20;

/// How long the end of a body is waited for after the end of an answer.
const END: Duration = Duration::from_secs(1);

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

/// The words of an error: `{"message": …}` or plain text.
pub(crate) fn words_in(error: &Value) -> String {
    let words = error["message"].as_str().or_else(|| error.as_str());
    words.map_or_else(|| error.to_string(), str::to_owned)
}

/// The words in the body of an error.
pub(crate) fn words_of(body: &str) -> String {
    match serde_json::from_str::<Value>(body) {
        Ok(Value::Object(fields)) if fields.contains_key("error") => words_in(&fields["error"]),
        _ => body.to_owned(),
    }
}

pub(crate) async fn read_at_most(response: Response) -> Result<Vec<u8>, ModelError> {
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

/// The bytes of a stream; an error once a line or the whole gets too long.
fn bounded(
    response: Response,
    at: Arc<str>,
) -> impl Stream<Item = Result<bytes::Bytes, ModelError>> + Send {
    let (mut line, mut whole) = (0, 0);
    response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|e| ModelError::from_transport(&at, &e))?;
        line = match chunk.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => chunk.len() - end,
            None => line + chunk.len(),
        };
        whole += chunk.len();
        if line > MAX_LINE {
            return Err(ModelError::failed(format!(
                "The model at {at} sends a line without end."
            )));
        }
        if whole > MAX_ANSWER {
            return Err(ModelError::failed(format!(
                "The model at {at} sends an answer without end."
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

/// Reads what follows the end of an answer, beside whoever got it: a connection whose last answer was not read to its end
/// cannot be used again, and the next chat would wait for a new one.
pub(crate) fn finish<T: Send + 'static>(rest: BoxStream<'static, Result<T, ModelError>>) {
    let read = rest
        .take_while(|event| std::future::ready(event.is_ok()))
        .for_each(|_| std::future::ready(()));
    tokio::spawn(tokio::time::timeout(END, read));
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
