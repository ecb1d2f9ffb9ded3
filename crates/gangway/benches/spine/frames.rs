//! WebSocket frames by hand, both ways: what is large is counted and passed over, what is small can be read.

use std::time::Instant;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// What a larger message says is not kept.
const SMALL: usize = 4 << 10;

/// A text message as a client sends it, under the mask that changes nothing.
pub fn masked(text: &str) -> Vec<u8> {
    let mut frame = head(0x81, text.len());
    frame[1] |= 0x80;
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(text.as_bytes());
    frame
}

/// The beginning of a whole message, from its first byte and its length.
pub fn head(kind: u8, length: usize) -> Vec<u8> {
    let mut head = vec![kind];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ ..126), _) => head.push(short),
        (_, Ok(middle)) => {
            head.push(126);
            head.extend_from_slice(&middle.to_be_bytes());
        }
        _ => {
            head.push(127);
            head.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    head
}

/// Finds messages in bytes that come in any pieces.
#[derive(Default)]
pub struct Parser {
    head: Vec<u8>,
    /// Bytes of the message that did not come yet.
    body: usize,
    length: usize,
    payload: Vec<u8>,
}

impl Parser {
    /// Reports each message that ends in these bytes: its length, and its content if it is small.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(usize, &[u8])) {
        while let [next, rest @ ..] = bytes {
            if self.head.is_empty() || self.body == 0 {
                self.head.push(*next);
                bytes = rest;
                // Two bytes, then as many of length as the second one says.
                self.length = match self.head.as_slice() {
                    [_, short] if *short < 126 => usize::from(*short),
                    [_, 126, high, low] => usize::from(u16::from_be_bytes([*high, *low])),
                    [_, 127, length @ ..] if length.len() == 8 => length
                        .iter()
                        .fold(0, |length, byte| (length << 8) | usize::from(*byte)),
                    _ => continue,
                };
                self.body = self.length;
                self.payload.clear();
            }
            let (now, rest) = bytes.split_at(self.body.min(bytes.len()));
            if self.length <= SMALL {
                self.payload.extend_from_slice(now);
            }
            self.body -= now.len();
            bytes = rest;
            if self.body == 0 {
                self.head.clear();
                each(self.length, &self.payload);
            }
        }
    }
}

/// An open WebSocket of a client.
pub struct Page {
    stream: TcpStream,
    parser: Parser,
    buffer: Vec<u8>,
    /// What was said and not taken yet.
    received: std::collections::VecDeque<String>,
    /// Bytes of all messages so far.
    pub bytes: usize,
}

impl Page {
    /// From a socket after its handshake and what came with it.
    pub fn new((stream, first): (TcpStream, Vec<u8>)) -> Self {
        let mut page = Self {
            stream,
            parser: Parser::default(),
            buffer: vec![0; 256 << 10],
            received: std::collections::VecDeque::new(),
            bytes: 0,
        };
        page.take(&first);
        page
    }

    /// Says something.
    pub async fn say(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(self.stream.write_all(&masked(text)).await?)
    }

    /// When the next small message came that has these words in it.
    pub async fn hear(&mut self, message: &str) -> anyhow::Result<Instant> {
        loop {
            let text = self.next().await?;
            if text.contains(message) {
                return Ok(Instant::now());
            }
            anyhow::ensure!(!text.contains(r#""type":"error""#), "{text}");
        }
    }

    /// The next small message. Cancel-safe.
    pub async fn next(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(text) = self.received.pop_front() {
                return Ok(text);
            }
            let read = self.stream.read(&mut self.buffer).await?;
            anyhow::ensure!(read > 0, "the server closed the connection");
            let buffer = std::mem::take(&mut self.buffer);
            self.take(&buffer[..read]);
            self.buffer = buffer;
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let (received, total) = (&mut self.received, &mut self.bytes);
        self.parser.push(bytes, |length, message| {
            *total += length;
            if !message.is_empty() {
                received.push_back(String::from_utf8_lossy(message).into_owned());
            }
        });
    }
}
