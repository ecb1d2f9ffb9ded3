//! WebSocket clients of the relay: a page and agents.

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest, http::HeaderName};

use crate::{server, socket::TestSocket};

/// A client of the relay.
pub struct Client {
    socket: TestSocket,
    asked: u64,
}

impl Client {
    /// Connects, and reads the relay's first message.
    pub async fn connect(server: &server::Client) -> Self {
        Self::greeted(server.socket("/agent/ws")).await.unwrap()
    }

    /// Connects without credentials.
    pub async fn stranger(server: &server::Client) -> Self {
        let url = format!("ws://{}/agent/ws", server.address);
        Self::greeted(url).await.unwrap()
    }

    async fn greeted(request: impl IntoClientRequest) -> Result<Self, StatusCode> {
        let mut client = Self::of(TestSocket::open(request).await)?;
        assert_eq!(client.receive().await["type"], "relay.hello");
        Ok(client)
    }

    fn of(socket: Result<TestSocket, StatusCode>) -> Result<Self, StatusCode> {
        socket.map(|socket| Self { socket, asked: 0 })
    }

    /// Connects with these headers.
    pub async fn raw(
        server: &server::Client,
        headers: &[(&str, &str)],
    ) -> Result<Self, StatusCode> {
        let mut request = server.socket("/agent/ws");
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        Self::of(TestSocket::connect(server.address, request).await)
    }

    /// Connects like a page of this origin.
    pub async fn page(
        server: &server::Client,
        host: &str,
        more: &str,
        cookie: &str,
    ) -> Result<Self, StatusCode> {
        let url = format!("ws://{host}/agent/ws{more}");
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("origin", format!("http://{host}").parse().unwrap());
        if !cookie.is_empty() {
            headers.insert("cookie", cookie.parse().unwrap());
        }
        let mut client = Self::of(TestSocket::connect(server.address, request).await)?;
        assert_eq!(client.receive().await["type"], "relay.hello");
        Ok(client)
    }

    /// An agent that has joined.
    pub async fn agent(server: &server::Client, session: &str) -> Self {
        let join = json!({ "role": "agent", "sessionId": session, "presence": false });
        Self::joined(server, join).await.0
    }

    /// A page that has joined.
    pub async fn host(server: &server::Client, session: &str) -> Self {
        Self::joined(server, json!({ "role": "host", "sessionId": session }))
            .await
            .0
    }

    /// A client that has joined, with the response.
    pub async fn joined(server: &server::Client, join: Value) -> (Self, Value) {
        let mut client = Self::connect(server).await;
        let joined = client.ask("relay.join", join).await;
        assert_eq!(joined["type"], "relay.joined", "{joined}");
        client.asked = 0;
        (client, joined["payload"].clone())
    }

    pub async fn send(&mut self, message: &Value) {
        self.socket.send(message).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.send_raw(Message::text(text)).await;
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.socket.send_raw(message).await;
    }

    /// Sends a message; returns its id.
    pub async fn send_message(&mut self, kind: &str, payload: Value) -> String {
        self.asked += 1;
        let id = format!("q{}", self.asked);
        self.send(&json!({ "v": "mvp-0.2", "type": kind, "id": id, "payload": payload }))
            .await;
        id
    }

    /// Sends a message and waits for its response, skipping other messages.
    pub async fn ask(&mut self, kind: &str, payload: Value) -> Value {
        let id = self.send_message(kind, payload).await;
        loop {
            let received = self.receive().await;
            if received["replyTo"] == id.as_str() {
                return received;
            }
        }
    }

    /// Responds to a request.
    pub async fn reply(&mut self, to: &Value, kind: &str, payload: Value) {
        let message =
            json!({ "v": "mvp-0.2", "type": kind, "replyTo": to["id"], "payload": payload });
        self.send(&message).await;
    }

    /// Broadcasts to all agents.
    pub async fn push(&mut self, kind: &str, payload: Value) {
        self.send(&json!({ "v": "mvp-0.2", "type": kind, "payload": payload }))
            .await;
    }

    /// The next message.
    pub async fn receive(&mut self) -> Value {
        self.socket.receive().await
    }

    /// The next message of this type; skips others.
    pub async fn receive_type(&mut self, kind: &str) -> Value {
        self.socket.until(kind).await
    }

    /// The next message, or `None` when the connection ends.
    pub async fn next(&mut self) -> Option<Value> {
        self.socket.next().await
    }

    /// The code with which the connection is closed.
    pub async fn end(&mut self) -> Option<u16> {
        self.socket.closed().await.map(|(code, _)| code)
    }

    /// Drops the connection without a close frame.
    pub fn drop_dead(self) {
        drop(self.socket);
    }

    /// Leaves, and waits until the relay has noticed.
    pub async fn leave(self) {
        self.socket.leave().await;
    }
}

/// The message of an error.
pub fn code(received: &Value) -> &str {
    assert_eq!(received["type"], "error", "{received}");
    let message = received["payload"]["message"].as_str().unwrap();
    assert!(message.len() > 10, "{message}");
    received["payload"]["code"].as_str().unwrap()
}

/// A tool call with a reason.
pub fn call(tool: &str) -> Value {
    json!({ "toolName": tool, "params": { "itemId": "m1" }, "reason": "to see what comes of it" })
}

/// Whether there was no message before the response to a request that fails immediately.
pub async fn nothing_before_an_error(client: &mut Client) {
    client.send_text("{}").await;
    assert_eq!(code(&client.receive().await), "INVALID_MESSAGE");
}
