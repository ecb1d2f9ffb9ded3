//! A WebSocket to a relay, as a page or an agent has one.

use crate::support::{current_token, socket};
use gangway_testing::socket::TestSocket;
use serde_json::{Value, json};

pub struct Wire {
    socket: TestSocket,
    last: u64,
}

impl Wire {
    pub async fn open(url: &str) -> Self {
        let url = url.replacen("http://", "ws://", 1);
        let url = match url.ends_with("/agent/ws") {
            true => url,
            false => format!("{url}/agent/ws"),
        };
        let request = socket(&url, &current_token());
        let socket = TestSocket::open(request).await.unwrap();
        Self { socket, last: 0 }
    }

    /// Connects with nothing that says who it is.
    pub async fn stranger(url: &str) -> Self {
        let url = url.replacen("http://", "ws://", 1) + "/agent/ws";
        let socket = TestSocket::open(url).await.unwrap();
        Self { socket, last: 0 }
    }

    pub async fn join(url: &str, role: &str, session: &str) -> Self {
        let mut wire = Self::open(url).await;
        let request = json!({ "role": role, "sessionId": session });
        let answer = wire.ask("relay.join", request).await.unwrap();
        assert_eq!(answer["type"], "relay.joined", "{answer}");
        wire
    }

    pub fn new_id(&mut self) -> String {
        self.last += 1;
        format!("q{}", self.last)
    }

    /// Sends a message; false when the other side is gone.
    pub async fn send(&mut self, message: &Value) -> bool {
        self.socket.try_send(message).await
    }

    /// The next message; nothing when the other side is gone.
    pub async fn receive(&mut self) -> Option<Value> {
        self.socket.next().await
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
