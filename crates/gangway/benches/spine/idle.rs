//! Memory that the server holds for a reader of a feed on which nothing happens.

use std::time::Duration;

use tokio::net::TcpStream;

use crate::{
    Effort, limits,
    machine::Measured,
    readers::Wire,
    server::{Gangway, feed, new_session},
    table::Row,
    wire::{sse, websocket},
};

/// SSE readers and WebSocket readers of one session, each on a server of its own.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let count = effort.pick(500, 5000);
    let bare = bare(count).await?;
    let mut rows = Vec::new();
    for (wire, name) in [(Wire::Sse, "SSE"), (Wire::WebSocket, "WebSocket")] {
        let gangway = Gangway::scripted("turns: []\n")?;
        let session = new_session(&mut gangway.connect().await?).await?;
        let each = hold(&gangway.process, &feed(&session), wire, count).await?;
        let figure = format!("memory of an idle {name} reader, {count} held");
        rows.push(Row::at_most(&figure, each, Some(bare), "KB", 10.0));
    }
    Ok(rows)
}

/// Kilobytes for each of this many held at the barest.
pub async fn bare(count: u32) -> anyhow::Result<f64> {
    let limit = limits::start("held", &[])?;
    hold(&limit, "/feed", Wire::Sse, count).await
}

/// Kilobytes for each of this many readers, after the first few.
#[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
pub async fn hold(server: &Measured, path: &str, wire: Wire, count: u32) -> anyhow::Result<f64> {
    // The first few pay for what is made once.
    let mut held = open(server, path, wire, 50).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = server.memory()?;
    held.extend(open(server, path, wire, count).await?);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let after = server.memory()?;
    Ok(after.saturating_sub(before) as f64 / 1000.0 / f64::from(count))
}

async fn open(
    server: &Measured,
    path: &str,
    wire: Wire,
    count: u32,
) -> anyhow::Result<Vec<TcpStream>> {
    let mut held = Vec::new();
    for _ in 0..count {
        let (stream, _) = match wire {
            Wire::Sse => sse(server.address, path).await?,
            Wire::WebSocket => websocket(server.address, path).await?,
        };
        held.push(stream);
    }
    Ok(held)
}
