//! Reads a session's feed over WebSocket or SSE, frame by frame, with the text just as it came.

use std::{collections::VecDeque, pin::Pin, time::Duration};

use crate::support::{current_token, socket};
use futures_util::{Stream, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

/// Far longer than anything here takes; a test that hangs should say where.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The way a reader reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    WebSocket,
    Sse,
}

impl Way {
    /// Half of the readers each.
    pub fn nth(n: usize) -> Self {
        if n.is_multiple_of(2) {
            Self::WebSocket
        } else {
            Self::Sse
        }
    }
}

/// A frame, with its JSON as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedFrame {
    pub text: String,
}

impl ReceivedFrame {
    /// The number, if the frame is an event; the server writes it first, so nothing else need be read.
    pub fn seq(&self) -> Option<u64> {
        let number = self.text.strip_prefix("{\"seq\":")?;
        number[..number.find(',')?].parse().ok()
    }

    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// Whether it is a frame of this type.
    pub fn is(&self, kind: &str) -> bool {
        // The type stands near the front of every frame, before anything that a person wrote.
        let front = self.text.get(..120).unwrap_or(&self.text);
        front.contains(&format!("\"type\":\"{kind}\""))
    }
}

type Chunks = Pin<Box<dyn Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>;

/// A feed that is open.
pub enum Feed {
    WebSocket(Box<WebSocketStream<MaybeTlsStream<TcpStream>>>),
    Sse { chunks: Chunks, lines: Lines },
}

impl Feed {
    /// Opens the feed of a session on the server at `url`, after `since` if given.
    pub async fn open(
        way: Way,
        http: &reqwest::Client,
        url: &str,
        session: &str,
        since: Option<&str>,
    ) -> Option<Self> {
        let path = format!("{url}/api/sessions/{session}/events");
        match way {
            Way::WebSocket => {
                let since = since.map(|since| format!("?since={since}"));
                let address = path + &since.unwrap_or_default();
                let request = socket(&address, &current_token());
                let (socket, _) = connect_async(request).await.ok()?;
                Some(Self::WebSocket(Box::new(socket)))
            }
            Way::Sse => Self::sse(http, &path, since).await,
        }
    }

    /// Opens any stream of server-sent events.
    pub async fn sse(http: &reqwest::Client, url: &str, since: Option<&str>) -> Option<Self> {
        let mut request = http.get(url).header("accept", "text/event-stream");
        if let Some(since) = since {
            request = request.header("last-event-id", since);
        }
        let response = request.send().await.ok()?;
        assert_eq!(response.status(), 200);
        Some(Self::Sse {
            chunks: Box::pin(response.bytes_stream()),
            lines: Lines::default(),
        })
    }

    /// The next frame, or none when the feed has ended.
    pub async fn next(&mut self) -> Option<ReceivedFrame> {
        tokio::time::timeout(TIMEOUT, self.receive())
            .await
            .expect("the feed says nothing")
    }

    async fn receive(&mut self) -> Option<ReceivedFrame> {
        match self {
            Self::WebSocket(socket) => loop {
                match socket.next().await {
                    Some(Ok(Message::Text(text))) => {
                        return Some(ReceivedFrame {
                            text: text.as_str().to_owned(),
                        });
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                    Some(Ok(_)) => {}
                }
            },
            Self::Sse { chunks, lines } => loop {
                match lines.heard.pop_front() {
                    // Said on SSE only, and without a number.
                    Some(received) if received.is("session.idle") => {}
                    Some(received) => return Some(received),
                    None => lines.take(&chunks.next().await?.ok()?),
                }
            },
        }
    }

    /// The next event with its number; anything else is a fault.
    pub async fn event(&mut self) -> (u64, ReceivedFrame) {
        let received = self.next().await.expect("the feed ended too soon");
        let seq = received.seq();
        (
            seq.unwrap_or_else(|| panic!("not an event: {}", received.text)),
            received,
        )
    }
}

/// Server-sent events as the standard reads them: a line ends at CR, LF or both.
#[derive(Default)]
pub struct Lines {
    line: Vec<u8>,
    after_cr: bool,
    data: Option<String>,
    id: Option<u64>,
    heard: VecDeque<ReceivedFrame>,
}

impl Lines {
    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|b| *b == b'\n' || *b == b'\r') else {
                self.line.extend_from_slice(bytes);
                return;
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = String::from_utf8(std::mem::take(&mut self.line)).unwrap();
            self.end_line(&line);
        }
    }

    fn end_line(&mut self, line: &str) {
        if line.is_empty() {
            if let Some(text) = self.data.take() {
                let received = ReceivedFrame { text };
                if let Some(seq) = received.seq() {
                    assert_eq!(self.id, Some(seq), "the id is not the number");
                }
                self.heard.push_back(received);
            }
            self.id = None;
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" => self.id = Some(value.parse().unwrap()),
            _ => {}
        }
    }
}

/// Fails unless the numbers go up from `after`, and every one left out is a delta that a whole message stands for.
pub fn assert_no_gap(after: u64, events: &[(u64, ReceivedFrame)]) {
    let mut replaced = Vec::new();
    for (_, received) in events.iter().filter(|(_, h)| h.is("assistant.message")) {
        let range = &received.value()["replaces"];
        if let (Some(first), Some(last)) = (range[0].as_u64(), range[1].as_u64()) {
            replaced.push(first..=last);
        }
    }
    let mut before = after;
    for (seq, _) in events {
        assert!(*seq > before, "{seq} came after {before}");
        for missing in before + 1..*seq {
            assert!(
                replaced.iter().any(|range| range.contains(&missing)),
                "{missing} is missing"
            );
        }
        before = *seq;
    }
}
