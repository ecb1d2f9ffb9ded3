//! Requests to a provider, with a limit on every wait and every size.

use std::{sync::OnceLock, time::Duration};

use futures_util::{StreamExt, stream::BoxStream};
use reqwest::Response;
use serde_json::Value;

use crate::{Failure, ModelError};

/// An answer that is not a stream may be this large before it is given up.
const MAX_JSON: usize = 4 << 20;

/// And it may take this long to arrive, however slowly it drips.
const JSON_TIME: Duration = Duration::from_secs(10);

/// The longest silence when nobody says otherwise: a large model may think this long before its first token.
pub const SILENCE: Duration = Duration::from_secs(120);

/// How long the end of a body is waited for after the end of an answer.
const END: Duration = Duration::from_secs(1);

/// A client for outbound requests, with limits on every wait.
#[must_use]
pub fn http_client() -> reqwest::Client {
    http_client_with(SILENCE)
}

/// The same with another limit on silence.
#[must_use]
pub(crate) fn http_client_with(silence: Duration) -> reqwest::Client {
    client(silence).build().unwrap_or_default()
}

/// A client that is built when it is first used: reading the system's certificates takes milliseconds, and most providers that
/// are set up are never asked.
pub(crate) struct LazyClient {
    /// The longest silence.
    pub silence: Duration,
    /// Whether to use the system's proxies.
    pub proxy: bool,
    /// Whether to know the system's certificates, which an `http://` server on this machine does not need.
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
    // A second install fails, and means that it is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(silence)
        .redirect(reqwest::redirect::Policy::none())
}

/// Whether a URL leads to this machine.
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

/// Whether a URL leads to this machine without TLS.
pub(crate) fn is_plain_local(url: &str) -> bool {
    url.starts_with("http://") && is_this_machine(url)
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

/// The code in the body of an error: OpenAI's `code`, or the `type` that others give instead.
pub(crate) fn code_of(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = &body["error"];
    let code = error["code"].as_str().or_else(|| error["type"].as_str());
    code.map(str::to_owned)
}

pub(crate) async fn read_at_most(response: Response) -> Result<Vec<u8>, ModelError> {
    let slow = ModelError::new(Failure::Timeout, "The model's answer took too long.");
    tokio::time::timeout(JSON_TIME, read_all(response))
        .await
        .unwrap_or(Err(slow))
}

async fn read_all(response: Response) -> Result<Vec<u8>, ModelError> {
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

/// Reads what follows the end of an answer, beside whoever got it: a connection whose last answer was not read to its end
/// cannot be used again, and the next chat would wait for a new one.
pub(crate) fn finish<T: Send + 'static>(rest: BoxStream<'static, Result<T, ModelError>>) {
    let read = rest
        .take_while(|event| std::future::ready(event.is_ok()))
        .for_each(|_| std::future::ready(()));
    tokio::spawn(tokio::time::timeout(END, read));
}
