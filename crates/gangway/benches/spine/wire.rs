//! HTTP, SSE and WebSocket by hand: a driver that costs little leaves its core to the measurement.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::Context;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

/// A connection that is kept for one request after another.
pub struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            address,
            buffer: Vec::new(),
        })
    }

    /// Sends a request without waiting for its answer.
    pub async fn send(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<()> {
        self.send_with(method, path, "", body).await
    }

    /// The same with further headers, each with the end of its line.
    pub async fn send_with(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> anyhow::Result<()> {
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.write_all(text.as_bytes()).await?;
        Ok(())
    }

    /// Sends a request that is written out.
    pub async fn send_raw(&mut self, request: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    /// Sends a request and reads its answer, which must have a length.
    pub async fn request(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<(u16, Vec<u8>)> {
        self.send(method, path, body).await?;
        self.answer().await
    }

    /// Reads the answer to what was sent.
    pub async fn answer(&mut self) -> anyhow::Result<(u16, Vec<u8>)> {
        let head = self.head().await?;
        let length = content_length(&head).with_context(|| format!("no length in {head:?}"))?;
        while self.buffer.len() < length {
            self.more().await?;
        }
        let rest = self.buffer.split_off(length);
        let body = std::mem::replace(&mut self.buffer, rest);
        Ok((status(&head)?, body))
    }

    /// Reads an answer that may come in chunks: its head and its body, chunks and all.
    pub async fn whole_answer(&mut self) -> anyhow::Result<(String, Vec<u8>)> {
        const LAST: &[u8] = b"0\r\n\r\n";
        let head = self.head().await?;
        if content_length(&head).is_none() && head.to_ascii_lowercase().contains("chunked") {
            // Nothing was asked after it, so that what ends with the last chunk is whole.
            while !self.buffer.ends_with(LAST) {
                self.more().await?;
            }
            return Ok((head, std::mem::take(&mut self.buffer)));
        }
        // An answer without a body may say nothing of its length.
        let length = content_length(&head).unwrap_or(0);
        while self.buffer.len() < length {
            self.more().await?;
        }
        let rest = self.buffer.split_off(length);
        Ok((head, std::mem::replace(&mut self.buffer, rest)))
    }

    /// Reads the head of an answer whose body is a stream, and gives up the connection to it.
    pub async fn into_stream(mut self) -> anyhow::Result<(TcpStream, Vec<u8>)> {
        let head = self.head().await?;
        anyhow::ensure!(matches!(status(&head)?, 200 | 101), "{head}");
        Ok((self.stream, self.buffer))
    }

    async fn head(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let rest = self.buffer.split_off(end + 4);
                let head = std::mem::replace(&mut self.buffer, rest);
                return Ok(String::from_utf8_lossy(&head).into_owned());
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        // Without room a vector offers 64 bytes at a time.
        self.buffer.reserve(4 << 10);
        let read = self.stream.read_buf(&mut self.buffer).await?;
        anyhow::ensure!(read > 0, "the server closed the connection");
        Ok(())
    }
}

/// Waits until something answers HTTP at this address.
pub async fn answering(address: SocketAddr, within: Duration) -> anyhow::Result<()> {
    let begin = Instant::now();
    loop {
        let asked = async {
            let mut connection = Connection::open(address).await?;
            connection.send("GET", "/", "").await?;
            connection.head().await
        };
        if asked.await.is_ok() {
            return Ok(());
        }
        anyhow::ensure!(begin.elapsed() < within, "it did not start in {within:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Opens a stream of server-sent events: the socket, and what came with its head.
pub async fn sse(address: SocketAddr, path: &str) -> anyhow::Result<(TcpStream, Vec<u8>)> {
    let mut connection = Connection::open(address).await?;
    connection.send("GET", path, "").await?;
    connection.into_stream().await
}

/// Asks for a stream and never reads it, with a buffer so small that the server soon notices.
pub async fn stalled(address: SocketAddr, path: &str) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut stream = socket.connect(address).await?;
    let text = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(text.as_bytes()).await?;
    Ok(stream)
}

/// Opens a WebSocket: the socket after its handshake, and what came with it.
pub async fn websocket(address: SocketAddr, path: &str) -> anyhow::Result<(TcpStream, Vec<u8>)> {
    websocket_with(address, &address.to_string(), path, "").await
}

/// The same on another host name and with further headers, each with the end of its line.
pub async fn websocket_with(
    address: SocketAddr,
    host: &str,
    path: &str,
    headers: &str,
) -> anyhow::Result<(TcpStream, Vec<u8>)> {
    let mut connection = Connection::open(address).await?;
    let text = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    connection.stream.write_all(text.as_bytes()).await?;
    connection.into_stream().await
}

/// Where a needle begins. Looks for its first byte alone, since most of what is looked through does not have it.
pub fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    let first = needle.first()?;
    let mut begin = 0;
    loop {
        begin += hay[begin..].iter().position(|byte| byte == first)?;
        if hay[begin..].starts_with(needle) {
            return Some(begin);
        }
        begin += 1;
    }
}

/// The length that the head of a message announces.
pub fn content_length(head: &str) -> Option<usize> {
    header(head, "content-length")?.parse().ok()
}

/// What the head of a message says under a name.
pub fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

fn status(head: &str) -> anyhow::Result<u16> {
    let code = head.split(' ').nth(1).context("no status")?;
    Ok(code.parse()?)
}
