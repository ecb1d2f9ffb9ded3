//! A WebSocket echo server, for browsers.

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::accept_async;

/// Serves until it is killed.
pub fn run() -> anyhow::Result<()> {
    let listener = super::listen()?;
    listener.set_nonblocking(true)?;
    super::runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(answer(stream));
        }
    })
}

async fn answer(stream: TcpStream) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut socket = accept_async(stream).await?;
    while let Some(message) = socket.next().await {
        let message = message?;
        if message.is_text() {
            socket.send(message).await?;
        }
    }
    Ok(())
}
