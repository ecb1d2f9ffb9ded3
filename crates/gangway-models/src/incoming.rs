//! A streaming response: lines and server-sent events, with size limits and an idle timeout.

use std::{sync::Arc, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::Response;

use crate::{Failure, ModelError};

/// Bytes of a line: enough for a tool call with a file, but bounded.
const MAX_LINE: usize = 4 << 20;

/// Bytes of a whole response: far more than any model writes, far less than memory.
const MAX_ANSWER: usize = 64 << 20;

/// Lines of a response: each costs some work, however short it is.
const MAX_LINES: usize = 1_000_000;

pub struct Incoming {
    chunks: BoxStream<'static, reqwest::Result<Bytes>>,
    /// The provider's address, for messages.
    pub(crate) at: Arc<str>,
    silence: Duration,
    /// Received and not yet consumed; the first `searched` bytes contain no line break.
    buffer: BytesMut,
    searched: usize,
    whole: usize,
    lines: usize,
    over: bool,
}

impl Incoming {
    pub(crate) fn new(response: Response, at: Arc<str>, silence: Duration) -> Self {
        Self {
            chunks: response.bytes_stream().boxed(),
            at,
            silence,
            buffer: BytesMut::new(),
            searched: 0,
            whole: 0,
            lines: 0,
            over: false,
        }
    }

    /// The next line without its line break, and whether it had one: the last may be truncated.
    async fn line(&mut self) -> Result<Option<(BytesMut, bool)>, ModelError> {
        loop {
            let unsearched = &self.buffer[self.searched..];
            if let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') {
                let mut line = self.buffer.split_to(self.searched + end + 1);
                self.searched = 0;
                self.lines += 1;
                if self.lines > MAX_LINES {
                    return Err(self.endless("lines"));
                }
                line.truncate(line.len() - 1);
                if line.last() == Some(&b'\r') {
                    line.truncate(line.len() - 1);
                }
                return Ok(Some((line, true)));
            }
            self.searched = self.buffer.len();
            if self.over {
                let rest = self.buffer.split();
                self.searched = 0;
                return Ok((!rest.is_empty()).then_some((rest, false)));
            }
            match self.chunks.next().await {
                Some(chunk) => {
                    self.take(&chunk.map_err(|e| ModelError::from_transport(&self.at, &e))?)?;
                }
                None => self.over = true,
            }
        }
    }

    fn take(&mut self, chunk: &Bytes) -> Result<(), ModelError> {
        self.whole += chunk.len();
        self.buffer.extend_from_slice(chunk);
        // Only the searched part is known to be one line.
        if self.searched > MAX_LINE {
            return Err(self.endless("a line"));
        }
        if self.whole > MAX_ANSWER {
            return Err(self.endless("an answer"));
        }
        Ok(())
    }

    fn endless(&self, what: &str) -> ModelError {
        let at = &self.at;
        ModelError::failed(format!("The model at {at} sent {what} that is too long."))
    }

    /// Skips empty lines.
    fn skip_ends(&mut self) {
        let ends = |byte: &&u8| matches!(**byte, b'\n' | b'\r');
        let skipped = self.buffer.iter().take_while(ends).count();
        self.buffer.advance(skipped);
        self.searched = self.searched.saturating_sub(skipped);
    }

    async fn event(&mut self) -> Result<Option<String>, ModelError> {
        let mut data: Option<String> = None;
        while let Some((line, true)) = self.line().await? {
            // Buffered lines would otherwise be read without yielding.
            tokio::task::consume_budget().await;
            if line.is_empty() {
                if data.is_some() {
                    return Ok(data);
                }
                self.skip_ends();
                continue;
            }
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
            let Some(value) = line.strip_prefix(b"data:") else {
                continue;
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let value = std::str::from_utf8(value).map_err(|_| ModelError::garbled(&self.at))?;
            match &mut data {
                Some(so_far) if so_far.len() + value.len() > MAX_LINE => {
                    return Err(self.endless("an event"));
                }
                Some(so_far) => {
                    so_far.push('\n');
                    so_far.push_str(value);
                }
                None => data = Some(value.to_owned()),
            }
        }
        // Some servers end the last event by closing the connection.
        Ok(data)
    }

    pub(crate) fn events(self) -> BoxStream<'static, Result<String, ModelError>> {
        stream::unfold(Some((self, false)), |state| async move {
            let (mut incoming, any) = state?;
            let limit = incoming.silence;
            // Comments keep a connection alive, but do not reset the idle timeout.
            match tokio::time::timeout(limit, incoming.event()).await {
                Err(_) => Some((Err(incoming.silent()), None)),
                Ok(Err(error)) => Some((Err(error), None)),
                Ok(Ok(Some(event))) => Some((Ok(event), Some((incoming, true)))),
                // Without any event it is something else, such as an HTML page.
                Ok(Ok(None)) if !any => Some((Err(ModelError::garbled(&incoming.at)), None)),
                Ok(Ok(None)) => None,
            }
        })
        // Reading on after the end (see `finish`) yields the end again.
        .fuse()
        .boxed()
    }

    /// Each line that is not empty.
    pub(crate) fn lines(self) -> BoxStream<'static, Result<BytesMut, ModelError>> {
        stream::unfold(Some(self), |state| async move {
            let mut incoming = state?;
            let limit = incoming.silence;
            let next = async {
                loop {
                    tokio::task::consume_budget().await;
                    match incoming.line().await {
                        Ok(Some((line, _))) if line.trim_ascii().is_empty() => incoming.skip_ends(),
                        other => return other.map(|line| line.map(|(line, _)| line)),
                    }
                }
            };
            match tokio::time::timeout(limit, next).await {
                Err(_) => Some((Err(incoming.silent()), None)),
                Ok(Err(error)) => Some((Err(error), None)),
                Ok(Ok(Some(line))) => Some((Ok(line), Some(incoming))),
                Ok(Ok(None)) => None,
            }
        })
        // Reading on after the end (see `finish`) yields the end again.
        .fuse()
        .boxed()
    }

    fn silent(&self) -> ModelError {
        let message = format!("The model at {} did not answer in time.", self.at);
        ModelError::new(Failure::Timeout, message)
    }
}
