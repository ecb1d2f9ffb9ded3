//! A page and agents as they speak on the wire.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, client_async, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest},
};

use crate::server;

/// Somebody at the relay.
pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    asked: u64,
}

impl Client {
    /// Connects; what the relay says first has been read.
    pub async fn connect(server: &server::Client) -> Self {
        let mut client = Self::raw(server, &[]).await.unwrap();
        assert_eq!(client.hear().await["type"], "relay.hello");
        client
    }

    /// Connects with nothing that says who it is.
    pub async fn stranger(server: &server::Client) -> Self {
        let url = format!("ws://{}/agent/ws", server.address);
        let (socket, _) = connect_async(url).await.unwrap();
        let mut client = Self { socket, asked: 0 };
        assert_eq!(client.hear().await["type"], "relay.hello");
        client
    }

    /// Connects with these headers.
    pub async fn raw(
        server: &server::Client,
        headers: &[(&str, &str)],
    ) -> Result<Self, StatusCode> {
        let mut request = server.socket("/agent/ws");
        for (name, value) in headers {
            let name: tungstenite::http::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Self { socket, asked: 0 }),
            Err(tungstenite::Error::Http(response)) => Err(response.status()),
            Err(other) => panic!("{other}"),
        }
    }

    /// Connects as a page does whose origin is this.
    pub async fn page(
        server: &server::Client,
        host: &str,
        more: &str,
        cookie: &str,
    ) -> Result<Self, StatusCode> {
        // Names below localhost are for browsers; the resolver here does not know them.
        let stream = TcpStream::connect(server.address).await.unwrap();
        let url = format!("ws://{host}/agent/ws{more}");
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("origin", format!("http://{host}").parse().unwrap());
        if !cookie.is_empty() {
            headers.insert("cookie", cookie.parse().unwrap());
        }
        match client_async(request, MaybeTlsStream::Plain(stream)).await {
            Ok((socket, _)) => {
                let mut client = Self { socket, asked: 0 };
                assert_eq!(client.hear().await["type"], "relay.hello");
                Ok(client)
            }
            Err(tungstenite::Error::Http(response)) => Err(response.status()),
            Err(other) => panic!("{other}"),
        }
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

    /// Somebody who has joined like this, and what it was told.
    pub async fn joined(server: &server::Client, join: Value) -> (Self, Value) {
        let mut client = Self::connect(server).await;
        let joined = client.ask("relay.join", join).await;
        assert_eq!(joined["type"], "relay.joined", "{joined}");
        client.asked = 0;
        (client, joined["payload"].clone())
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// Says something; its name.
    pub async fn say(&mut self, kind: &str, payload: Value) -> String {
        self.asked += 1;
        let id = format!("q{}", self.asked);
        self.send(&json!({ "v": "mvp-0.2", "type": kind, "id": id, "payload": payload }))
            .await;
        id
    }

    /// Says something and waits for the answer to it; what else comes is passed over.
    pub async fn ask(&mut self, kind: &str, payload: Value) -> Value {
        let id = self.say(kind, payload).await;
        loop {
            let heard = self.hear().await;
            if heard["replyTo"] == id.as_str() {
                return heard;
            }
        }
    }

    /// Answers what was asked.
    pub async fn reply(&mut self, to: &Value, kind: &str, payload: Value) {
        let message =
            json!({ "v": "mvp-0.2", "type": kind, "replyTo": to["id"], "payload": payload });
        self.send(&message).await;
    }

    /// Tells all agents.
    pub async fn push(&mut self, kind: &str, payload: Value) {
        self.send(&json!({ "v": "mvp-0.2", "type": kind, "payload": payload }))
            .await;
    }

    /// The next message.
    pub async fn hear(&mut self) -> Value {
        self.next().await.expect("the connection has ended")
    }

    /// The next message of this type; what else comes is passed over.
    pub async fn hear_of(&mut self, kind: &str) -> Value {
        loop {
            let heard = self.hear().await;
            if heard["type"] == kind {
                return heard;
            }
        }
    }

    /// The next message, or none when the connection ends.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(20), self.socket.next());
            match next.await.expect("nothing comes")? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// How the connection ends: the code.
    pub async fn end(&mut self) -> Option<u16> {
        while let Some(next) = self.socket.next().await {
            match next {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// Goes away without a word.
    pub fn drop_dead(self) {
        drop(self.socket);
    }

    /// Leaves, and waits until the relay knows.
    pub async fn leave(mut self) {
        let _ = self.socket.close(None).await;
        while let Some(Ok(_)) = self.socket.next().await {}
    }
}

/// What an error says.
pub fn code(heard: &Value) -> &str {
    assert_eq!(heard["type"], "error", "{heard}");
    let words = heard["payload"]["message"].as_str().unwrap();
    assert!(words.len() > 10, "{words}");
    heard["payload"]["code"].as_str().unwrap()
}

/// A call of a tool, with a reason.
pub fn call(tool: &str) -> Value {
    json!({ "toolName": tool, "params": { "itemId": "m1" }, "reason": "to see what comes of it" })
}

/// Asks whether nothing more was said before the answer to a question that is refused at once.
pub async fn nothing_before_an_error(client: &mut Client) {
    client.send_text("{}").await;
    assert_eq!(code(&client.hear().await), "INVALID_MESSAGE");
}
