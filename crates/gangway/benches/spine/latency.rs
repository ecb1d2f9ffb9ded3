//! Reads a stream of timestamped tokens and measures the latency of each.

use std::time::Instant;

use anyhow::Context;
use tokio::{io::AsyncReadExt, net::TcpStream};

use crate::wire::find;

/// What surrounds a stamp; nothing else on any of the wires has it.
const MARK: u8 = b'@';

/// A stream of an answer, whichever wire it has.
pub struct Marks {
    stream: TcpStream,
    buffer: Vec<u8>,
    epoch: Instant,
}

impl Marks {
    /// From an open stream and what was read of it already.
    pub fn new((stream, buffer): (TcpStream, Vec<u8>), epoch: Instant) -> Self {
        Self {
            stream,
            buffer,
            epoch,
        }
    }

    /// Microseconds from the stamp of each of the next tokens until now, and when the first came.
    pub async fn read(&mut self, tokens: usize) -> anyhow::Result<(Vec<f64>, Instant)> {
        let mut lags = Vec::with_capacity(tokens);
        let mut first = None;
        loop {
            while let Some(stamp) = self.take_stamp()? {
                first.get_or_insert_with(Instant::now);
                let lag = self.epoch.elapsed().as_secs_f64() - stamp;
                lags.push(lag * 1e6);
                if lags.len() == tokens {
                    return Ok((lags, first.context("no token")?));
                }
            }
            self.more().await?;
        }
    }

    /// Reads on until after these bytes.
    pub async fn drain(&mut self, end: &[u8]) -> anyhow::Result<()> {
        loop {
            if let Some(begin) = find(&self.buffer, end) {
                self.buffer.drain(..begin + end.len());
                return Ok(());
            }
            // What was looked at goes, except what may be the beginning of the end.
            let stored = self.buffer.len().saturating_sub(end.len());
            self.buffer.drain(..stored);
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        // Without room a vector offers 64 bytes at a time.
        self.buffer.reserve(64 << 10);
        let read = self.stream.read_buf(&mut self.buffer).await?;
        anyhow::ensure!(read > 0, "the stream ended too soon");
        Ok(())
    }

    /// The next stamp in seconds, if it is here whole.
    fn take_stamp(&mut self) -> anyhow::Result<Option<f64>> {
        let Some(begin) = self.buffer.iter().position(|byte| *byte == MARK) else {
            self.buffer.clear();
            return Ok(None);
        };
        let after = &self.buffer[begin + 1..];
        let Some(length) = after.iter().position(|byte| *byte == MARK) else {
            self.buffer.drain(..begin);
            return Ok(None);
        };
        let nanos: f64 = std::str::from_utf8(&after[..length])?.parse()?;
        self.buffer.drain(..begin + length + 2);
        Ok(Some(nanos / 1e9))
    }
}
