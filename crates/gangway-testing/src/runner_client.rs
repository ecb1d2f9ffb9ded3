//! A runner that the test plays itself, line by line on the real socket: for what a real one says seldom, or never should.

use std::path::Path;

use futures_util::{SinkExt, StreamExt};
use gangway_runner::wire::{FromRunner, Ticket, ToRunner, TurnEvent};
use tokio::net::UnixStream;
use tokio_util::codec::{Framed, LinesCodec};

use crate::eventually;

/// What stands in tmux in the place of the runner, and does nothing.
pub const NOBODY: &str = "sleep 60";

/// A runner with a connection.
pub struct Runner {
    wire: Framed<UnixStream, LinesCodec>,
    /// The number of its last event.
    pub said: u64,
}

impl Runner {
    /// Finds the ticket of the only agent of a data folder.
    pub async fn ticket(data: &Path) -> Ticket {
        let agents = data.join("agents");
        eventually(|| async {
            let entries = std::fs::read_dir(&agents).ok()?.flatten();
            let mut tickets = entries.map(|entry| entry.path().join("ticket.json"));
            let ticket = tickets.find_map(|file| std::fs::read(file).ok())?;
            serde_json::from_slice(&ticket).ok()
        })
        .await
    }

    /// Connects with a ticket; returns the first line it receives.
    pub async fn come(ticket: &Ticket, fresh: bool) -> (Self, Option<ToRunner>) {
        Self::come_as(ticket, fresh, None).await
    }

    /// The same as a runner that knows page tools, with this number of the connection.
    pub async fn come_as(
        ticket: &Ticket,
        fresh: bool,
        connection: Option<u64>,
    ) -> (Self, Option<ToRunner>) {
        // A server that just started may not listen yet.
        let stream = eventually(|| async { UnixStream::connect(&ticket.socket).await.ok() }).await;
        let mut runner = Self {
            wire: Framed::new(stream, LinesCodec::new()),
            said: 0,
        };
        let hello = FromRunner::Hello {
            agent: ticket.agent.clone(),
            token: ticket.token.clone(),
            pid: 1,
            fresh,
            connection,
        };
        runner.tell(&hello).await;
        let first = runner.receive().await;
        (runner, first)
    }

    /// Comes in, is ready, and takes its first message; the turn.
    pub async fn begin(data: &Path) -> (Self, u64) {
        Self::begin_as(data, None).await
    }

    /// The same with this number of the connection.
    pub async fn begin_as(data: &Path, connection: Option<u64>) -> (Self, u64) {
        let ticket = Self::ticket(data).await;
        // Its ticket is there a moment before the server knows the agent; a runner tries again, too.
        let come = || async {
            let (runner, welcome) = Self::come_as(&ticket, true, connection).await;
            welcome.map(|welcome| (runner, Some(welcome)))
        };
        let (mut runner, welcome) = eventually(come).await;
        assert!(
            matches!(welcome, Some(ToRunner::Welcome { .. })),
            "{welcome:?}"
        );
        runner.tell(&FromRunner::Ready).await;
        let turn = runner.prompted().await;
        runner.send_message(turn, TurnEvent::Taken).await;
        (runner, turn)
    }

    pub async fn prompted(&mut self) -> u64 {
        loop {
            if let ToRunner::Prompt { turn, .. } = self.receive().await.unwrap() {
                return turn;
            }
        }
    }

    pub async fn receive(&mut self) -> Option<ToRunner> {
        let line = self.wire.next().await?.ok()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub async fn tell(&mut self, line: &FromRunner) {
        let line = serde_json::to_string(line).unwrap();
        self.raw(line).await;
    }

    pub async fn raw(&mut self, line: String) {
        // It may be cut off for it.
        let _ = self.wire.send(line).await;
    }

    pub async fn send_message(&mut self, turn: u64, what: TurnEvent) {
        self.said += 1;
        let n = self.said;
        self.tell(&FromRunner::Said { n, turn, what }).await;
    }
}
