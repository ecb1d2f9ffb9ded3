//! HTTP just as it is written, for requests that no client library would send.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// An answer; the head only is read of one that has no end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Fails unless it is an error in our envelope, with this status and code.
    pub fn assert_error(&self, status: u16, code: &str) {
        let body = self.json();
        assert_eq!(
            (self.status, body["error_code"].as_str()),
            (status, Some(code)),
            "{self:?}"
        );
        assert_eq!(body["status"], status);
        assert!(body["message"].is_string() && body["retryable"].is_boolean());
        let retry = body["retry_after_seconds"].as_u64();
        assert_eq!(retry.is_some(), body["retryable"] == true, "{body}");
        assert!(
            retry.is_none_or(|s| self.head.contains(&format!("retry-after: {s}"))
                || self.head.contains(&format!("Retry-After: {s}")))
        );
    }
}

/// Sends these bytes and reads one answer; none when the server just hangs up.
pub async fn send(address: SocketAddr, request: &[u8]) -> Option<Answer> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let request = request.to_vec();
    // Concurrently: a server may respond before it has read the whole request.
    let sender = tokio::spawn(async move {
        let _ = writing.write_all(&request).await;
        writing
    });
    let answer = read(&mut reading).await;
    sender.abort();
    answer
}

/// Reads one answer.
pub async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<Answer> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 16 << 10];
    loop {
        if let Some(answer) = parse(&bytes) {
            return Some(answer);
        }
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut chunk))
            .await
            .expect("no answer");
        match read {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

/// The whole of an answer, if it is there.
fn parse(bytes: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status: u16 = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|l| {
        l.to_lowercase()
            .strip_prefix("content-length: ")
            .map(str::to_owned)
    });
    let length: usize = length.map_or(0, |l| l.trim().parse().unwrap());
    (body.len() >= length).then(|| Answer {
        status,
        head: head.to_owned(),
        body: body[..length].to_owned(),
    })
}

/// A request with these headers and this body.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() || matches!(method, "POST" | "PATCH") {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
