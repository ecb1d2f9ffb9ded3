//! A WebSocket connection of an agent to a relay on this machine.

use std::{collections::VecDeque, net::SocketAddr, str::FromStr, time::Duration};

use anyhow::{Context, anyhow, bail};
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Uri, header};
use serde_json::{Value, json};
use tokio::{
    net::{TcpStream, lookup_host},
    time::{Instant, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use gangway_relay::{SOCKET, VERSION};

/// Buffer of received messages.
const KEPT: usize = 4096;

#[derive(Debug, Clone)]
pub struct RelayUrl {
    /// `ws://host:port/path`.
    text: String,
    host: String,
    port: u16,
    pub(crate) path: String,
}

impl FromStr for RelayUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is not a relay URL; use one like ws://127.0.0.1:3000{SOCKET}");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        if !matches!(uri.scheme_str(), Some("ws" | "http")) {
            return Err(wrong());
        }
        let host = uri.host().ok_or_else(wrong)?.to_owned();
        let port = uri.port_u16().unwrap_or(80);
        let path = match uri.path() {
            "" | "/" => SOCKET.to_owned(),
            path => path.to_owned(),
        };
        Ok(Self {
            text: format!("ws://{host}:{port}{path}"),
            host,
            port,
            path,
        })
    }
}

impl std::fmt::Display for RelayUrl {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

impl RelayUrl {
    /// Resolves the host, which must be this machine.
    pub(crate) async fn address(&self) -> anyhow::Result<SocketAddr> {
        let host = self.host.trim_matches(['[', ']']);
        // Browsers resolve all subdomains of localhost to this machine; not every system does.
        let host = if host.ends_with(".localhost") {
            "localhost"
        } else {
            host
        };
        let found = lookup_host((host, self.port)).await;
        let mut found = found.with_context(|| format!("resolving {}", self.host))?;
        found.find(|at| at.ip().is_loopback()).ok_or_else(|| {
            anyhow!(
                "{} is not on this machine; forward its port and use the forwarded address",
                self.host
            )
        })
    }

    /// Whether it is the address of a server on this machine.
    pub fn is_at(&self, server: &str) -> bool {
        let near = self.host == "localhost" || server.contains(&format!("//{}:", self.host));
        near && server.ends_with(&format!(":{}", self.port))
    }

    pub(crate) fn at_port(&self, port: u16) -> String {
        format!("ws://{}:{port}{}", self.host, self.path)
    }
}

pub struct Wire {
    socket: WebSocketStream<TcpStream>,
    last: u64,
    /// Unread messages with their sizes.
    buffered: VecDeque<(Value, usize)>,
}

impl Wire {
    pub async fn open(url: &RelayUrl, key: Option<&str>) -> anyhow::Result<Self> {
        let message = || format!("connecting to {url}");
        let address = url.address().await.with_context(message)?;
        let mut request = url.text.as_str().into_client_request()?;
        if let Some(key) = key {
            let value = HeaderValue::from_str(&format!("Bearer {key}"))?;
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let stream = TcpStream::connect(address).await.with_context(message)?;
        let (socket, _) = client_async(request, stream).await.with_context(message)?;
        Ok(Self {
            socket,
            last: 0,
            buffered: VecDeque::new(),
        })
    }

    /// Joins a relay session as an agent; returns the answer.
    pub async fn join(
        &mut self,
        session: &str,
        token: Option<&str>,
        timeout: Duration,
    ) -> anyhow::Result<Value> {
        let mut request = json!({ "role": "agent", "sessionId": session });
        if let Some(token) = token {
            request["token"] = json!(token);
        }
        let answer = self.ask("relay.join", request, timeout).await?;
        match answer["type"].as_str() {
            Some("relay.joined") => Ok(answer["payload"].clone()),
            Some("error") => bail!(
                "the relay refused to join {session}: {}",
                error_text(&answer["payload"])
            ),
            other => bail!("the relay answered relay.join with {other:?}"),
        }
    }

    /// Sends a request; returns its id.
    pub async fn send(&mut self, kind: &str, payload: Value) -> anyhow::Result<String> {
        self.last += 1;
        let id = format!("q{}", self.last);
        let message = json!({ "v": VERSION, "type": kind, "id": id, "payload": payload });
        let text = Message::text(message.to_string());
        self.socket
            .send(text)
            .await
            .context("the relay has closed the connection")?;
        Ok(id)
    }

    pub async fn ask(
        &mut self,
        kind: &str,
        payload: Value,
        timeout: Duration,
    ) -> anyhow::Result<Value> {
        let id = self.send(kind, payload).await?;
        let answer = self
            .wait(timeout, |message| message["replyTo"] == id.as_str())
            .await?;
        answer.map(|(message, _)| message).ok_or_else(|| {
            let seconds = timeout.as_secs();
            anyhow!("{kind} was not answered within {seconds} seconds; an answer must have the request's id as replyTo")
        })
    }

    /// The first matching message and its size, already received or within the timeout.
    pub async fn wait(
        &mut self,
        timeout: Duration,
        fits: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<Option<(Value, usize)>> {
        if let Some(place) = self.buffered.iter().position(|(message, _)| fits(message)) {
            return Ok(self.buffered.remove(place));
        }
        let until = Instant::now() + timeout;
        loop {
            let Ok(received) = timeout_at(until, self.receive()).await else {
                return Ok(None);
            };
            let received = received?;
            if fits(&received.0) {
                return Ok(Some(received));
            }
            if self.buffered.len() >= KEPT {
                self.buffered.pop_front();
            }
            self.buffered.push_back(received);
        }
    }

    /// Drops buffered messages.
    pub(crate) fn forget(&mut self) {
        self.buffered.clear();
    }

    async fn receive(&mut self) -> anyhow::Result<(Value, usize)> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let message = serde_json::from_str(&text)
                        .context("the relay sent a message that is not JSON")?;
                    return Ok((message, text.len()));
                }
                Some(Ok(Message::Close(_))) | None => bail!("the relay closed the connection"),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error).context("the connection failed"),
            }
        }
    }
}

pub fn error_text(payload: &Value) -> String {
    let text = |name: &str| payload[name].as_str().unwrap_or("?").to_owned();
    format!("{}: {}", text("code"), text("message"))
}
