//! A running ACP agent: its process, and its messages in order.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Duration};

use agent_client_protocol::{
    Agent, Client, ErrorCode, Lines, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder,
        schema::{
            CancelNotification, ContentBlock, Implementation, InitializeRequest,
            LoadSessionRequest, NewSessionRequest, PromptRequest, PromptResponse,
            RequestPermissionRequest, RequestPermissionResponse, SessionId, SessionNotification,
            SessionUpdate,
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
    super::child::{Program, StderrTail},
    servers::{of_pages, supported},
};

/// The longest line: the contents of a file fit in.
const LINE_BYTES: usize = 32 << 20;

/// How long an agent may take to start; the server's own timeout is usually shorter.
const START_WITHIN: Duration = Duration::from_secs(120);

/// How long after a failed request the agent's exit may be noticed.
const MOMENT: Duration = Duration::from_millis(200);

pub(super) enum AcpEvent {
    Update(Box<SessionUpdate>),
    /// The user must decide.
    Permission(Box<RequestPermissionRequest>, Permit),
    /// The prompt has ended.
    Over(Result<PromptResponse, agent_client_protocol::Error>),
    Gone,
}

pub(super) type Permit = Responder<RequestPermissionResponse>;

/// A running agent with one session.
pub(super) struct Connection {
    program: Option<Program>,
    to: ConnectionTo<Agent>,
    session: SessionId,
    /// Whether an earlier session was loaded.
    resumed: bool,
    happens: mpsc::Sender<AcpEvent>,
    /// Its events in order; closed when the agent has ended.
    pub(super) happened: mpsc::Receiver<AcpEvent>,
    /// Cancelled when the agent's output has ended.
    hung_up: CancellationToken,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) struct SessionSetup {
    pub(super) folder: PathBuf,
    pub(super) servers: Vec<ServerSpec>,
    /// The command of the server with the tools of open pages.
    pub(super) pages: Option<Vec<OsString>>,
    /// The earlier session, loaded if the agent supports it.
    pub(super) session: Option<SessionId>,
}

struct AcpSession {
    to: ConnectionTo<Agent>,
    session: SessionId,
    resumed: bool,
}

struct OpenError {
    error: agent_client_protocol::Error,
    /// The login methods of the agent.
    logins: Vec<String>,
}

impl Connection {
    /// Starts an agent and opens a session in a folder.
    pub(super) async fn open(
        command: &[String],
        env: &BTreeMap<String, String>,
        guard: &[OsString],
        place: SessionSetup,
    ) -> Result<Self, String> {
        let (mut program, stdin, stdout) = Program::start(command, env, &place.folder, guard)?;
        let (happens, mut happened) = mpsc::channel(256);
        let (opened, opening) = oneshot::channel();
        let hung_up = CancellationToken::new();
        let output = AgentOutput {
            input: BufReader::new(stdout),
            stderr: program.last_words.clone(),
            end: hung_up.clone().drop_guard(),
        };
        let over = hung_up.clone();
        let task = tokio::spawn(run_connection(
            stdin,
            output,
            over,
            place,
            happens.clone(),
            opened,
        ));
        let name = command.join(" ");
        // The replayed history of a loaded session is dropped.
        let opening = async {
            tokio::pin!(opening);
            loop {
                tokio::select! {
                    opened = &mut opening => return opened,
                    Some(_) = happened.recv() => {}
                }
            }
        };
        let failed = match tokio::time::timeout(START_WITHIN, opening).await {
            Ok(Ok(Ok(opened))) => {
                return Ok(Self {
                    program: Some(program),
                    to: opened.to,
                    session: opened.session,
                    resumed: opened.resumed,
                    happens,
                    happened,
                    hung_up,
                    task,
                });
            }
            Ok(Ok(Err(OpenError { error, logins }))) if !hung_up.is_cancelled() => {
                let stderr = program.last_words.text();
                let stderr = if stderr.is_empty() {
                    stderr
                } else {
                    format!("  Its last output:\n{stderr}")
                };
                format!(
                    "the agent `{name}` did not open a session: {}{}.{stderr}",
                    explained(&error),
                    offered(&error, &logins)
                )
            }
            Ok(_) => format!(
                "the agent `{name}` exited before it was ready: {}",
                program.exit_message().await
            ),
            Err(_) => format!(
                "the agent `{name}` did not answer within {} seconds; does it support the Agent Client Protocol over stdio?",
                START_WITHIN.as_secs()
            ),
        };
        task.abort();
        program.end().await;
        Err(failed)
    }

    /// Sends a prompt; its end comes after all its events.
    pub(super) fn prompt(&self, blocks: Vec<ContentBlock>) -> Result<(), String> {
        let request = PromptRequest::new(self.session.clone(), blocks);
        let happens = self.happens.clone();
        let sent = self
            .to
            .prepare_request(request)
            .on_receiving_result(async move |over| {
                let _ = happens.send(AcpEvent::Over(over)).await;
                Ok(())
            });
        sent.map_err(|error| error.to_string())
    }

    pub(super) fn session(&self) -> SessionId {
        self.session.clone()
    }

    pub(super) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Cancels the prompt.
    pub(super) fn cancel(&self) {
        // Fails only when the agent is gone.
        let _ = self
            .to
            .send_notification(CancelNotification::new(self.session.clone()));
    }

    /// Whether the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.hung_up.is_cancelled() || self.task.is_finished()
    }

    /// The same after a moment: a request that fails because an agent exits fails before that is noticed.
    pub(super) async fn is_ending(&self) -> bool {
        let hung_up = self.hung_up.cancelled();
        tokio::time::timeout(MOMENT, hung_up).await.is_ok() || self.is_over()
    }

    /// How it ended, with its last output.
    pub(super) async fn exit_message(&mut self) -> String {
        match &mut self.program {
            Some(program) => program.exit_message().await,
            None => String::new(),
        }
    }

    /// Closes the connection and ends the process.
    pub(super) async fn close(mut self) {
        self.task.abort();
        if let Some(program) = self.program.take() {
            program.end().await;
        }
    }
}

/// Runs the connection until the agent or its owner is gone.
async fn run_connection(
    stdin: ChildStdin,
    output: AgentOutput,
    over: CancellationToken,
    place: SessionSetup,
    happens: mpsc::Sender<AcpEvent>,
    opened: oneshot::Sender<Result<AcpSession, OpenError>>,
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
                let _ = updates.send(AcpEvent::Update(Box::new(note.update))).await;
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, permit: Permit, _| {
                let asked = AcpEvent::Permission(Box::new(request), permit);
                let _ = permissions.send(asked).await;
                Ok(())
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |to: ConnectionTo<Agent>| {
            let session = greet(to, place).await;
            let failed = session.is_err();
            let _ = opened.send(session);
            if !failed {
                over.cancelled().await;
            }
            Ok(())
        });
    let _ = connected.await;
    let _ = happens.send(AcpEvent::Gone).await;
}

async fn greet(to: ConnectionTo<Agent>, place: SessionSetup) -> Result<AcpSession, OpenError> {
    let own = Implementation::new("gangway", env!("CARGO_PKG_VERSION"));
    let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(own);
    let able = to.send_request(hello).block_task().await;
    let able = able.map_err(|error| OpenError {
        error,
        logins: Vec::new(),
    })?;
    let logins = able.auth_methods.iter();
    let logins = logins.map(|method| method.name().to_owned()).collect();
    let mut servers = supported(place.servers, &able.agent_capabilities.mcp_capabilities);
    let pages = place.pages.and_then(|command| of_pages(command, &servers));
    servers.extend(pages);
    if let Some(session) = place
        .session
        .filter(|_| able.agent_capabilities.load_session)
    {
        let load = LoadSessionRequest::new(session.clone(), place.folder.clone());
        let loaded = to.send_request(load.mcp_servers(servers.clone()));
        // A session that the agent no longer has is not an error.
        if loaded.block_task().await.is_ok() {
            return Ok(AcpSession {
                to,
                session,
                resumed: true,
            });
        }
    }
    let new = NewSessionRequest::new(place.folder).mcp_servers(servers);
    match to.send_request(new).block_task().await {
        Ok(new) => Ok(AcpSession {
            to,
            session: new.session_id,
            resumed: false,
        }),
        Err(error) => Err(OpenError { error, logins }),
    }
}

/// The login methods, if one is required.
fn offered(error: &agent_client_protocol::Error, logins: &[String]) -> String {
    match error.code == ErrorCode::AUTH_REQUIRED && !logins.is_empty() {
        true => {
            super::super::executor::cut(&format!(" (login methods: {})", logins.join(", ")), 500)
        }
        false => String::new(),
    }
}

/// The standard output of an agent.
struct AgentOutput {
    input: BufReader<ChildStdout>,
    stderr: StderrTail,
    /// Signals its end.
    end: DropGuard,
}

impl AgentOutput {
    /// The next line, valid or not; `None` at the end.
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
                self.stderr.add(b"(a line that was too long)");
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

/// The lines that can be messages; others become part of its last output.
fn lines(
    output: AgentOutput,
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
                Ok(text) => output.stderr.add(text.as_bytes()),
                Err(error) => output.stderr.add(error.as_bytes()),
            }
        }
    })
}

/// Any valid JSON object.
type Object = serde::de::IgnoredAny;

/// An error of an agent, with what to do.
pub(super) fn explained(error: &agent_client_protocol::Error) -> String {
    if error.code == ErrorCode::AUTH_REQUIRED {
        return "it requires a login; start it once in a terminal and log in there".to_owned();
    }
    let data = error
        .data
        .as_ref()
        .map(|data| match data {
            serde_json::Value::String(text) => format!(": {text}"),
            other => format!(": {other}"),
        })
        .unwrap_or_default();
    super::super::executor::cut(&format!("{}{data}", error.message), 2000)
}
