//! WebSocket just as it is written, for frames that no client library would send.

use std::{collections::VecDeque, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::raw;
use crate::support::current_token;

/// The bit of a frame that ends its message.
pub const END: u8 = 0x80;
pub const CONTINUE: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// Far longer than an answer takes; a test that hangs should say where.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A frame of a client: its first byte, and what it carries behind a mask.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
    let mut bytes = head(first, payload.len() as u64, true);
    bytes.extend_from_slice(&MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(b, m)| b ^ m));
    bytes
}

/// A frame without the mask that clients must use.
pub fn bare(first: u8, payload: &[u8]) -> Vec<u8> {
    [&head(first, payload.len() as u64, false), payload].concat()
}

/// Only what stands before the mask, for any length.
pub fn head(first: u8, length: u64, masked: bool) -> Vec<u8> {
    let mask = if masked { 0x80 } else { 0 };
    let mut bytes = vec![first];
    match length {
        0..=125 => bytes.push(mask | length as u8),
        126..=65535 => {
            bytes.push(mask | 126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(mask | 127);
            bytes.extend_from_slice(&length.to_be_bytes());
        }
    }
    bytes
}

/// A close with a code and a reason.
pub fn close(code: u16, reason: &[u8]) -> Vec<u8> {
    frame(END | CLOSE, &[&code.to_be_bytes(), reason].concat())
}

/// What a server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    Text(String),
    Binary(usize),
    Ping,
    Pong(Vec<u8>),
    /// The code and the reason, if there were any.
    Close(Option<(u16, String)>),
    /// The server ended the connection, as it should be done.
    End,
    /// The connection was torn down.
    Reset,
}

/// A connection on which the handshake is done.
pub struct Wire {
    stream: TcpStream,
    read: VecDeque<u8>,
}

impl Wire {
    /// Opens a WebSocket at this path, as a page of ours does.
    pub async fn open(address: SocketAddr, path: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (host, origin) = (address.to_string(), format!("http://{address}"));
        let bearer = format!("Bearer {}", current_token());
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", bearer.as_str()),
            ("Origin", origin.as_str()),
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let request = raw::request("GET", path, &headers, b"");
        stream.write_all(&request).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("no answer"));
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.starts_with("http/1.1 101 "), "{head}");
        // As the standard works it out for this key.
        assert!(head.contains("s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
        Self {
            stream,
            read: VecDeque::new(),
        }
    }

    /// Sends these bytes, in parts of this size; false when the server hung up.
    pub async fn send(&mut self, bytes: &[u8], parts: usize) -> bool {
        self.stream.set_nodelay(true).unwrap();
        for part in bytes.chunks(parts) {
            if self.stream.write_all(part).await.is_err() {
                return false;
            }
            // A part that arrives alone is the point of parts.
            if parts < bytes.len() {
                tokio::task::yield_now().await;
            }
        }
        true
    }

    /// The next message.
    pub async fn receive(&mut self) -> Received {
        loop {
            if let Some(received) = self.take() {
                return received;
            }
            let mut chunk = [0; 4096];
            let read = tokio::time::timeout(TIMEOUT, self.stream.read(&mut chunk)).await;
            match read.expect("the server says nothing") {
                Ok(0) => return Received::End,
                Ok(n) => self.read.extend(&chunk[..n]),
                Err(_) => return Received::Reset,
            }
        }
    }

    /// A whole frame, if it is there; a server's frames are never masked or in parts.
    fn take(&mut self) -> Option<Received> {
        let bytes = self.read.make_contiguous();
        let (first, length) = (*bytes.first()?, *bytes.get(1)?);
        let (head, length) = match length {
            126 => (
                4,
                u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?) as usize,
            ),
            127 => (
                10,
                u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?) as usize,
            ),
            length => (2, length as usize),
        };
        let payload = bytes.get(head..head + length)?.to_vec();
        self.read.drain(..head + length);
        assert_eq!(first & 0xf0, END, "a frame of a server: {first:#x}");
        Some(match first & 0xf {
            TEXT => Received::Text(String::from_utf8(payload).unwrap()),
            BINARY => Received::Binary(payload.len()),
            PING => Received::Ping,
            PONG => Received::Pong(payload),
            CLOSE if payload.is_empty() => Received::Close(None),
            CLOSE => {
                let code = u16::from_be_bytes([payload[0], payload[1]]);
                let reason = String::from_utf8(payload[2..].to_vec()).unwrap();
                Received::Close(Some((code, reason)))
            }
            other => panic!("a frame of a server: {other:#x}"),
        })
    }
}
