//! The stdio transport: one message per line, with a size limit.

use std::{io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ErrorData, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    journal::{Journal, Source},
    scan::IdScan,
};

/// Queued messages. A server that reads nothing blocks its own callers, who then time out.
const OUTGOING: usize = 64;

/// Lines on standard output that are not messages and are still logged.
const MAX_STRAY: u32 = 100;

pub(crate) struct Pipe {
    input: BufReader<ChildStdout>,
    line: Vec<u8>,
    most: usize,
    /// Set while the rest of a line that is too long is skipped.
    skipped: Option<(IdScan, usize)>,
    stray: u32,
    output: Option<mpsc::Sender<Vec<u8>>>,
    journal: Arc<Journal>,
    /// Signals the end of the connection.
    _gone: DropGuard,
    gone: CancellationToken,
}

impl Pipe {
    pub(crate) fn new(
        stdin: ChildStdin,
        stdout: ChildStdout,
        most: usize,
        journal: Arc<Journal>,
        gone: CancellationToken,
    ) -> Self {
        let (output, outgoing) = mpsc::channel(OUTGOING);
        tokio::spawn(write(stdin, outgoing));
        Self {
            input: BufReader::with_capacity(64 * 1024, stdout),
            line: Vec::new(),
            most,
            skipped: None,
            stray: 0,
            output: Some(output),
            journal,
            _gone: gone.clone().drop_guard(),
            gone,
        }
    }

    /// The next message, or `None` at the end. Cancel-safe: a partial line is kept.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let part = self.input.fill_buf().await.ok().filter(|p| !p.is_empty())?;
            let end = part.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(part.len(), |at| at + 1);
            let text = &part[..end.unwrap_or(taken)];
            if let Some((scan, bytes)) = &mut self.skipped {
                scan.read(text);
                *bytes += text.len();
            } else if self.line.len() + text.len() > self.most {
                let mut scan = IdScan::default();
                scan.read(&self.line);
                scan.read(text);
                self.skipped = Some((scan, self.line.len() + text.len()));
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(text);
            }
            self.input.consume(taken);
            if end.is_none() {
                continue;
            }
            let message = match self.skipped.take() {
                Some((scan, bytes)) => self.too_large(&scan, bytes),
                None => self.parse(),
            };
            if message.is_some() {
                return message;
            }
        }
    }

    /// Waits for any response to a first request; false if the server exits. The handshake of the MCP library has a
    /// timeout of ten seconds, but a server that is downloaded on its first start takes longer. Servers that support
    /// several revisions choose by the first request, so it is that of the current one.
    pub(crate) async fn answers(&mut self) -> bool {
        let probe = json!({ "jsonrpc": "2.0", "id": "awake", "method": "server/discover", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": ProtocolVersion::V_2026_07_28,
            "io.modelcontextprotocol/clientInfo": { "name": "gangway", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } });
        let line = format!("{probe}\n").into_bytes();
        let sent = match &self.output {
            Some(output) => output.send(line).await.is_ok(),
            None => false,
        };
        if !sent {
            return false;
        }
        loop {
            match self.next().await {
                Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => return true,
                // Other messages before the handshake are ignored.
                Some(_) => {}
                None => return false,
            }
        }
    }

    fn parse(&mut self) -> Option<ServerJsonRpcMessage> {
        let parsed = serde_json::from_slice(&self.line);
        if let Err(error) = &parsed
            && !self.line.trim_ascii().is_empty()
        {
            self.stray += 1;
            let text = String::from_utf8_lossy(&self.line);
            match self.stray {
                // Only lines that are not JSON are shown: others may contain private text.
                ..=MAX_STRAY if error.is_data() => self
                    .journal
                    .host("ignored a message that is not part of the protocol"),
                ..=MAX_STRAY => self.journal.log(Source::Stdout, &text),
                n if n == MAX_STRAY + 1 => self
                    .journal
                    .host("further lines that are not messages are not shown"),
                _ => {}
            }
        }
        let message = match parsed {
            Ok(message) => Some(message),
            Err(error) => unread(&self.line, &error),
        };
        self.line.clear();
        // Frees the memory of a very long line.
        self.line.shrink_to(64 * 1024);
        message
    }

    /// Replaces a response that was too large by an error.
    fn too_large(&mut self, scan: &IdScan, bytes: usize) -> Option<ServerJsonRpcMessage> {
        self.journal
            .host(format!("a message of {bytes} bytes was too large"));
        let id = match scan.id()? {
            Value::Number(number) => RequestId::Number(number.as_i64()?),
            Value::String(text) => RequestId::String(text.as_str().into()),
            _ => return None,
        };
        let error = ErrorData::internal_error(
            format!(
                "the result has {bytes} bytes, the limit is {}; request less at a time",
                self.most
            ),
            None,
        );
        Some(JsonRpcMessage::error(error, Some(id)))
    }
}

/// Replaces a response that cannot be parsed, such as one with invalid UTF-8 or a thousand nested lists, by an error,
/// so that its caller does not wait.
fn unread(line: &[u8], error: &serde_json::Error) -> Option<ServerJsonRpcMessage> {
    #[derive(Deserialize)]
    struct Answer {
        id: RequestId,
        method: Option<IgnoredAny>,
        result: Option<IgnoredAny>,
    }
    let Answer { id, method, result } = serde_json::from_slice(line).ok()?;
    if method.is_some() || result.is_none() {
        return None;
    }
    let error = ErrorData::internal_error(format!("the result cannot be read: {error}"), None);
    Some(JsonRpcMessage::error(error, Some(id)))
}

/// Writes until all senders are gone, then closes the child's input.
async fn write(mut stdin: ChildStdin, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = outgoing.recv().await {
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

impl Transport<RoleClient> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let closed =
                || io::Error::new(io::ErrorKind::BrokenPipe, "the server has disconnected");
            output
                .ok_or_else(closed)?
                .send(line)
                .await
                .map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.next().await;
        if message.is_none() {
            self.gone.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}
