//! The server's end of a runner's socket, moved by a test.

use std::{path::PathBuf, time::Duration};

use gangway_core::Source;
use gangway_runner::{
    Pane, RunnerError,
    builtin::Workshop,
    run,
    wire::{Brain, ContextLimits, FromRunner, Persona, Setup, Ticket, ToRunner, What},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixListener,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    task::JoinHandle,
};

/// Longer than anything here takes, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A socket, a ticket for it, and a folder for both.
pub struct Server {
    pub folder: TempDir,
    pub ticket: PathBuf,
    listener: UnixListener,
}

/// A runner in this process.
pub struct Running {
    pub task: JoinHandle<Result<(), RunnerError>>,
    pub typed: mpsc::Sender<String>,
}

/// One connection of a runner.
pub struct Connection {
    input: Lines<BufReader<OwnedReadHalf>>,
    output: OwnedWriteHalf,
    pub fresh: bool,
}

impl Server {
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
        Self {
            listener: UnixListener::bind(socket).unwrap(),
            ticket,
            folder,
        }
    }

    /// Runs the agent of the ticket.
    pub fn run(&self, workshop: impl Workshop + 'static) -> Running {
        let ticket = self.ticket.clone();
        let (typed, lines) = mpsc::channel(8);
        let task = tokio::spawn(async move {
            run(
                &ticket,
                &workshop,
                Pane::none(),
                lines,
                std::future::pending(),
            )
            .await
        });
        Running { task, typed }
    }

    /// What the runner is to be.
    pub fn setup(&self, brain: Brain) -> Setup {
        Setup {
            project: "p".into(),
            folder: self.folder.path().to_owned(),
            persona: Persona {
                slug: "helper".into(),
                skill: "You help.".into(),
                experience: Some("You have helped before.".into()),
            },
            guardrails: None,
            context: ContextLimits::default(),
            brain,
            model: None,
            mcp_servers: None,
            settings: serde_json::Value::Null,
        }
    }

    /// Takes the next connection and hears its first line.
    pub async fn accept(&self) -> Connection {
        let accepting = tokio::time::timeout(PATIENCE, self.listener.accept());
        let (stream, _) = accepting.await.expect("nobody connects").unwrap();
        let (input, output) = stream.into_split();
        let mut connection = Connection {
            input: BufReader::new(input).lines(),
            output,
            fresh: false,
        };
        match connection.line().await {
            FromRunner::Hello {
                agent,
                token,
                pid,
                fresh,
            } => {
                assert_eq!((agent.as_str(), token.as_str()), ("a1", "secret"));
                assert_eq!(pid, std::process::id());
                connection.fresh = fresh;
            }
            other => panic!("{other:?}"),
        }
        connection
    }

    /// Takes the first connection and brings the agent up.
    pub async fn ready(&self, brain: Brain) -> Connection {
        let mut connection = self.accept().await;
        assert!(connection.fresh);
        connection.welcome(Some(self.setup(brain)), 0, None).await;
        assert_eq!(connection.line().await, FromRunner::Ready);
        connection
    }

    /// Takes a further connection of an agent that is up.
    pub async fn again(&self, heard: u64, turn: Option<u64>) -> Connection {
        let mut connection = self.accept().await;
        assert!(!connection.fresh);
        connection.welcome(None, heard, turn).await;
        assert_eq!(connection.line().await, FromRunner::Ready);
        connection
    }
}

impl Connection {
    pub async fn line(&mut self) -> FromRunner {
        let line = tokio::time::timeout(PATIENCE, self.input.next_line()).await;
        let line = line.expect("the runner says nothing").unwrap();
        serde_json::from_str(&line.expect("the runner hung up")).unwrap()
    }

    /// Waits until the runner hangs up.
    pub async fn ended(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.input.next_line().await {} };
        tokio::time::timeout(PATIENCE, rest)
            .await
            .expect("the runner stays");
    }

    pub async fn send(&mut self, line: ToRunner) {
        let mut text = serde_json::to_vec(&line).unwrap();
        text.push(b'\n');
        self.output.write_all(&text).await.unwrap();
    }

    pub async fn welcome(&mut self, setup: Option<Setup>, heard: u64, turn: Option<u64>) {
        let setup = setup.map(Box::new);
        self.send(ToRunner::Welcome { setup, heard, turn }).await;
    }

    pub async fn prompt(&mut self, turn: u64, text: &str) {
        let text = text.to_owned();
        self.send(ToRunner::Prompt {
            turn,
            text,
            source: Source::Person,
        })
        .await;
    }

    /// The next thing that happens in a turn.
    pub async fn said(&mut self) -> (u64, u64, What) {
        match self.line().await {
            FromRunner::Said { n, turn, what } => (n, turn, what),
            other => panic!("{other:?}"),
        }
    }

    /// What happens in a turn up to its end.
    pub async fn turn(&mut self, turn: u64) -> Vec<What> {
        let mut all = Vec::new();
        loop {
            let (_, of, what) = self.said().await;
            assert_eq!(of, turn);
            let over = matches!(what, What::Done { .. } | What::Failed { .. });
            all.push(what);
            if over {
                return all;
            }
        }
    }
}

/// The words in what happened.
pub fn words(all: &[What]) -> String {
    let words = all.iter().filter_map(|what| match what {
        What::Delta { text } => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}
