//! Messages over a child's standard input and output, one a line, with a bound on what is read.

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

/// Messages on their way to a server. One that reads nothing holds up its own callers, who then time out.
const OUTGOING: usize = 64;

/// Lines on standard output that are no messages and are still worth a line in the log.
const MAX_STRAY: u32 = 100;

/// One end of a conversation with a child.
pub(crate) struct Pipe {
    input: BufReader<ChildStdout>,
    line: Vec<u8>,
    most: usize,
    /// Set while the rest of a line that is too long goes by.
    skipped: Option<(IdScan, usize)>,
    stray: u32,
    output: Option<mpsc::Sender<Vec<u8>>>,
    journal: Arc<Journal>,
    /// Tells everyone that nothing will come any more.
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

    /// The next message, or nothing at the end. May be dropped at any await and called again: what was read of a line
    /// stays here.
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

    /// Waits until the server answers a first request, whatever it answers; says whether it did before its end. The
    /// handshake of the MCP library allows its first request ten seconds, and a server that is fetched on its first
    /// start takes longer. Servers of both eras choose theirs by the first request, so it is that of the current one.
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
                // Nothing that it says or asks before the handshake is meant for us.
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
                // Only what is no JSON at all is shown: the rest may hold somebody's words.
                ..=MAX_STRAY if error.is_data() => self
                    .journal
                    .host("a message that is none of the protocol was ignored"),
                ..=MAX_STRAY => self.journal.say(Source::Stdout, &text),
                n if n == MAX_STRAY + 1 => self
                    .journal
                    .host("further lines that are no messages are not shown"),
                _ => {}
            }
        }
        let message = match parsed {
            Ok(message) => Some(message),
            Err(error) => unread(&self.line, &error),
        };
        self.line.clear();
        // A line of megabytes must not keep its memory for the life of an idle server.
        self.line.shrink_to(64 * 1024);
        message
    }

    /// The answer that stands in for one that was too large.
    fn too_large(&mut self, scan: &IdScan, bytes: usize) -> Option<ServerJsonRpcMessage> {
        self.journal.host(format!(
            "a message of {bytes} bytes was too large to be read"
        ));
        let id = match scan.id()? {
            Value::Number(number) => RequestId::Number(number.as_i64()?),
            Value::String(text) => RequestId::String(text.as_str().into()),
            _ => return None,
        };
        let error = ErrorData::internal_error(
            format!(
                "the result has {bytes} bytes; at most {} are read. Ask for less at a time",
                self.most
            ),
            None,
        );
        Some(JsonRpcMessage::error(error, Some(id)))
    }
}

/// The answer that stands in for one that cannot be read, such as one with half a character or a thousand lists in one
/// another: whoever asked must not wait for it.
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

/// Writes until nobody has anything to say, then closes the child's input.
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
            let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "the server has gone");
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
