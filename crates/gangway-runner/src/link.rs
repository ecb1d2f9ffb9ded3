//! The connection of a runner to its server: reconnects for as long as the runner has its ticket.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader, BufWriter},
    net::UnixStream,
    sync::{mpsc, oneshot, watch},
};

use super::{
    outbox::Outbox,
    wire::{FromRunner, LINE_BYTES, Ticket, ToRunner},
};

/// The first pause before a reconnect, doubled for each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How often the ticket file is checked.
const LOOK: Duration = Duration::from_secs(3);

/// The handshake timeout.
const GREETING: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) enum LinkEvent {
    Line(ToRunner),
    Away,
    /// The ticket is gone, so the runner ends.
    Gone(String),
}

/// A message outside of turns, and a signal for when it was sent.
pub(super) type OutOfTurn = (FromRunner, Option<oneshot::Sender<()>>);

/// The runner's end of a link.
pub(super) struct Link {
    pub(super) heard: mpsc::Receiver<LinkEvent>,
    /// Messages outside of turns.
    pub(super) asides: mpsc::Sender<OutOfTurn>,
    /// Whether the executor is ready, which is sent at the start of each connection.
    pub(super) ready: watch::Sender<bool>,
    /// Whether the setup is still needed.
    pub(super) fresh: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct LinkTask {
    file: PathBuf,
    outbox: Arc<Outbox>,
    heard: mpsc::Sender<LinkEvent>,
    asides: mpsc::Receiver<OutOfTurn>,
    /// An aside that was not sent when a connection broke.
    pending: Option<OutOfTurn>,
    ready: watch::Receiver<bool>,
    fresh: watch::Receiver<bool>,
    /// How many there have been.
    connections: u64,
}

enum Disconnect {
    /// Reconnect.
    Again,
    /// It was established; reconnect at once.
    AfterWelcome,
    /// The runner is gone.
    Over,
}

impl Link {
    /// Connects with the ticket in this file, again and again.
    pub(super) fn open(file: &Path, outbox: Arc<Outbox>) -> Self {
        let (heard_in, received) = mpsc::channel(64);
        let (asides, asides_out) = mpsc::channel(32);
        let (ready, ready_out) = watch::channel(false);
        let (fresh, fresh_out) = watch::channel(true);
        let line = LinkTask {
            file: file.to_owned(),
            outbox,
            heard: heard_in,
            asides: asides_out,
            pending: None,
            ready: ready_out,
            fresh: fresh_out,
            connections: 0,
        };
        Self {
            heard: received,
            asides,
            ready,
            fresh,
            task: tokio::spawn(line.keep()),
        }
    }
}

impl LinkTask {
    async fn keep(mut self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let ticket = match read_ticket(&self.file).await {
                Ok(ticket) => ticket,
                Err(why) => {
                    let _ = self.heard.send(LinkEvent::Gone(why)).await;
                    return;
                }
            };
            match self.connect(&ticket).await {
                Disconnect::Over => return,
                Disconnect::AfterWelcome => {
                    pause = FIRST_PAUSE;
                    if self.heard.send(LinkEvent::Away).await.is_err() {
                        return;
                    }
                }
                Disconnect::Again => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn connect(&mut self, ticket: &Ticket) -> Disconnect {
        let Ok(stream) = UnixStream::connect(&ticket.socket).await else {
            return Disconnect::Again;
        };
        let (input, output) = stream.into_split();
        let (mut input, mut output) = (BufReader::new(input), BufWriter::new(output));
        self.connections += 1;
        let hello = FromRunner::Hello {
            agent: ticket.agent.clone(),
            token: ticket.token.clone(),
            pid: std::process::id(),
            fresh: *self.fresh.borrow(),
            connection: Some(self.connections),
        };
        let greeting = async {
            write(&mut output, &hello).await?;
            output.flush().await?;
            read(&mut input).await
        };
        let Ok(Ok(Some(first))) = tokio::time::timeout(GREETING, greeting).await else {
            return Disconnect::Again;
        };
        let received = match &first {
            ToRunner::Welcome {
                heard: received, ..
            } => *received,
            ToRunner::Refused { .. } | ToRunner::End => {
                let _ = self.heard.send(LinkEvent::Line(first)).await;
                return Disconnect::Over;
            }
            _ => return Disconnect::Again,
        };
        self.outbox.acknowledge(received);
        if self.heard.send(LinkEvent::Line(first)).await.is_err() {
            return Disconnect::Over;
        }
        let (file, message, outbox) = (&self.file, &self.heard, &self.outbox);
        let listening = listen(&mut input, message, outbox);
        let speaking = run_connection(
            &mut output,
            received,
            outbox,
            &mut self.asides,
            &mut self.pending,
            &mut self.ready,
        );
        tokio::select! {
            over = listening => if over { Disconnect::Over } else { Disconnect::AfterWelcome },
            // The server's last message may say why it closed.
            () = speaking => Disconnect::AfterWelcome,
            why = gone(file) => {
                let _ = self.heard.send(LinkEvent::Gone(why)).await;
                Disconnect::Over
            }
        }
    }
}

/// Passes on the server's messages; true when the runner is gone.
async fn listen(
    input: &mut (impl AsyncBufRead + Unpin),
    message: &mpsc::Sender<LinkEvent>,
    outbox: &Outbox,
) -> bool {
    loop {
        match read(input).await {
            Ok(Some(ToRunner::Heard { n })) => outbox.acknowledge(n),
            Ok(Some(line)) => {
                if message.send(LinkEvent::Line(line)).await.is_err() {
                    return true;
                }
            }
            Ok(None) | Err(_) => return false,
        }
    }
}

/// Sends messages until the connection breaks.
async fn run_connection(
    output: &mut (impl AsyncWrite + Unpin),
    mut message: u64,
    outbox: &Outbox,
    asides: &mut mpsc::Receiver<OutOfTurn>,
    pending: &mut Option<OutOfTurn>,
    ready: &mut watch::Receiver<bool>,
) {
    let mut told_ready = false;
    loop {
        if !told_ready && *ready.borrow_and_update() {
            if write(output, &FromRunner::Ready).await.is_err() {
                return;
            }
            told_ready = true;
        }
        if let Some((line, _)) = &*pending {
            if write(output, line).await.is_err() || output.flush().await.is_err() {
                return;
            }
            if let Some((_, Some(done))) = pending.take() {
                let _ = done.send(());
            }
        }
        while let Some((n, line)) = outbox.after(message) {
            if write(output, &line).await.is_err() {
                return;
            }
            message = n;
        }
        if output.flush().await.is_err() {
            return;
        }
        tokio::select! {
            () = outbox.more(message) => {}
            Some(aside) = asides.recv() => *pending = Some(aside),
            Ok(()) = ready.changed(), if !told_ready => {}
        }
    }
}

/// Waits until the ticket is gone.
async fn gone(file: &Path) -> String {
    loop {
        tokio::time::sleep(LOOK).await;
        if let Ok(false) = tokio::fs::try_exists(file).await {
            return missing(file);
        }
    }
}

fn missing(file: &Path) -> String {
    format!(
        "the ticket {} is gone, so this agent has ended",
        file.display()
    )
}

async fn read_ticket(file: &Path) -> Result<Ticket, String> {
    let text = tokio::fs::read(file).await;
    let text = text.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(file),
        _ => format!("the ticket {} cannot be read: {error}", file.display()),
    })?;
    serde_json::from_slice(&text).map_err(|_| {
        format!(
            "{} is not a ticket; the server creates it when it starts the agent",
            file.display()
        )
    })
}

pub(super) async fn write(
    output: &mut (impl AsyncWrite + Unpin),
    line: &FromRunner,
) -> std::io::Result<()> {
    let mut json = serde_json::to_vec(line)?;
    json.push(b'\n');
    output.write_all(&json).await
}

/// Reads one line; `None` at the end.
async fn read(input: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Option<ToRunner>> {
    let mut line = Vec::new();
    loop {
        let part = input.fill_buf().await?;
        if part.is_empty() {
            return Ok(None);
        }
        let end = part.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(part.len(), |at| at + 1);
        if line.len() + taken > LINE_BYTES {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        line.extend_from_slice(&part[..taken]);
        input.consume(taken);
        if end.is_some() {
            return Ok(Some(serde_json::from_slice(&line)?));
        }
    }
}
