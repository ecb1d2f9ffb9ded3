//! HTTP requests to a provider, with timeouts and size limits.

use std::{sync::OnceLock, time::Duration};

use futures_util::{StreamExt, stream::BoxStream};
use reqwest::Response;
use serde_json::Value;

use crate::{Failure, ModelError};

/// Bytes of a response that is not a stream, at most.
const MAX_JSON: usize = 4 << 20;

/// Its timeout.
const JSON_TIME: Duration = Duration::from_secs(10);

/// The default idle timeout: a large model may take this long before its first token.
pub const SILENCE: Duration = Duration::from_secs(120);

/// How long to wait for the end of a body after the end of a response.
const END: Duration = Duration::from_secs(1);

/// A client for outbound requests, with timeouts.
#[must_use]
pub fn http_client() -> reqwest::Client {
    http_client_with(SILENCE)
}

/// The same with another idle timeout.
#[must_use]
pub(crate) fn http_client_with(silence: Duration) -> reqwest::Client {
    client(silence).build().unwrap_or_default()
}

/// A client that is built on first use: reading the system's certificates takes milliseconds, and most configured
/// providers are never used.
pub(crate) struct LazyClient {
    /// The idle timeout.
    pub silence: Duration,
    /// Whether to use the system's proxies.
    pub proxy: bool,
    /// Whether to load the system's certificates, which an `http://` server on this machine does not need.
    pub certificates: bool,
    client: OnceLock<reqwest::Client>,
}

impl LazyClient {
    pub fn new(silence: Duration, certificates: bool) -> Self {
        Self {
            silence,
            proxy: true,
            certificates,
            client: OnceLock::new(),
        }
    }

    pub fn get(&self) -> &reqwest::Client {
        self.client.get_or_init(|| {
            let mut builder = client(self.silence);
            if !self.proxy {
                builder = builder.no_proxy();
            }
            if !self.certificates {
                builder = builder.tls_certs_only([]);
            }
            builder.build().unwrap_or_default()
        })
    }
}

fn client(silence: Duration) -> reqwest::ClientBuilder {
    // Fails when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(silence)
        .redirect(reqwest::redirect::Policy::none())
}

pub(crate) fn is_this_machine(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else {
        return false;
    };
    match url.host_str().map(|host| host.trim_matches(['[', ']'])) {
        Some("localhost") => true,
        Some(host) => host
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
        None => false,
    }
}

/// Whether a URL is on this machine and without TLS.
pub(crate) fn is_plain_local(url: &str) -> bool {
    url.starts_with("http://") && is_this_machine(url)
}

/// The message of an error: `{"message": …}` or plain text.
pub(crate) fn words_in(error: &Value) -> String {
    let message = error["message"].as_str().or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

pub(crate) fn words_of(body: &str) -> String {
    match serde_json::from_str::<Value>(body) {
        Ok(Value::Object(fields)) if fields.contains_key("error") => words_in(&fields["error"]),
        _ => body.to_owned(),
    }
}

/// The error code in a body: OpenAI's `code`, or the `type` of others.
pub(crate) fn code_of(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = &body["error"];
    let code = error["code"].as_str().or_else(|| error["type"].as_str());
    code.map(str::to_owned)
}

pub(crate) async fn read_at_most(response: Response) -> Result<Vec<u8>, ModelError> {
    let slow = ModelError::new(Failure::Timeout, "The model's answer timed out.");
    tokio::time::timeout(JSON_TIME, read_all(response))
        .await
        .unwrap_or(Err(slow))
}

async fn read_all(response: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| {
            ModelError::failed("The connection closed in the middle of the model's answer.")
        })?;
        if body.len() + chunk.len() > MAX_JSON {
            return Err(ModelError::failed("The model's answer is too long."));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads the rest of a body in the background: a connection that was not read to its end cannot be reused, and the next
/// chat would wait for a new one.
pub(crate) fn finish<T: Send + 'static>(rest: BoxStream<'static, Result<T, ModelError>>) {
    let read = rest
        .take_while(|event| std::future::ready(event.is_ok()))
        .for_each(|_| std::future::ready(()));
    tokio::spawn(tokio::time::timeout(END, read));
}
