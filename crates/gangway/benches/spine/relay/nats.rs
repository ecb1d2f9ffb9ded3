//! NATS over WebSocket in the place of the relay, from `scripts/setup.sh nats`: it passes messages on, and numbers and keeps nothing.

use std::{
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use anyhow::Context;
use tempfile::TempDir;

use crate::{
    frames::Page,
    machine::{Measured, on_server_core},
    wire::{answering, websocket},
};

/// A running server.
pub struct Nats {
    pub process: Measured,
    /// Kept until the process is gone.
    _folder: TempDir,
}

impl Nats {
    pub async fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        // Free a moment ago; it prints none that it chose itself.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = folder.path().join("nats.conf");
        // No ping comes in the middle of a round.
        let settings = format!(
            "listen: \"127.0.0.1:-1\"\nping_interval: \"10m\"\nwebsocket {{ listen: \"{address}\", no_tls: true }}\n"
        );
        std::fs::write(&config, settings)?;
        let mut command = on_server_core("nats-server");
        command.arg("--config").arg(&config);
        let process = Measured::start_at(command, address)
            .context("it is not installed: scripts/setup.sh nats")?;
        answering(address, Duration::from_secs(10)).await?;
        Ok(Self {
            process,
            _folder: folder,
        })
    }
}

/// A client that publishes to one subject and subscribes to another.
pub struct Client {
    page: Page,
    to: String,
    buffer: String,
}

impl Client {
    pub async fn open(address: SocketAddr, from: &str, to: &str) -> anyhow::Result<Self> {
        let mut client = Self {
            page: Page::new(websocket(address, "/").await?),
            to: to.to_owned(),
            buffer: String::new(),
        };
        let greeting = format!("CONNECT {{\"verbose\":false}}\r\nSUB {from} 1\r\nPING\r\n");
        client.page.say(&greeting).await?;
        while client.line().await? != "PONG" {}
        Ok(client)
    }

    pub async fn say(&mut self, text: &str) -> anyhow::Result<()> {
        let message = format!("PUB {} {}\r\n{text}\r\n", self.to, text.len());
        self.page.say(&message).await
    }

    /// The next message.
    pub async fn next(&mut self) -> anyhow::Result<String> {
        loop {
            let line = self.line().await?;
            let Some(message) = line.strip_prefix("MSG ") else {
                continue;
            };
            let length = message.rsplit(' ').next().context("no length")?;
            let length: usize = length.parse()?;
            while self.buffer.len() < length + 2 {
                self.more().await?;
            }
            let text = self.buffer[..length].to_owned();
            self.buffer.drain(..length + 2);
            return Ok(text);
        }
    }

    async fn line(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(end) = self.buffer.find("\r\n") {
                let line = self.buffer[..end].to_owned();
                self.buffer.drain(..end + 2);
                return Ok(line);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        self.buffer += &self.page.next().await?;
        Ok(())
    }
}
