//! The server's end of a runner's socket, moved by a test.

use std::{
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

use gangway::remote::settings::RunnerSettings;
use gangway_core::Source;
use gangway_runner::wire::{
    Brain, ContextLimits, FromRunner, Persona, Setup, Ticket, ToRunner, What,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixListener,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use crate::support::{Gangway, eventually};

const PATIENCE: Duration = Duration::from_secs(30);

/// A socket, a ticket for it, and a folder for both.
pub struct Server {
    pub folder: TempDir,
    pub ticket: PathBuf,
    listener: UnixListener,
}

/// A runner as a process of its own, killed when dropped.
pub struct Runner(pub Child);

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Runner {
    /// Waits until it ends by itself; true when it went well.
    pub async fn ended(&mut self) -> bool {
        let ended = eventually(|| {
            let status = self.0.try_wait().unwrap();
            async move { status }
        });
        ended.await.success()
    }
}

/// One connection of a runner.
pub struct Connection {
    input: Lines<BufReader<OwnedReadHalf>>,
    output: OwnedWriteHalf,
    pub pid: u32,
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
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        Self {
            listener: UnixListener::bind(socket).unwrap(),
            ticket,
            folder,
        }
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the binary without a terminal.
    pub fn run(&self) -> Runner {
        let mut command = Gangway::command(&self.data());
        command.args(["agent", "--ticket"]).arg(&self.ticket);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Runner(command.stderr(Stdio::null()).spawn().unwrap())
    }

    /// What the runner is to be.
    pub fn setup(&self, brain: Brain, settings: &RunnerSettings) -> Setup {
        Setup {
            project: "p".into(),
            folder: self.project(),
            persona: Persona {
                slug: "helper".into(),
                skill: "You help.".into(),
                experience: None,
            },
            guardrails: None,
            context: ContextLimits::default(),
            brain,
            model: None,
            mcp_servers: None,
            settings: settings.to_json().unwrap(),
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
            pid: 0,
        };
        match connection.line().await {
            FromRunner::Hello { pid, .. } => connection.pid = pid,
            other => panic!("{other:?}"),
        }
        connection
    }

    /// Takes the first connection and brings the agent up.
    pub async fn ready(&self, setup: Setup) -> Connection {
        let mut connection = self.accept().await;
        connection.welcome(Some(setup), 0, None).await;
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

    /// What happens in a turn up to its end.
    pub async fn turn(&mut self, turn: u64) -> Vec<What> {
        let mut all = Vec::new();
        loop {
            match self.line().await {
                FromRunner::Said { turn: of, what, .. } => {
                    assert_eq!(of, turn);
                    let over = matches!(what, What::Done { .. } | What::Failed { .. });
                    all.push(what);
                    if over {
                        return all;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// A message and the words of its answer.
    pub async fn ask(&mut self, turn: u64, text: &str) -> String {
        self.prompt(turn, text).await;
        words(&self.turn(turn).await)
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
