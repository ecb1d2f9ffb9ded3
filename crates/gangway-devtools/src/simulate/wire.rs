//! WebSocket connections to this machine: to our server and to the headless browser.

use std::net::SocketAddr;

use anyhow::{Context, anyhow, bail};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

pub(super) struct Wire {
    socket: WebSocketStream<TcpStream>,
}

impl Wire {
    pub(super) async fn open(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let message = || format!("connecting to {address}");
        if !address.ip().is_loopback() {
            return Err(anyhow!("the address is not on this machine")).with_context(message);
        }
        let stream = TcpStream::connect(address).await.with_context(message)?;
        let url = format!("ws://{address}{path}");
        let (socket, _) = client_async(url, stream).await.with_context(message)?;
        Ok(Self { socket })
    }

    pub(super) async fn send_message(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.socket.send(Message::text(message.to_string())).await?)
    }

    /// The next message; cancel safe.
    pub(super) async fn receive(&mut self) -> anyhow::Result<Value> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text)?),
                Some(Ok(Message::Close(_))) | None => bail!("the connection was closed"),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }
}
