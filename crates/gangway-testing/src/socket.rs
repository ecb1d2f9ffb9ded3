//! A WebSocket that carries JSON.

use std::{net::SocketAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use reqwest::StatusCode;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest, handshake::client::Request},
};

/// Far longer than anything takes; a test that hangs should say where.
const TIMEOUT: Duration = Duration::from_secs(20);

pub struct TestSocket(WebSocketStream<TcpStream>);

impl TestSocket {
    /// Connects, or returns the status of the refusal.
    pub async fn open(request: impl IntoClientRequest) -> Result<Self, StatusCode> {
        let request = request.into_client_request().unwrap();
        let address = request.uri().authority().unwrap().as_str();
        Self::connect(address.parse().unwrap(), request).await
    }

    /// The same at an address: names below localhost are for browsers, the resolver does not know them.
    pub async fn connect(address: SocketAddr, request: Request) -> Result<Self, StatusCode> {
        let stream = TcpStream::connect(address).await.unwrap();
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => Err(response.status()),
            Err(error) => panic!("{error}"),
        }
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_raw(Message::text(message.to_string())).await;
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// Sends a message; false when the other side is gone.
    pub async fn try_send(&mut self, message: &Value) -> bool {
        let message = Message::text(message.to_string());
        self.0.send(message).await.is_ok()
    }

    /// The next WebSocket message; `None` when the connection is lost.
    pub async fn raw(&mut self) -> Option<Message> {
        let next = tokio::time::timeout(TIMEOUT, self.0.next()).await;
        next.expect("nothing came")?.ok()
    }

    /// The next message.
    pub async fn receive(&mut self) -> Value {
        self.next().await.expect("the connection has ended")
    }

    /// The next message of this type; skips others.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let received = self.receive().await;
            if received["type"] == kind {
                return received;
            }
        }
    }

    /// The next message; `None` when the connection ends.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match self.raw().await? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// The code with which the server closes the connection, and its last message; `None` when it is lost.
    pub async fn closed(&mut self) -> Option<(u16, Value)> {
        let mut last = Value::Null;
        loop {
            match self.raw().await? {
                Message::Close(frame) => return Some((frame?.code.into(), last)),
                Message::Text(text) => last = serde_json::from_str(&text).unwrap(),
                _ => {}
            }
        }
    }

    /// Whether no message arrives for a while.
    pub async fn is_silent(&mut self) -> bool {
        let short = Duration::from_millis(200);
        tokio::time::timeout(short, self.0.next()).await.is_err()
    }

    /// Closes the connection.
    pub async fn close(&mut self) {
        let _ = self.0.close(None).await;
    }

    /// Closes the connection, and waits until the server has closed it too.
    pub async fn leave(mut self) {
        self.close().await;
        while let Some(Ok(_)) = self.0.next().await {}
    }
}
