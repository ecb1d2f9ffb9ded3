//! Reads server-sent events as a browser would.

use std::{pin::Pin, time::Duration};

use futures_util::{Stream, StreamExt};
use serde_json::Value;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub id: Option<u64>,
    pub event: String,
    pub data: Value,
}

/// A stream that is open.
pub struct SseReader {
    pub status: reqwest::StatusCode,
    chunks: Pin<Box<dyn Stream<Item = reqwest::Result<axum::body::Bytes>> + Send>>,
    buffer: Vec<u8>,
    /// How much of the buffer was searched for the end of an event.
    searched: usize,
}

/// Far longer than anything here takes; a test that hangs should say where.
const TIMEOUT: Duration = Duration::from_secs(30);

impl SseReader {
    pub async fn open(http: &reqwest::Client, url: &str, last_event_id: Option<&str>) -> Self {
        let mut request = http.get(url).header("accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        Self {
            status,
            chunks: Box::pin(response.bytes_stream()),
            buffer: Vec::new(),
            searched: 0,
        }
    }

    /// The next event, or none when the stream has ended.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            let from = self.searched.saturating_sub(1);
            let mut pairs = self.buffer[from..].windows(2);
            if let Some(end) = pairs.position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..from + end + 2).collect();
                self.searched = 0;
                if let Some(frame) = parse(&String::from_utf8(block).unwrap()) {
                    return Some(frame);
                }
                continue;
            }
            self.searched = self.buffer.len();
            let chunk = tokio::time::timeout(TIMEOUT, self.chunks.next())
                .await
                .expect("the stream says nothing");
            match chunk {
                Some(Ok(chunk)) => self.buffer.extend_from_slice(&chunk),
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// Everything until the stream ends.
    pub async fn rest(mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }

    /// Reads until an event of this name.
    pub async fn until(&mut self, event: &str) -> Frame {
        loop {
            let frame = self.next().await.expect("the stream ended too soon");
            if frame.event == event {
                return frame;
            }
        }
    }
}

fn parse(block: &str) -> Option<Frame> {
    let mut frame = Frame {
        id: None,
        event: String::new(),
        data: Value::Null,
    };
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => frame.id = Some(id.parse().unwrap()),
            Some(("event", event)) => frame.event = event.to_owned(),
            Some(("data", data)) => frame.data = serde_json::from_str(data).unwrap(),
            _ => {}
        }
    }
    (!frame.event.is_empty()).then_some(frame)
}
