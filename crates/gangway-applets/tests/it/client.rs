//! A page on the session channel.

use gangway_testing::socket::TestSocket;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::server::TestServer;

pub struct Page {
    pub socket: TestSocket,
    next: u64,
    /// What came while something else was waited for.
    kept: Vec<Value>,
}

impl Page {
    /// Opens a channel; what the address says after `session=`.
    pub async fn open(server: &TestServer, session: &str, more: &str) -> Self {
        let mut page = Self::try_open(server, session, more, &[]).await.unwrap();
        let first = page.receive().await;
        assert_eq!(first["type"], "ready", "{first}");
        page
    }

    pub async fn try_open(
        server: &TestServer,
        session: &str,
        more: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, u16> {
        let mut request = server.socket(&format!("/ws/applet?session={session}{more}"));
        for (name, value) in headers {
            if value.contains("gangway.key.") {
                request.headers_mut().remove("authorization");
            }
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let socket = TestSocket::open(request).await;
        let page = socket.map(|socket| Self {
            socket,
            next: 0,
            kept: Vec::new(),
        });
        page.map_err(|status| status.as_u16())
    }

    pub async fn send_message(&mut self, message: Value) {
        self.socket.send(&message).await;
    }

    pub async fn raw(&mut self, text: &str) {
        self.socket.send_raw(Message::text(text)).await;
    }

    /// The next message that is not binary.
    pub async fn receive(&mut self) -> Value {
        self.socket.receive().await
    }

    pub async fn message(&mut self) -> Message {
        self.socket.raw().await.unwrap()
    }

    /// The next message of this type; others are kept.
    pub async fn until(&mut self, kind: &str) -> Value {
        if let Some(at) = self.kept.iter().position(|stored| stored["type"] == kind) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.receive().await;
            if message["type"] == kind {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// Asks and waits for the answer with the same id.
    pub async fn ask(&mut self, mut message: Value) -> Value {
        self.next += 1;
        let id = json!(format!("n{}", self.next));
        message["id"] = id.clone();
        self.send_message(message).await;
        loop {
            let answer = self.receive().await;
            if answer["id"] == id {
                return answer;
            }
            self.kept.push(answer);
        }
    }
}

/// An address in the frame of an applet.
pub fn frame_at(server: &TestServer, slug: &str, path: &str) -> String {
    let secret = server.services.signer.sign("applet", slug);
    format!("/applets/{slug}/{secret}/{path}")
}
