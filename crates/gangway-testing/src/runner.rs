//! The server's end of a runner's socket.

use std::{path::PathBuf, time::Duration};

use gangway_core::Source;
use gangway_runner::wire::{
    Backend, ContextLimits, FromRunner, Persona, Setup, Ticket, ToRunner, TurnEvent,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixListener,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// Longer than any step takes, also on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A socket, a ticket for it, and folders for a project and for data.
pub struct Server {
    folder: TempDir,
    /// The file with the ticket.
    pub ticket: PathBuf,
    listener: UnixListener,
}

/// One connection of a runner.
pub struct Connection {
    input: Lines<BufReader<OwnedReadHalf>>,
    output: OwnedWriteHalf,
    /// The peer process.
    pub pid: u32,
    /// Whether it waits for its setup.
    pub fresh: bool,
    /// The runner's number of the connection.
    pub number: u64,
}

impl Server {
    /// Listens for the runner of the agent `a1`.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let ticket = folder.path().join("ticket");
        let text = serde_json::to_vec(&Ticket {
            socket: socket.clone(),
            agent: "a1".into(),
            token: "secret".into(),
        });
        std::fs::write(&ticket, text.unwrap()).unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        Self {
            listener: UnixListener::bind(socket).unwrap(),
            ticket,
            folder,
        }
    }

    /// The agent's folder.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// An empty folder beside it.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The setup of the runner.
    #[must_use]
    pub fn setup(&self, backend: Backend) -> Setup {
        Setup {
            project: "p".into(),
            folder: self.project(),
            persona: Persona {
                slug: "helper".into(),
                skill: "You help.".into(),
                experience: Some("You have helped before.".into()),
            },
            guardrails: None,
            context: ContextLimits::default(),
            backend,
            model: None,
            mcp_servers: None,
            settings: serde_json::Value::Null,
        }
    }

    /// Accepts the next connection and reads its first line.
    pub async fn accept(&self) -> Connection {
        let accepting = tokio::time::timeout(TIMEOUT, self.listener.accept());
        let (stream, _) = accepting.await.expect("nobody connects").unwrap();
        let (input, output) = stream.into_split();
        let mut connection = Connection {
            input: BufReader::new(input).lines(),
            output,
            pid: 0,
            fresh: false,
            number: 0,
        };
        match connection.line().await {
            FromRunner::Hello {
                agent,
                token,
                pid,
                fresh,
                connection: number,
            } => {
                connection.number = number.unwrap_or_default();
                assert_eq!((agent.as_str(), token.as_str()), ("a1", "secret"));
                (connection.pid, connection.fresh) = (pid, fresh);
            }
            other => panic!("{other:?}"),
        }
        connection
    }

    /// Accepts the first connection and sets up the agent.
    pub async fn ready(&self, backend: Backend) -> Connection {
        self.ready_as(self.setup(backend)).await
    }

    /// The same with a custom setup.
    pub async fn ready_as(&self, setup: Setup) -> Connection {
        let mut connection = self.accept().await;
        assert!(connection.fresh);
        connection.welcome(Some(setup), 0, None).await;
        assert_eq!(connection.line().await, FromRunner::Ready);
        connection
    }

    /// Accepts another connection of an agent that is set up.
    pub async fn again(&self, received: u64, turn: Option<u64>) -> Connection {
        let mut connection = self.accept().await;
        assert!(!connection.fresh);
        connection.welcome(None, received, turn).await;
        assert_eq!(connection.line().await, FromRunner::Ready);
        connection
    }
}

impl Connection {
    /// The next line from the runner.
    pub async fn line(&mut self) -> FromRunner {
        let line = tokio::time::timeout(TIMEOUT, self.input.next_line()).await;
        let line = line.expect("the runner says nothing").unwrap();
        serde_json::from_str(&line.expect("the runner hung up")).unwrap()
    }

    /// Waits until the runner hangs up.
    pub async fn ended(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.input.next_line().await {} };
        tokio::time::timeout(TIMEOUT, rest)
            .await
            .expect("the runner stays");
    }

    /// Sends a line to the runner.
    pub async fn send(&mut self, line: ToRunner) {
        self.raw(&serde_json::to_string(&line).unwrap()).await;
    }

    /// Sends a line to the runner as it is.
    pub async fn raw(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.output.write_all(line.as_bytes()).await.unwrap();
    }

    /// Responds to the first line of a connection.
    pub async fn welcome(&mut self, setup: Option<Setup>, received: u64, turn: Option<u64>) {
        let setup = setup.map(Box::new);
        self.send(ToRunner::Welcome {
            setup,
            heard: received,
            turn,
        })
        .await;
    }

    /// Sends a user message.
    pub async fn prompt(&mut self, turn: u64, text: &str) {
        let text = text.to_owned();
        self.send(ToRunner::Prompt {
            turn,
            text,
            source: Source::Person,
        })
        .await;
    }

    /// The next event of a turn.
    pub async fn said(&mut self) -> (u64, u64, TurnEvent) {
        match self.line().await {
            FromRunner::Said { n, turn, what } => (n, turn, what),
            other => panic!("{other:?}"),
        }
    }

    /// The events of a turn up to its end.
    pub async fn turn(&mut self, turn: u64) -> Vec<TurnEvent> {
        let mut all = Vec::new();
        loop {
            let (_, of, what) = self.said().await;
            assert_eq!(of, turn);
            let over = matches!(what, TurnEvent::Done { .. } | TurnEvent::Failed { .. });
            all.push(what);
            if over {
                return all;
            }
        }
    }

    /// Sends a message and returns the text of its answer.
    pub async fn ask(&mut self, turn: u64, text: &str) -> String {
        self.prompt(turn, text).await;
        text_of(&self.turn(turn).await)
    }
}

/// The text in the events.
#[must_use]
pub fn text_of(all: &[TurnEvent]) -> String {
    let message = all.iter().filter_map(|what| match what {
        TurnEvent::Delta { text } => Some(text.as_str()),
        _ => None,
    });
    message.collect()
}
