//! `gangway mcp serve`: Gangway's MCP server over stdio, for clients that start a program.
//!
//! Messages are forwarded to `/mcp` of the running Gangway. If none runs, one is started in this process and lives as
//! long as the client.

mod relay;

use std::{sync::Arc, time::Duration};

use clap::Args;
use relay::Relay;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use super::{
    Common, serve,
    server::{CommandServer, Kind},
};

/// Size limit of a message.
const LINE: u64 = 32 << 20;

/// Concurrent requests, the same limit as the server has per connection.
const AT_ONCE: usize = 256;

/// Messages buffered for a slow client.
const WAITING: usize = 64;

/// Time for pending requests after the client disconnects.
const GOODBYE: Duration = Duration::from_secs(2);

#[derive(Args, Clone)]
pub struct StdioArgs {
    /// Only this MCP server, with its tool names unprefixed
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    #[command(flatten)]
    common: Common,
}

pub(super) async fn serve(args: StdioArgs) -> anyhow::Result<()> {
    let path = match &args.only {
        Some(name) => format!("/mcp/{name}"),
        None => "/mcp".to_owned(),
    };
    let (answers, waiting) = mpsc::channel(WAITING);
    let writing = tokio::spawn(write(waiting));
    let relay = Relay::new(path, answers, args.common);
    relay.home().await?;
    let read = tokio::select! {
        read = read(&relay) => read,
        () = serve::stop_signal()? => Ok(()),
    };
    relay.leave().await;
    drop(relay);
    writing.await.ok();
    read
}

/// Reads messages until the client closes stdin.
async fn read(relay: &Arc<Relay>) -> anyhow::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin());
    let (room, mut under_way) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new());
    loop {
        let mut line = Vec::new();
        let read = (&mut lines).take(LINE).read_until(b'\n', &mut line).await?;
        if read == 0 {
            break;
        }
        anyhow::ensure!(
            (read as u64) < LINE,
            "a message must be at most {LINE} bytes"
        );
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            relay
                .send_message(failure(
                    &Value::Null,
                    -32700,
                    "the message is not valid JSON",
                ))
                .await;
            continue;
        };
        while under_way.try_join_next().is_some() {}
        if message.get("id").is_some() && message.get("method").is_some() {
            let permit = Arc::clone(&room).acquire_owned().await?;
            let relay = Arc::clone(relay);
            under_way.spawn(async move {
                relay.pass(message).await;
                drop(permit);
            });
        } else {
            // Notifications and responses keep their order.
            relay.pass(message).await;
        }
    }
    let rest = async { while under_way.join_next().await.is_some() {} };
    tokio::time::timeout(GOODBYE, rest).await.ok();
    Ok(())
}

/// Writes one message per line.
async fn write(mut waiting: mpsc::Receiver<Value>) -> std::io::Result<()> {
    let mut out = tokio::io::stdout();
    while let Some(message) = waiting.recv().await {
        let mut line = message.to_string();
        line.push('\n');
        out.write_all(line.as_bytes()).await?;
        out.flush().await?;
    }
    Ok(())
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
