//! A WebSocket to a relay, as an agent has one.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

pub struct Wire {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last: u64,
}

impl Wire {
    pub async fn open(url: &str) -> Self {
        let (socket, _) = connect_async(url).await.unwrap();
        Self { socket, last: 0 }
    }

    pub fn new_id(&mut self) -> String {
        self.last += 1;
        format!("q{}", self.last)
    }

    /// Sends a message; false when the other side is gone.
    pub async fn send(&mut self, message: &Value) -> bool {
        let sent = self.socket.send(Message::text(message.to_string())).await;
        sent.is_ok()
    }

    /// The next message; nothing when the other side is gone.
    pub async fn receive(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The answer to a request; nothing when the other side is gone.
    pub async fn ask(&mut self, kind: &str, payload: Value) -> Option<Value> {
        let id = self.new_id();
        let sent = self
            .send(&json!({ "v": "mvp-0.2", "type": kind, "id": id, "payload": payload }))
            .await;
        if !sent {
            return None;
        }
        loop {
            let message = self.receive().await?;
            if message["replyTo"] == id.as_str() {
                return Some(message);
            }
        }
    }
}
