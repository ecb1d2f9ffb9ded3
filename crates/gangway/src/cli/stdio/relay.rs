//! Forwards messages from the client to `/mcp` and the responses back.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::StreamExt;
use gangway_client::encode::in_header;
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::{sync::mpsc, task::JoinHandle};

use super::{CommandServer, Common, GOODBYE, Kind, failure};

/// Pause before a broken notification stream is reopened.
const AGAIN: Duration = Duration::from_secs(2);

pub(super) struct Relay {
    path: String,
    answers: mpsc::Sender<Value>,
    common: Common,
    home: tokio::sync::Mutex<Option<Arc<CommandServer>>>,
    session: Mutex<Session>,
}

/// The session of a client of an older protocol revision.
#[derive(Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
    /// Its `initialize` request, repeated after a reconnect.
    hello: Option<Value>,
    listening: Option<JoinHandle<()>>,
}

impl Relay {
    /// Connects to this path of the Gangway that owns the data folder.
    pub(super) fn new(path: String, answers: mpsc::Sender<Value>, common: Common) -> Arc<Self> {
        Arc::new(Self {
            path,
            answers,
            common,
            home: tokio::sync::Mutex::new(None),
            session: Mutex::default(),
        })
    }

    fn session<T>(&self, act: impl FnOnce(&mut Session) -> T) -> T {
        act(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) async fn send_message(&self, message: Value) {
        // Fails only if the client has disconnected.
        let _ = self.answers.send(message).await;
    }

    /// The running server, or our own.
    pub(super) async fn home(&self) -> anyhow::Result<Arc<CommandServer>> {
        let mut home = self.home.lock().await;
        if let Some(home) = &*home {
            return Ok(Arc::clone(home));
        }
        let found = Arc::new(CommandServer::find(&self.common, Kind::Whole).await?);
        *home = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Forwards a message; errors are returned to the client.
    pub(super) async fn pass(self: &Arc<Self>, message: Value) {
        let id = message.get("id").cloned().unwrap_or_default();
        let asks = message.get("method").is_some() && !id.is_null();
        let passed = match self.send(&message).await {
            Err(ForwardError::Gone) => match self.come_back().await {
                Ok(()) => self.send(&message).await,
                Err(error) => Err(ForwardError::Because(format!("{error:#}"))),
            },
            other => other,
        };
        let reason = match passed {
            Ok(()) => return,
            Err(ForwardError::Gone) => "the connection to Gangway was lost; try again".to_owned(),
            Err(ForwardError::Because(reason)) => reason,
        };
        if asks {
            self.send_message(failure(&id, -32000, &reason)).await;
        }
    }

    /// Finds the server again and re-establishes the session.
    async fn come_back(self: &Arc<Self>) -> anyhow::Result<()> {
        self.home.lock().await.take();
        let hello = self.session(|session| {
            session.id = None;
            session.hello.clone()
        });
        self.home().await?;
        let Some(hello) = hello else { return Ok(()) };
        let response = self.post(&hello).await.map_err(ForwardError::into_error)?;
        self.remember(&hello, &response);
        // The client already has this response.
        response.bytes().await?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post(&ready).await.map_err(ForwardError::into_error)?;
        self.listen();
        Ok(())
    }

    async fn post(&self, message: &Value) -> Result<reqwest::Response, ForwardError> {
        let home = self.home().await;
        let home = home.map_err(|error| ForwardError::Because(format!("{error:#}")))?;
        let mut request = home.mcp(Method::POST, &self.path);
        request = request.header(header::ACCEPT, "application/json, text/event-stream");
        for (name, value) in self.headers(message) {
            request = request.header(name, value);
        }
        let response = request.json(message).send().await.map_err(gone)?;
        if response.status() == StatusCode::NOT_FOUND && self.session(|s| s.id.is_some()) {
            return Err(ForwardError::Gone);
        }
        Ok(response)
    }

    async fn send(self: &Arc<Self>, message: &Value) -> Result<(), ForwardError> {
        let response = self.post(message).await?;
        let first = message["method"] == "initialize";
        if first {
            self.remember(message, &response);
        }
        let (status, streams) = (response.status(), is_stream(&response));
        if !status.is_success() {
            return Err(ForwardError::Because(refusal(response).await));
        }
        if streams {
            self.pass_stream(response, message.get("id")).await?;
        } else {
            let body = response.bytes().await.map_err(gone)?;
            if let Ok(answer) = serde_json::from_slice(&body) {
                self.send_message(answer).await;
            }
        }
        if message["method"] == "notifications/initialized" {
            self.listen();
        }
        Ok(())
    }

    /// Forwards a stream up to the response of its request.
    async fn pass_stream(
        &self,
        response: reqwest::Response,
        asked: Option<&Value>,
    ) -> Result<(), ForwardError> {
        let mut events = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(event) = events.next().await {
            let event = event.map_err(|_| broke_off())?;
            let message = event.data.and_then(|data| serde_json::from_str(&data).ok());
            let Some(message): Option<Value> = message else {
                continue;
            };
            let answers = message.get("method").is_none() && message.get("id") == asked;
            self.send_message(message).await;
            if answers && asked.is_some() {
                return Ok(());
            }
        }
        match asked {
            Some(_) => Err(broke_off()),
            None => Ok(()),
        }
    }

    /// HTTP headers that repeat parts of the message for routing.
    fn headers(&self, message: &Value) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        let params = &message["params"];
        let own = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        if let Some(version) = own {
            headers.push(("mcp-protocol-version", version.to_owned()));
            headers.extend(
                message["method"]
                    .as_str()
                    .map(|m| ("mcp-method", m.to_owned())),
            );
            let name = params["name"].as_str().or(params["uri"].as_str());
            headers.extend(name.map(|name| ("mcp-name", in_header(name))));
            return headers;
        }
        self.session(|session| {
            headers.extend(session.id.clone().map(|id| ("mcp-session-id", id)));
            let version = session.version.clone();
            headers.extend(version.map(|version| ("mcp-protocol-version", version)));
        });
        headers
    }

    fn remember(&self, hello: &Value, response: &reqwest::Response) {
        let id = response.headers().get("mcp-session-id");
        let id = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        let version = hello["params"]["protocolVersion"].as_str();
        self.session(|session| {
            session.id = id;
            session.version = version.map(str::to_owned);
            session.hello = Some(hello.clone());
        });
    }

    /// Receives notifications of the server.
    fn listen(self: &Arc<Self>) {
        let relay = Arc::downgrade(self);
        let listening = tokio::spawn(async move {
            while let Some(relay) = relay.upgrade() {
                relay.receive().await;
                drop(relay);
                tokio::time::sleep(AGAIN).await;
            }
        });
        let before = self.session(|session| session.listening.replace(listening));
        if let Some(before) = before {
            before.abort();
        }
    }

    async fn receive(&self) {
        let Ok(home) = self.home().await else { return };
        let mut request = home.mcp(Method::GET, &self.path);
        request = request.header(header::ACCEPT, "text/event-stream");
        for (name, value) in self.headers(&Value::Null) {
            request = request.header(name, value);
        }
        if let Ok(response) = request.send().await
            && response.status().is_success()
        {
            let _ = self.pass_stream(response, None).await;
        }
    }

    /// Ends the session, and the server if it is our own.
    pub(super) async fn leave(&self) {
        let (id, listening) = self.session(|session| (session.id.take(), session.listening.take()));
        if let Some(listening) = listening {
            listening.abort();
            listening.await.ok();
        }
        let Some(home) = self.home.lock().await.take() else {
            return;
        };
        if let Some(id) = id {
            let request = home.mcp(Method::DELETE, &self.path);
            let goodbye = request.header("mcp-session-id", id).send();
            tokio::time::timeout(GOODBYE, goodbye).await.ok();
        }
        home.end().await;
    }
}

/// Why a message was not forwarded.
enum ForwardError {
    /// The server or its session no longer exists: the message was not delivered.
    Gone,
    /// The error for the client.
    Because(String),
}

impl ForwardError {
    fn into_error(self) -> anyhow::Error {
        match self {
            Self::Gone => anyhow::anyhow!("the connection to Gangway was lost"),
            Self::Because(reason) => anyhow::anyhow!(reason),
        }
    }
}

fn gone(error: reqwest::Error) -> ForwardError {
    match error.is_connect() {
        true => ForwardError::Gone,
        false => broke_off(),
    }
}

/// The effects of an interrupted call are unknown, so it is not repeated.
fn broke_off() -> ForwardError {
    ForwardError::Because(
        "the connection to Gangway was lost before the answer was complete".to_owned(),
    )
}

fn is_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The reason of an error response: of the protocol, of Gangway, or the status.
async fn refusal(response: reqwest::Response) -> String {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    let message = body["error"]["message"]
        .as_str()
        .or(body["message"].as_str());
    message.map_or_else(|| format!("Gangway answered {status}"), str::to_owned)
}
