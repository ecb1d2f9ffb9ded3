//! The socket for runners, accessible to this user only; each runner has its own token.

use std::{path::Path, sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use gangway_core::{Command, Source, WhenBusy, conversation::EntryBody as Said, secret::hash};
use gangway_http::approval::refuse_lasting;
use gangway_runner::wire::{FromRunner, LINE_BYTES, ToRunner};
use subtle::ConstantTimeEq;
use tokio::{
    net::{UnixListener, UnixStream},
    sync::Semaphore,
};
use tokio_util::codec::{Framed, LinesCodec};

use super::{
    AgentId, LiveAgent, RemoteAgents,
    channel::{Delivered, Outgoing},
};

/// Connection limit; many more than agents.
const CONNECTIONS: usize = 10_000;

/// Timeout of a runner's first message.
const HELLO: Duration = Duration::from_secs(5);

/// How long to wait for a turn that is about to read.
const TURN: Duration = Duration::from_secs(5);

type Wire = Framed<UnixStream, LinesCodec>;

impl RemoteAgents {
    /// Accepts runners until the server stops.
    pub async fn accept_runners(self: Arc<Self>) {
        let path = self.folders.runners();
        let listener = match listen(&path) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::error!(%error, path = %path.display(), "cannot open the socket for runners");
                return;
            }
        };
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a runner's connection");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = self.stop.cancelled() => return,
            };
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                continue;
            };
            let remote = Arc::clone(&self);
            self.tasks.spawn(async move {
                let stop = remote.stop.clone();
                stop.run_until_cancelled(remote.serve(stream)).await;
                drop(place);
            });
        }
    }

    async fn serve(self: &Arc<Self>, stream: UnixStream) {
        let mut wire = Framed::new(stream, LinesCodec::new_with_max_length(LINE_BYTES));
        let hello = tokio::time::timeout(HELLO, read(&mut wire)).await;
        let Ok(Some(FromRunner::Hello {
            agent,
            token,
            fresh,
            connection: number,
            ..
        })) = hello
        else {
            return;
        };
        let Some(agent) = self.admit(&agent, &token) else {
            let message = "this agent is unknown or has ended".to_owned();
            write(&mut wire, &ToRunner::Refused { message }).await;
            return;
        };
        let setup = match fresh {
            true => match self.setup(&agent).await {
                Ok(setup) => Some(Box::new(setup)),
                Err(message) => {
                    agent.channel.broken(message.clone());
                    write(&mut wire, &ToRunner::Refused { message }).await;
                    return;
                }
            },
            false => None,
        };
        let received = match self.caught_up(&agent).await {
            Ok(received) => received,
            Err(error) => {
                tracing::warn!(%error, "cannot connect a runner");
                return;
            }
        };
        let mut changes = self.pages.changes();
        changes.mark_unchanged();
        let tools = self.pages.last_tools(agent.session);
        let (connection, lines) = agent
            .channel
            .connect(number, tools, |turn| ToRunner::Welcome {
                setup,
                heard: received,
                turn,
            });
        let listing = async {
            while changes.changed().await.is_ok() {
                agent.channel.list(self.pages.last_tools(agent.session));
            }
        };
        tokio::select! {
            () = self.talk(&agent, connection, wire, lines) => {}
            // Only when the server is gone.
            () = listing => {}
        }
        agent.channel.disconnect(connection);
        if !self.stop.is_cancelled() && !agent.is_over() {
            self.missed(&agent).await;
        }
    }

    fn admit(&self, agent: &str, token: &str) -> Option<Arc<LiveAgent>> {
        let id: AgentId = agent.parse().ok()?;
        let agent = self.get(&id)?;
        let stored = agent.record().runner;
        let same = bool::from(stored.as_bytes().ct_eq(hash(token).as_bytes()));
        (same && !agent.ended.is_cancelled()).then_some(agent)
    }

    /// The number of the runner's last stored event, once the running turn reads: otherwise the runner would be told
    /// that no turn runs.
    async fn caught_up(&self, agent: &LiveAgent) -> gangway_core::Result<u64> {
        let session = self.hub.open(agent.session).await?;
        let mut status = agent.channel.status();
        let listens = async {
            while session.is_running() && !agent.channel.has_turn() {
                tokio::select! {
                    _ = status.changed() => {}
                    () = tokio::time::sleep(Duration::from_millis(20)) => {}
                }
            }
        };
        if tokio::time::timeout(TURN, listens).await.is_err() {
            // If told that no turn runs, it would abandon the running one; it reconnects.
            return Err(gangway_core::Error::SessionBusy);
        }
        session.marked().await
    }

    async fn talk(
        self: &Arc<Self>,
        agent: &Arc<LiveAgent>,
        connection: u64,
        wire: Wire,
        mut lines: tokio::sync::mpsc::Receiver<Outgoing>,
    ) {
        let (mut sink, mut source) = wire.split();
        let writing = async {
            while let Some(line) = lines.recv().await {
                let Ok(text) = serde_json::to_string(&line.message) else {
                    continue;
                };
                if sink.send(text).await.is_err() {
                    return;
                }
            }
        };
        let reading = async {
            while let Some(Ok(text)) = source.next().await {
                match serde_json::from_str(&text) {
                    Ok(line) => self.receive(agent, connection, line).await,
                    Err(error) => {
                        tracing::warn!(%error, "a runner sent an invalid message");
                        return;
                    }
                }
            }
        };
        tokio::select! {
            () = writing => {}
            () = reading => {}
        }
    }

    async fn receive(self: &Arc<Self>, agent: &Arc<LiveAgent>, connection: u64, line: FromRunner) {
        match line {
            FromRunner::Hello { .. } | FromRunner::Unknown => {}
            FromRunner::Ready => agent.channel.ready(),
            FromRunner::Broken { message } => agent.channel.broken(message),
            FromRunner::Said { n, turn, what } => {
                let over = match agent.channel.deliver(connection, n, turn, what).await {
                    Delivered::Taken | Delivered::Late => false,
                    Delivered::Over => true,
                    // Until the end of its turn is stored, it may still be needed.
                    Delivered::NoTurn => {
                        let session = self.hub.describe(agent.session).await;
                        session.is_ok_and(|(_, running)| !running)
                    }
                };
                if over {
                    agent.channel.send(ToRunner::Heard { n });
                }
            }
            FromRunner::Typed { text } => {
                if let Err(message) = self.typed(agent, text).await {
                    agent.channel.send(ToRunner::NotTyped { message });
                }
            }
        }
    }

    /// Text typed into the pane: an answer if a question is pending, otherwise a message.
    async fn typed(&self, agent: &LiveAgent, text: String) -> Result<(), String> {
        let reason = |error: gangway_core::Error| error.to_string();
        let session = self.hub.open(agent.session).await.map_err(reason)?;
        let conversation = self.conversation(agent).await.map_err(reason)?;
        let asked = conversation.entries.iter().rev().find_map(|entry| {
            let running = conversation.running.contains(&entry.turn);
            match &entry.line {
                Said::Asked {
                    question,
                    answer: None,
                    ..
                } if running => Some(question.clone()),
                _ => None,
            }
        });
        let command = match asked {
            Some(question) if question.is_about_call() => {
                // The agent's own process could type it.
                let message = "a call of a page's tool waits for approval; answer in the chat";
                return Err(message.to_owned());
            }
            Some(question) => {
                // The agent's own process could type it.
                refuse_lasting(&text).map_err(|error| error.message)?;
                Command::Answer { question, text }
            }
            None => Command::Prompt {
                prompt: text,
                source: Source::Person,
                shown: true,
                when_busy: WhenBusy::Queue,
            },
        };
        session.submit(command).await.map(|_| ()).map_err(reason)
    }
}

fn listen(path: &Path) -> std::io::Result<UnixListener> {
    // A leftover of a crash; the data folder is locked, so nothing listens there.
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path)?;
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, private)?;
    Ok(listener)
}

async fn read(wire: &mut Wire) -> Option<FromRunner> {
    let text = wire.next().await?.ok()?;
    serde_json::from_str(&text).ok()
}

async fn write(wire: &mut Wire, line: &ToRunner) {
    if let Ok(text) = serde_json::to_string(line) {
        let _ = wire.send(text).await;
    }
}
