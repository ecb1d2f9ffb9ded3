//! Streamable HTTP on our own client: with size limits, and SSRF protection.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream::BoxStream};
use http::{HeaderName, HeaderValue, StatusCode, header};
use reqwest::{RequestBuilder, Response};
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorData, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Sse, SseStream};

use crate::{journal::cut, outbound};

const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Bytes of an invalid response that are shown.
const SHOWN: usize = 200;

#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("the connection was lost: {0}")]
    Broken(String),
    #[error("its response has more than {0} bytes; request less at a time")]
    TooLarge(usize),
    #[error("the URL is not an MCP server: {0}")]
    NotMcp(String),
}

type Failed = StreamableHttpError<HttpError>;

#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    most: usize,
}

impl Client {
    pub(crate) fn new(http: reqwest::Client, most: usize) -> Self {
        Self { http, most }
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, HttpError> {
        request.send().await.map_err(|error| {
            if error.is_connect() {
                HttpError::Unreachable(outbound::describe(error))
            } else {
                HttpError::Broken(outbound::describe(error))
            }
        })
    }

    pub(crate) fn get(&self, url: &str) -> RequestBuilder {
        self.http.get(url).header(header::ACCEPT, EVENTS)
    }

    pub(crate) fn post(&self, url: &str) -> RequestBuilder {
        let both = format!("{JSON}, {EVENTS}");
        self.http.post(url).header(header::ACCEPT, both)
    }

    /// Reads a response up to a limit.
    async fn body(&self, response: Response, most: usize) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        let mut parts = response.bytes_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|error| HttpError::Broken(outbound::describe(error)))?;
            if body.len() + part.len() > most {
                return Err(HttpError::TooLarge(most));
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    /// The SSE events of a response, each within the limit.
    pub(crate) fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        SseStream::from_bytes_stream(bounded(response.bytes_stream(), self.most)).boxed()
    }

    async fn post_it(
        &self,
        request: RequestBuilder,
        message: &ClientJsonRpcMessage,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let response = self.send(request.json(message)).await.map_err(client)?;
        let status = response.status();
        wants_authorization(&response)?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = response
            .headers()
            .get(SESSION)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let kind = content_type(&response);
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if status.is_success() && kind.starts_with(EVENTS) {
            let events = answered(self.events(response), message, self.most);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let body = self.body(response, self.most).await.map_err(client)?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            // Many servers respond so to an unknown session, without a request id.
            Ok(ServerJsonRpcMessage::Error(error))
                if in_session && status.is_client_error() && error.id.is_none() =>
            {
                Err(StreamableHttpError::SessionExpired)
            }
            // A JSON-RPC error in an HTTP error response.
            Ok(message)
                if status.is_success() || matches!(message, ServerJsonRpcMessage::Error(_)) =>
            {
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            _ if status.is_success() && !is_request => Ok(StreamableHttpPostResponse::Accepted),
            _ => Err(client(HttpError::NotMcp(shown(status, &kind, &body)))),
        }
    }
}

fn client(error: HttpError) -> Failed {
    StreamableHttpError::Client(error)
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(header::CONTENT_TYPE);
    String::from_utf8_lossy(value.map_or(b"", |value| value.as_bytes())).to_ascii_lowercase()
}

/// What helps a person who typed a wrong URL.
fn shown(status: StatusCode, kind: &str, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2 * SHOWN)]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = if kind.is_empty() {
        "no content type"
    } else {
        kind
    };
    format!("HTTP {status}, {}, {}", cut(kind, 100), cut(&text, SHOWN))
}

fn wants_authorization(response: &Response) -> Result<(), Failed> {
    let challenge = response.headers().get(header::WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok());
    let challenge = challenge.unwrap_or_default().to_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(
            challenge,
        ))),
        // Other refusals are not about the login.
        StatusCode::FORBIDDEN if challenge.contains("insufficient_scope") => Err(
            StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)),
        ),
        _ => Ok(()),
    }
}

fn with_headers(
    mut request: RequestBuilder,
    session: Option<&str>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    if let Some(session) = session {
        request = request.header(SESSION, session);
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request
}

/// Replaces a response that is too large by an error, so that its caller does not wait forever.
fn answered(
    events: BoxStream<'static, Result<Sse, SseError>>,
    message: &ClientJsonRpcMessage,
    most: usize,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return events;
    };
    let text = HttpError::TooLarge(most).to_string();
    let error = ErrorData::internal_error(text, None);
    let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
    let data = serde_json::to_string(&answer).ok();
    let too_large = |error: &SseError| match error {
        SseError::Body(inner) => matches!(inner.downcast_ref(), Some(HttpError::TooLarge(_))),
        _ => false,
    };
    events
        .map(move |event| match event {
            Err(error) if too_large(&error) => Ok(Sse {
                data: data.clone(),
                ..Sse::default()
            }),
            event => event,
        })
        .boxed()
}

/// Ends with an error when an event is larger than this.
fn bounded(
    parts: impl Stream<Item = reqwest::Result<Bytes>>,
    most: usize,
) -> impl Stream<Item = Result<Bytes, HttpError>> {
    let (mut event, mut last) = (0, b'\n');
    parts.map(move |part| {
        let part = part.map_err(|error| HttpError::Broken(outbound::describe(error)))?;
        for &byte in &part {
            event += 1;
            // An empty line ends an event, with any line ending.
            match (last, byte) {
                (b'\n', b'\r') => continue,
                (b'\n' | b'\r', b'\n') | (b'\r', b'\r') => event = 0,
                _ => {}
            }
            last = byte;
            if event > most {
                return Err(HttpError::TooLarge(most));
            }
        }
        Ok(part)
    })
}

impl StreamableHttpClient for Client {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let request = with_headers(self.post(&uri), session.as_deref(), token, headers);
        self.post_it(request, &message, session.is_some()).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let request = with_headers(self.http.delete(&*uri), Some(&session), token, headers);
        // The session is over, whatever the response.
        self.send(request).await.map(|_| ()).map_err(client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let mut request = with_headers(self.get(&uri), session.as_deref(), token, headers);
        if let Some(last) = last_event {
            request = request.header("last-event-id", last);
        }
        let response = self.send(request).await.map_err(client)?;
        wants_authorization(&response)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            status if !status.is_success() => Err(StreamableHttpError::UnexpectedServerResponse(
                Cow::Owned(format!("HTTP {status}")),
            )),
            _ if !content_type(&response).starts_with(EVENTS) => {
                Err(StreamableHttpError::UnexpectedContentType(None))
            }
            _ => Ok(self.events(response)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &'static str, size: usize, most: usize) -> bool {
        let parts = text.as_bytes().chunks(size).map(Bytes::from_static);
        let stream = bounded(futures_util::stream::iter(parts.map(Ok)), most);
        let all = futures_util::FutureExt::now_or_never(stream.collect::<Vec<_>>());
        all.unwrap().iter().all(Result::is_ok)
    }

    #[test]
    fn the_bound_holds_for_each_event_and_not_for_all_of_them() {
        for size in [1, 2, 5, 100] {
            for text in [
                "data: 1\n\ndata: 2\n\ndata: 3\n\n",
                "data: 1\r\n\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n",
            ] {
                assert!(fits(text, size, 12), "{text:?}");
            }
            assert!(!fits("data: 1\n\ndata: 0123456789\n\n", size, 12));
            assert!(!fits("data: 0123456789", size, 12));
        }
    }
}
