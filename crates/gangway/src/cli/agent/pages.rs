//! `gangway agent --pages`: connects an ACP agent over stdio to the MCP server of its runner, with the tools of open pages.

use std::path::Path;

use anyhow::Context;
use tokio::{
    io::{copy, stdin, stdout},
    net::UnixStream,
};

/// Passes messages on until one of the two ends.
pub(super) async fn connect(socket: &Path) -> anyhow::Result<()> {
    let stream = UnixStream::connect(socket).await;
    let stream = stream.with_context(|| format!("no agent listens on {}", socket.display()))?;
    let (mut answers, mut requests) = stream.into_split();
    let (mut input, mut output) = (stdin(), stdout());
    tokio::select! {
        sent = copy(&mut input, &mut requests) => sent?,
        received = copy(&mut answers, &mut output) => received?,
    };
    Ok(())
}
