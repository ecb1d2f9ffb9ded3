//! The server behind the bridge: its REST routes and WebSockets, with the token from server.lock.

use std::time::Duration;

use gangway_client::ServerNote;
use gangway_http::{client_header::EXTENSION, error::ApiError};
use reqwest::{Method, Response, StatusCode, header};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Error, client::IntoClientRequest, protocol::WebSocketConfig},
};
use tokio_util::sync::CancellationToken;
use ts_rs::TS;

use crate::{
    frame,
    out::{ResponseText, too_long},
    problem::Problem,
    requests::{MemoryBudget, PENDING},
};

/// Timeout of a request that needs no decision of the user.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Connect timeout; the server is on this machine.
const CONNECT: Duration = Duration::from_secs(5);

/// Effectively none: the server limits the time of a tool call.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// Retries of a rate-limited request, which had no effect.
const AGAIN: usize = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerOrigin {
    /// It was already running.
    Server,
    /// It was started by this process.
    Own,
}

pub struct Core {
    pub(crate) url: String,
    token: String,
    pub(crate) attached: ServerOrigin,
    http: reqwest::Client,
    /// Cancelled when it is gone.
    pub(crate) gone: CancellationToken,
    /// Memory for answers that the browser has not read yet.
    pub(crate) pending: MemoryBudget,
}

#[derive(Debug, Clone)]
pub(crate) struct RestCall {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Box<RawValue>>,
    /// The idempotency key.
    pub(crate) once: Option<header::HeaderValue>,
    /// Whether it has no timeout.
    pub(crate) patient: bool,
}

impl RestCall {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            body: None,
            once: None,
            patient: false,
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path)
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub(crate) fn with(mut self, body: Box<RawValue>) -> Self {
        self.body = Some(body);
        self
    }

    pub(crate) fn patiently(mut self) -> Self {
        self.patient = true;
        self
    }
}

pub(crate) type Socket = WebSocketStream<TcpStream>;

impl Core {
    pub fn new(note: &ServerNote, attached: ServerOrigin) -> reqwest::Result<Self> {
        let http = gangway_client::local_http()
            .connect_timeout(CONNECT)
            .build()?;
        Ok(Self {
            url: note.url.clone(),
            token: note.token.clone(),
            attached,
            http,
            gone: CancellationToken::new(),
            pending: MemoryBudget::of(PENDING),
        })
    }

    fn request(&self, rest: &RestCall) -> reqwest::RequestBuilder {
        let request = self
            .http
            .request(rest.method.clone(), format!("{}{}", self.url, rest.path))
            .bearer_auth(&self.token)
            .header(EXTENSION.0, EXTENSION.1)
            .timeout(if rest.patient { LONG } else { TIMEOUT });
        let request = match &rest.once {
            Some(name) => request.header("idempotency-key", name),
            None => request,
        };
        match &rest.body {
            Some(body) => request
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.get().to_owned()),
            None => request,
        }
    }

    /// The JSON response of a route, or null if it is empty.
    pub(crate) async fn ask(&self, rest: &RestCall) -> Result<ResponseText, Problem> {
        self.while_there(async {
            let response = self.send(rest, &[]).await?;
            let answer = self.text(response).await?;
            if answer.json.trim().is_empty() {
                return Ok("null".to_owned().into());
            }
            let whole: Result<&RawValue, _> = serde_json::from_str(&answer.json);
            whole.map_err(|_| Problem::internal("the server's answer is not JSON"))?;
            Ok(answer)
        })
        .await
    }

    /// The same with extra headers; the body is not read yet.
    pub(crate) async fn send(
        &self,
        rest: &RestCall,
        headers: &[(&'static str, String)],
    ) -> Result<Response, Problem> {
        for _ in 0..AGAIN {
            let mut request = self.request(rest);
            for (name, value) in headers {
                request = request.header(*name, value);
            }
            let response = request.send().await.map_err(|error| self.lost(&error))?;
            if response.status().is_success() {
                return Ok(response);
            }
            let busy = response.status() == StatusCode::TOO_MANY_REQUESTS;
            let problem = self.refusal(response).await;
            if !(busy && problem.code == "rate_limited") {
                return Err(problem);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Err(Problem::too_many(
            "the server is overloaded; send fewer requests and try again",
        ))
    }

    /// Runs work, unless the server goes away meanwhile.
    pub(crate) async fn while_there<T>(
        &self,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.gone.cancelled() => Err(Problem::server_gone(None)),
        }
    }

    /// Reads a response once there is memory to keep it until the browser reads it.
    pub(crate) async fn text(&self, mut response: Response) -> Result<ResponseText, Problem> {
        let length = response.content_length();
        let length = length.map_or(frame::MESSAGE, |n| usize::try_from(n).unwrap_or(usize::MAX));
        if length > frame::MESSAGE {
            return Err(too_long());
        }
        let mut share = self.pending.wait(length).await;
        let mut bytes = Vec::new();
        while let Some(more) = response.chunk().await.map_err(|error| self.lost(&error))? {
            if bytes.len() + more.len() > frame::MESSAGE {
                return Err(too_long());
            }
            bytes.extend_from_slice(&more);
        }
        // If the length was unknown, most of the reserved memory was not needed.
        drop(
            share
                .as_mut()
                .and_then(|share| share.split(length.saturating_sub(bytes.len()))),
        );
        String::from_utf8(bytes)
            .map(|text| ResponseText::new(text, share))
            .map_err(|_| Problem::internal("the server's answer is not UTF-8"))
    }

    async fn refusal(&self, response: Response) -> Problem {
        let status = response.status();
        match self.text(response).await {
            Ok(answer) => refused(status.as_u16(), &answer.json),
            Err(problem) => problem,
        }
    }

    fn lost(&self, error: &reqwest::Error) -> Problem {
        match error.is_timeout() && !error.is_connect() {
            true => Problem::internal("the server did not answer in time"),
            false => Problem::server_gone(Some("the connection was lost")),
        }
    }

    /// Opens a WebSocket like one of the server's own pages, with the user's token.
    pub(crate) async fn socket(&self, path: &str) -> Result<Socket, Problem> {
        let unreachable = || Problem::server_gone(Some("it does not accept connections"));
        let authority = self.url.trim_start_matches("http://");
        let wrong = || Problem::internal("the server's address is invalid");
        let request = format!("ws://{authority}{path}").into_client_request();
        let mut request = request.map_err(|_| wrong())?;
        let bearer = format!("Bearer {}", self.token);
        let shown = [
            (header::AUTHORIZATION, bearer),
            (header::ORIGIN, self.url.clone()),
        ];
        for (name, value) in shown {
            let value = value.parse().map_err(|_| wrong())?;
            request.headers_mut().insert(name, value);
        }
        let client = header::HeaderValue::from_static(EXTENSION.1);
        request.headers_mut().insert(EXTENSION.0, client);
        let config = WebSocketConfig::default()
            .read_buffer_size(4096)
            .write_buffer_size(0)
            .max_message_size(Some(frame::MESSAGE))
            .max_frame_size(Some(frame::MESSAGE));
        let open = async {
            let stream = TcpStream::connect(authority).await;
            let stream = stream.map_err(|_| unreachable())?;
            // Each message is one write, and the next one waits for its answer.
            let _ = stream.set_nodelay(true);
            match client_async_with_config(request, stream, Some(config)).await {
                Ok((socket, _)) => Ok(socket),
                Err(Error::Http(response)) => {
                    let body = response.body().as_deref().unwrap_or_default();
                    let text = String::from_utf8_lossy(body);
                    Err(refused(response.status().as_u16(), &text))
                }
                Err(_) => Err(unreachable()),
            }
        };
        let opened = tokio::time::timeout(TIMEOUT, open).await;
        opened.unwrap_or_else(|_| Err(unreachable()))
    }
}

/// An error of REST or of the OpenAI-compatible API.
pub(crate) fn refused(status: u16, text: &str) -> Problem {
    #[derive(serde::Deserialize)]
    struct OpenAiError {
        error: OpenAiErrorFields,
    }
    #[derive(serde::Deserialize)]
    struct OpenAiErrorFields {
        message: String,
        code: Option<String>,
        details: Option<String>,
    }
    if let Ok(error) = serde_json::from_str::<ApiError>(text) {
        return error.into();
    }
    let mut problem = Problem::internal(format!("the server answered {status}"));
    problem.status = Some(status);
    if let Ok(OpenAiError { error }) = serde_json::from_str(text) {
        problem.code = error.code.unwrap_or(problem.code);
        problem.message = error.message;
        problem.details = error.details;
    }
    problem
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gangway_testing::eventually;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// A server that announces the longest responses and sends nothing.
    async fn announcing() -> Core {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let note = ServerNote {
            pid: 1,
            url: format!("http://{}", listener.local_addr().unwrap()),
            token: "x".into(),
            for_browser: false,
        };
        tokio::spawn(async move {
            let mut open = Vec::new();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
                frame::MESSAGE
            );
            while let Ok((mut socket, _)) = listener.accept().await {
                let _ = socket.read(&mut [0; 4096]).await;
                let _ = socket.write_all(head.as_bytes()).await;
                open.push(socket);
            }
        });
        Core::new(&note, ServerOrigin::Server).unwrap()
    }

    #[tokio::test]
    async fn the_bridge_holds_at_most_256_mib_of_pending_answers() {
        let core = Arc::new(announcing().await);
        let ask = || {
            let core = Arc::clone(&core);
            tokio::spawn(async move { core.ask(&RestCall::get("/")).await.is_ok() })
        };
        let room_for = async |bytes: usize| {
            eventually(async || {
                let fits = core.pending.share(bytes).is_some();
                let no_more = core.pending.share(bytes + 1).is_none();
                (fits && no_more).then_some(())
            })
            .await;
        };
        room_for(256 << 20).await;
        let mut asked = Vec::new();
        for answers in 1..=8 {
            asked.push(ask());
            room_for((256 << 20) - answers * frame::MESSAGE).await;
        }
        // One more waits, and gets the room of a cancelled one.
        let last = ask();
        asked.remove(0).abort();
        room_for(0).await;
        last.abort();
        room_for(frame::MESSAGE).await;
    }
}
