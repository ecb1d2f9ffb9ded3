//! A model server that speaks the real chat completions wire and writes into each token when it left.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::AbortOnDropHandle;

use crate::wire::{content_length, find};

/// The models it has, for a server that looks from time to time.
const LIST: &str = concat!(
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 57\r\n\r\n",
    r#"{"object":"list","data":[{"id":"fake","object":"model"}]}"#
);

/// How it answers.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Tokens in an answer.
    pub tokens: usize,
    /// The time between two.
    pub every: Duration,
    /// Bytes of one.
    pub bytes: usize,
    /// When the clock began that tokens are stamped with.
    pub epoch: Instant,
}

/// A running model server.
pub struct Model {
    /// Where it listens.
    pub address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl Model {
    /// Starts one in this process.
    pub async fn start(plan: Plan) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, plan));
            }
        });
        Ok(Self {
            address,
            _task: AbortOnDropHandle::new(task),
        })
    }
}

async fn serve(mut stream: TcpStream, plan: Plan) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4 << 10);
    loop {
        let end = loop {
            if let Some(end) = find(&buffer, b"\r\n\r\n") {
                break end + 4;
            }
            anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "the client left");
        };
        let asks_for_list = buffer.starts_with(b"GET ");
        let length = content_length(&String::from_utf8_lossy(&buffer[..end])).unwrap_or(0);
        while buffer.len() < end + length {
            anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "the client left");
        }
        buffer.drain(..end + length);
        if asks_for_list {
            stream.write_all(LIST.as_bytes()).await?;
        } else {
            answer(&mut stream, plan).await?;
        }
    }
}

async fn answer(stream: &mut TcpStream, plan: Plan) -> anyhow::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let begin = tokio::time::Instant::now();
    let padding = "x".repeat(plan.bytes.saturating_sub(16));
    for token in 0..plan.tokens {
        tokio::time::sleep_until(begin + plan.every * u32::try_from(token)?).await;
        let stamp = plan.epoch.elapsed().as_nanos();
        let delta = format!(
            r#"{{"id":"c","object":"chat.completion.chunk","created":1,"model":"fake","choices":[{{"index":0,"delta":{{"content":"@{stamp}@{padding} "}},"finish_reason":null}}]}}"#
        );
        say(stream, &delta).await?;
    }
    say(
        stream,
        r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    )
    .await?;
    say(stream, "[DONE]").await?;
    stream.write_all(b"0\r\n\r\n").await?;
    Ok(())
}

async fn say(stream: &mut TcpStream, data: &str) -> anyhow::Result<()> {
    let text = format!("data: {data}\n\n");
    let chunk = format!("{:x}\r\n{text}\r\n", text.len());
    stream.write_all(chunk.as_bytes()).await?;
    Ok(())
}
