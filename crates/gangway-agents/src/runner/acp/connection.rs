//! A running agent that speaks the Agent Client Protocol: its process, and what it says in order.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use agent_client_protocol::{
    Agent, Client, ErrorCode, Lines, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder,
        schema::{
            CancelNotification, ContentBlock, Implementation, InitializeRequest, NewSessionRequest,
            PromptRequest, PromptResponse, RequestPermissionRequest, RequestPermissionResponse,
            SessionId, SessionNotification, SessionUpdate,
        },
    },
};
use futures_util::{sink, stream};
use gangway_mcp::ServerSpec;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    super::child::{LastWords, Program},
    servers::told,
};

/// The longest line of an agent: the contents of a file fit in.
const LINE_BYTES: usize = 32 << 20;

/// How long an agent may take to start; whoever made it has less patience as a rule.
const START_WITHIN: Duration = Duration::from_secs(120);

/// How long after a failed request it may turn out that the agent is gone.
const MOMENT: Duration = Duration::from_millis(200);

/// What happens on a connection.
pub(super) enum Happened {
    /// Something in the session.
    Update(Box<SessionUpdate>),
    /// The person is to decide.
    Permission(Box<RequestPermissionRequest>, Permit),
    /// The answer to a prompt is over.
    Over(Result<PromptResponse, agent_client_protocol::Error>),
    /// The agent hung up.
    Gone,
}

/// Where a decision goes.
pub(super) type Permit = Responder<RequestPermissionResponse>;

/// A running agent with one session.
pub(super) struct Connection {
    program: Option<Program>,
    to: ConnectionTo<Agent>,
    session: SessionId,
    happens: mpsc::Sender<Happened>,
    /// What it says, in order; the end of it is the end of the agent.
    pub(super) happened: mpsc::Receiver<Happened>,
    /// Cancelled once the agent's output has ended.
    hung_up: CancellationToken,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connection {
    /// Starts an agent and opens a session in a folder.
    pub(super) async fn open(
        command: &[String],
        env: &BTreeMap<String, String>,
        folder: &Path,
        guard: &[OsString],
        servers: Vec<ServerSpec>,
    ) -> Result<Self, String> {
        let (mut program, stdin, stdout) = Program::start(command, env, folder, guard)?;
        let (happens, happened) = mpsc::channel(256);
        let (opened, opening) = oneshot::channel();
        let hung_up = CancellationToken::new();
        let output = Output {
            input: BufReader::new(stdout),
            words: program.last_words.clone(),
            end: hung_up.clone().drop_guard(),
        };
        let place = (folder.to_owned(), servers);
        let over = hung_up.clone();
        let task = tokio::spawn(speak(stdin, output, over, place, happens.clone(), opened));
        let name = command.join(" ");
        let failed = match tokio::time::timeout(START_WITHIN, opening).await {
            Ok(Ok(Ok((to, session)))) => {
                return Ok(Self {
                    program: Some(program),
                    to,
                    session,
                    happens,
                    happened,
                    hung_up,
                    task,
                });
            }
            Ok(Ok(Err(error))) if !hung_up.is_cancelled() => {
                let words = program.last_words.text();
                let words = if words.is_empty() {
                    words
                } else {
                    format!(" It said last:\n{words}")
                };
                format!(
                    "the agent `{name}` did not open a session: {}.{words}",
                    explained(&error)
                )
            }
            Ok(_) => format!(
                "the agent `{name}` is gone before it was ready: {}",
                program.told().await
            ),
            Err(_) => format!(
                "the agent `{name}` did not answer within {} seconds; is it one that speaks the Agent Client Protocol on its standard input?",
                START_WITHIN.as_secs()
            ),
        };
        task.abort();
        program.end().await;
        Err(failed)
    }

    /// Sends a prompt; how it ends comes after everything that it brings about.
    pub(super) fn prompt(&self, blocks: Vec<ContentBlock>) -> Result<(), String> {
        let request = PromptRequest::new(self.session.clone(), blocks);
        let happens = self.happens.clone();
        let sent = self
            .to
            .prepare_request(request)
            .on_receiving_result(async move |over| {
                let _ = happens.send(Happened::Over(over)).await;
                Ok(())
            });
        sent.map_err(|error| error.to_string())
    }

    /// Asks the agent to stop what it does.
    pub(super) fn cancel(&self) {
        // It fails only when the agent is gone.
        let _ = self
            .to
            .send_notification(CancelNotification::new(self.session.clone()));
    }

    /// Whether nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.hung_up.is_cancelled() || self.task.is_finished()
    }

    /// The same, within a moment: what fails because an agent is gone is told before that.
    pub(super) async fn is_ending(&self) -> bool {
        let hung_up = self.hung_up.cancelled();
        tokio::time::timeout(MOMENT, hung_up).await.is_ok() || self.is_over()
    }

    /// How it ended and what it said last.
    pub(super) async fn told(&mut self) -> String {
        match &mut self.program {
            Some(program) => program.told().await,
            None => String::new(),
        }
    }

    /// Hangs up and ends the process.
    pub(super) async fn close(mut self) {
        self.task.abort();
        if let Some(program) = self.program.take() {
            program.end().await;
        }
    }
}

/// Runs the connection until the agent or its owner is gone.
async fn speak(
    stdin: ChildStdin,
    output: Output,
    over: CancellationToken,
    place: (PathBuf, Vec<ServerSpec>),
    happens: mpsc::Sender<Happened>,
    opened: oneshot::Sender<Result<(ConnectionTo<Agent>, SessionId), agent_client_protocol::Error>>,
) {
    let outgoing = sink::unfold(stdin, async |mut stdin: ChildStdin, line: String| {
        stdin.write_all(line.as_bytes()).await?;
        stdin.write_all(b"\n").await?;
        stdin.flush().await?;
        Ok::<_, std::io::Error>(stdin)
    });
    let transport = Lines::new(Box::pin(outgoing), Box::pin(lines(output)));
    let (updates, permissions) = (happens.clone(), happens.clone());
    let connected = Client
        .v1()
        .name("gangway")
        .on_receive_notification(
            async move |note: SessionNotification, _| {
                let _ = updates.send(Happened::Update(Box::new(note.update))).await;
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, permit: Permit, _| {
                let asked = Happened::Permission(Box::new(request), permit);
                let _ = permissions.send(asked).await;
                Ok(())
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |to: ConnectionTo<Agent>| {
            let session = greet(&to, place).await;
            let failed = session.is_err();
            let _ = opened.send(session.map(|session| (to, session)));
            if !failed {
                over.cancelled().await;
            }
            Ok(())
        });
    let _ = connected.await;
    let _ = happens.send(Happened::Gone).await;
}

async fn greet(
    to: &ConnectionTo<Agent>,
    (folder, servers): (PathBuf, Vec<ServerSpec>),
) -> Result<SessionId, agent_client_protocol::Error> {
    let own = Implementation::new("gangway", env!("CARGO_PKG_VERSION"));
    let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(own);
    let able = to.send_request(hello).block_task().await?;
    let servers = told(servers, &able.agent_capabilities.mcp_capabilities);
    let session = to.send_request(NewSessionRequest::new(folder).mcp_servers(servers));
    Ok(session.block_task().await?.session_id)
}

/// The standard output of an agent.
struct Output {
    input: BufReader<ChildStdout>,
    words: LastWords,
    /// Tells when it has ended.
    end: DropGuard,
}

impl Output {
    /// The next line, however little sense it makes; nothing at the end.
    async fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let part = self.input.fill_buf().await.ok()?;
            if part.is_empty() {
                return None;
            }
            let end = part.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(part.len(), |at| at + 1);
            if line.len() + taken > LINE_BYTES {
                self.words.add(b"(a line that was too long)");
                return None;
            }
            line.extend_from_slice(&part[..taken]);
            self.input.consume(taken);
            if end.is_some() {
                return Some(line);
            }
        }
    }
}

/// The lines of an agent that can be messages; the others are among its last words.
fn lines(
    output: Output,
) -> impl futures_util::Stream<Item = std::io::Result<String>> + Send + 'static {
    stream::unfold(Some(output), |output| async {
        let mut output = output?;
        loop {
            let Some(line) = output.line().await else {
                drop(output.end);
                return None;
            };
            let is_object = line.trim_ascii_start().starts_with(b"{");
            match String::from_utf8(line) {
                Ok(text) if is_object && serde_json::from_str::<Object>(&text).is_ok() => {
                    return Some((Ok(text.trim().to_owned()), Some(output)));
                }
                Ok(text) => output.words.add(text.as_bytes()),
                Err(error) => output.words.add(error.as_bytes()),
            }
        }
    })
}

/// Whatever is well-formed.
type Object = serde::de::IgnoredAny;

/// An error of an agent in words that say what to do.
pub(super) fn explained(error: &agent_client_protocol::Error) -> String {
    if error.code == ErrorCode::AUTH_REQUIRED {
        return "it wants somebody to log in first; start it once in a terminal and log in there"
            .to_owned();
    }
    let data = error
        .data
        .as_ref()
        .map(|data| match data {
            serde_json::Value::String(text) => format!(": {text}"),
            other => format!(": {other}"),
        })
        .unwrap_or_default();
    super::super::mind::cut(&format!("{}{data}", error.message), 2000)
}
