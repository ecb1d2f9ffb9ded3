//! A broker as a page's script has it, the person who decides, and what a model says to both.

use std::net::SocketAddr;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

use crate::{
    server::{Client, LOCAL_TOKEN, socket},
    socket::TestSocket,
};

pub const SHOP: &str = "https://shop.example";

/// A chunk of a model's answer.
pub fn says(text: &str) -> String {
    let choice = json!({ "delta": { "content": text }, "finish_reason": null });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

/// The end of a model's answer.
pub fn end() -> String {
    let choice = json!({ "delta": {}, "finish_reason": "stop" });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

/// A model's answer that calls tools, each with these arguments.
pub fn calls(tools: &[(&str, &str)]) -> String {
    let calls = tools.iter().enumerate().map(|(n, (name, arguments))| {
        json!({ "index": n, "id": format!("c{n}"), "function": { "name": name, "arguments": arguments } })
    });
    let calls: Vec<_> = calls.collect();
    let choice = json!({ "delta": { "tool_calls": calls }, "finish_reason": "tool_calls" });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

/// Sets what an origin may do, as the Permissions page does.
pub async fn grant(server: &Client, origin: &str, change: Value) {
    let mut change = change;
    change["origin"] = json!(origin);
    let request = server.http.patch(server.url("/api/permissions"));
    let answer = request.bearer_auth("local-token").json(&change).send();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{:?}", answer.text().await);
}

/// Lets an origin do all of this.
pub async fn allow(server: &Client, origin: &str, scopes: &[&str]) {
    let scopes: serde_json::Map<_, _> = scopes
        .iter()
        .map(|scope| ((*scope).to_owned(), json!("granted-always")))
        .collect();
    grant(server, origin, json!({ "scopes": scopes })).await;
}

/// A broker's connection.
pub struct Broker {
    socket: TestSocket,
    pub visit: String,
    pub seen: u64,
    last: u64,
}

impl Broker {
    /// A page of this origin.
    pub async fn of(server: &Client, origin: &str) -> Self {
        Self::at(server.address, LOCAL_TOKEN, origin).await
    }

    /// The same on a server that is known by its address alone.
    pub async fn at(address: SocketAddr, token: &str, origin: &str) -> Self {
        let hello = json!({ "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32) });
        let (broker, welcome) = Self::hello_at(address, hello, Some(token)).await;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        broker
    }

    /// A page of this origin in a browser with the extension.
    pub async fn by_extension(server: &Client, origin: &str) -> Self {
        let mut request = socket(
            &format!("ws://{}/ws/web-agent", server.address),
            LOCAL_TOKEN,
        );
        let headers = request.headers_mut();
        headers.insert("x-gangway-client", "extension".parse().unwrap());
        let own = format!("http://{}", server.address);
        headers.insert("origin", own.parse().unwrap());
        let mut broker = Self::new(TestSocket::connect(server.address, request).await.unwrap());
        let hello = json!({ "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32) });
        broker.send_message(hello).await;
        assert_eq!(broker.receive().await["type"], "welcome");
        broker
    }

    fn new(socket: TestSocket) -> Self {
        Self {
            socket,
            visit: String::new(),
            seen: 0,
            last: 0,
        }
    }

    /// Says hello in its own way.
    pub async fn hello(server: &Client, hello: Value) -> (Self, Value) {
        Self::hello_at(server.address, hello, Some(LOCAL_TOKEN)).await
    }

    /// Sends hello from a browser without a login.
    pub async fn stranger(server: &Client, hello: Value) -> (Self, Value) {
        Self::hello_at(server.address, hello, None).await
    }

    async fn hello_at(address: SocketAddr, hello: Value, token: Option<&str>) -> (Self, Value) {
        let origin = format!("http://{address}");
        let socket = Self::connect_at(address, Some(&origin), token)
            .await
            .unwrap();
        let mut broker = Self::new(socket);
        broker.send_message(hello).await;
        let welcome = broker.receive().await;
        broker.visit = welcome["visit"].as_str().unwrap_or_default().to_owned();
        (broker, welcome)
    }

    pub async fn connect(server: &Client, origin: Option<&str>) -> Result<TestSocket, u16> {
        Self::connect_at(server.address, origin, None).await
    }

    async fn connect_at(
        address: SocketAddr,
        origin: Option<&str>,
        token: Option<&str>,
    ) -> Result<TestSocket, u16> {
        let url = format!("ws://{address}/ws/web-agent");
        let mut request = match token {
            Some(token) => socket(&url, token),
            None => url.into_client_request().unwrap(),
        };
        if let Some(origin) = origin {
            let origin = origin.parse().unwrap();
            request.headers_mut().insert("origin", origin);
        }
        let socket = TestSocket::connect(address, request).await;
        socket.map_err(|status| status.as_u16())
    }

    /// The same page after its connection was lost.
    pub async fn again(self, server: &Client, origin: &str) -> (Self, Value) {
        let Self {
            visit, seen, last, ..
        } = self;
        let hello = json!({
            "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32), "visit": visit, "seen": seen,
        });
        let (mut broker, welcome) = Self::hello(server, hello).await;
        (broker.seen, broker.last) = (seen, last);
        (broker, welcome)
    }

    pub async fn send_message(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    /// Sends text as it is.
    pub async fn write(&mut self, text: &str) {
        self.socket.send_raw(Message::text(text)).await;
    }

    pub async fn receive(&mut self) -> Value {
        let received = self.socket.receive().await;
        if let Some(n) = received["n"].as_u64() {
            assert_eq!(n, self.seen + 1, "{received}");
            self.seen = n;
        }
        received
    }

    /// What comes until the server closes the connection.
    pub async fn until_closed(&mut self) -> Vec<Value> {
        let mut received = Vec::new();
        while let Some(next) = self.socket.next().await {
            received.push(next);
        }
        received
    }

    /// Begins a call; its number.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let call = json!({ "type": "call", "id": self.last, "method": method, "params": params });
        self.send_message(call).await;
        self.last
    }

    /// What a call comes to, and the events on the way.
    pub async fn end(&mut self, id: u64) -> (Vec<Value>, Result<Value, Value>) {
        let mut events = Vec::new();
        loop {
            let received = self.receive().await;
            if received["id"] != id {
                continue;
            }
            match received["type"].as_str().unwrap() {
                "event" => events.push(received["event"].clone()),
                "result" => return (events, Ok(received["result"].clone())),
                "error" => return (events, Err(received["error"].clone())),
                _ => {}
            }
        }
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin(method, params).await;
        self.end(id).await.1
    }

    /// Calls in vain; the code.
    pub async fn refused(&mut self, method: &str, params: Value) -> String {
        let error = self.call(method, params).await.unwrap_err();
        error["code"].as_str().unwrap().to_owned()
    }

    /// Waits for a message of this type.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let received = self.receive().await;
            if received["type"] == kind {
                return received;
            }
        }
    }
}

/// Decides what the person is asked.
pub async fn decide(server: &Client, ask: &Value, decision: &str) {
    let id = ask["ask"].as_str().unwrap();
    let url = server.url(&format!("/api/asks/{id}"));
    let request = server.http.post(url).bearer_auth("local-token");
    let answer = request.json(&json!({ "decision": decision })).send().await;
    assert_eq!(answer.unwrap().status(), StatusCode::NO_CONTENT);
}
