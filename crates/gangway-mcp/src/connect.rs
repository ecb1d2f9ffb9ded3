//! Connects to a server, in any revision of the protocol.

use std::{sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleClient,
    model::{ProtocolVersion, ServerPeerInfo},
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService,
        RunningServiceCancellationToken, ServiceError,
    },
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    handler::Handler,
    http::HttpError,
    journal::{Journal, Source, cut},
    ordered::Ordered,
    pipe::Pipe,
    process::{Launch, Process},
    remote::Remote,
    spec::{ServerSpec, Settings, Transport},
};

pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) info: Option<Arc<ServerPeerInfo>>,
    pub(crate) handler: Arc<Handler>,
    /// Cancelled when the connection has ended.
    pub(crate) gone: CancellationToken,
    pub(crate) process: Option<Process>,
    /// Whether an OAuth token is sent.
    pub(crate) logged_in: bool,
    stop: Option<RunningServiceCancellationToken>,
}

/// The handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hello {
    /// `server/discover` first, then the older handshake if the server refuses.
    Either,
    /// The handshake used until the end of 2025.
    Old,
}

impl Hello {
    pub(crate) fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Either => ClientLifecycleMode::Auto {
                preferred_versions: ProtocolVersion::KNOWN_VERSIONS
                    .iter()
                    .rev()
                    .cloned()
                    .collect(),
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Self::Old => ClientLifecycleMode::Initialize,
        }
    }
}

pub(crate) type Running = RunningService<RoleClient, Arc<Handler>>;

impl Connection {
    /// Connects. A server that answers the first request with anything but a proper refusal, or not at all, is tried
    /// again with the older handshake on a new connection.
    pub(crate) async fn open(
        spec: &ServerSpec,
        settings: &Settings,
        journal: &Arc<Journal>,
        handler: Arc<Handler>,
    ) -> Result<Self, NoConnection> {
        match &spec.transport {
            Transport::Stdio { .. } => {
                let mut reason = String::new();
                // The full timeout each time: a server that still downloads itself is slow, not old.
                let limit = settings.start_timeout;
                for hello in [Hello::Either, Hello::Old] {
                    match child(spec, settings, journal, handler.clone(), hello, limit).await {
                        Ok(connection) => return Ok(connection),
                        Err(Failed::Start(reason)) => return Err(reason.into()),
                        Err(Failed::Hello(why)) => reason = why,
                        Err(Failed::Login(challenge)) => {
                            return Err(NoConnection::Login(challenge));
                        }
                    }
                }
                Err(reason.into())
            }
            Transport::Http {
                url,
                headers,
                policy,
            } => {
                let remote = Remote::new(spec, url, headers, *policy, settings)?;
                let limits = [
                    (Hello::Either, settings.start_timeout * 3 / 4),
                    (Hello::Old, settings.start_timeout / 4),
                ];
                let mut reason = String::new();
                for (hello, limit) in limits {
                    match remote.streamable(handler.clone(), hello, limit).await {
                        Ok(connection) => return Ok(connection),
                        Err(Failed::Start(reason)) => return Err(reason.into()),
                        Err(Failed::Hello(why)) => reason = why,
                        Err(Failed::Login(challenge)) => {
                            return Err(NoConnection::Login(challenge));
                        }
                    }
                }
                let older = remote.events(handler, settings.start_timeout / 4).await;
                // The error of the current handshake is the useful one.
                older.map_err(|_| reason.into())
            }
        }
    }

    pub(crate) fn new(running: Running, gone: CancellationToken, process: Option<Process>) -> Self {
        let peer = running.peer().clone();
        let connection = Self {
            info: peer.peer_info(),
            handler: running.service().clone(),
            stop: Some(running.cancellation_token()),
            gone: gone.clone(),
            process,
            logged_in: false,
            peer,
        };
        tokio::spawn(async move {
            let _ = running.waiting().await;
            gone.cancel();
        });
        connection
    }

    /// Closes it, and the child with it. Returns how the child ended.
    pub(crate) async fn close(mut self, grace: Duration) -> Option<String> {
        self.gone.cancel();
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
        match self.process.take() {
            Some(process) => Some(process.end(grace).await),
            None => None,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.gone.cancel();
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
    }
}

pub(crate) enum NoConnection {
    Failed(String),
    /// It needs a login; with its `WWW-Authenticate` header.
    Login(Option<String>),
}

impl From<String> for NoConnection {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

pub(crate) enum Failed {
    /// It did not start: the other handshake will not help.
    Start(String),
    /// The handshake failed.
    Hello(String),
    Login(Option<String>),
}

async fn child(
    spec: &ServerSpec,
    settings: &Settings,
    journal: &Arc<Journal>,
    handler: Arc<Handler>,
    hello: Hello,
    limit: Duration,
) -> Result<Connection, Failed> {
    let Transport::Stdio {
        command,
        args,
        env,
        cwd,
    } = &spec.transport
    else {
        return Err(Failed::Start("it is not a child process".to_owned()));
    };
    let launch = Launch {
        command,
        args,
        env,
        cwd: cwd.as_deref(),
        guard: settings.guard.as_deref(),
        path: settings.path.as_deref(),
    };
    let before = journal.after(0).last().map_or(0, |line| line.number);
    let (process, stdin, stdout) =
        Process::start(&launch, journal.clone()).map_err(Failed::Start)?;
    let gone = CancellationToken::new();
    let mut pipe = Pipe::new(
        stdin,
        stdout,
        settings.max_message_bytes,
        journal.clone(),
        gone.clone(),
    );
    let deadline = Instant::now() + limit;
    let awake = match hello {
        Hello::Either => tokio::time::timeout_at(deadline, pipe.answers()).await,
        Hello::Old => Ok(true),
    };
    let greeted = match awake {
        Ok(true) => handshake(handler, pipe, hello, deadline - Instant::now()).await,
        Ok(false) => Err("it exited before it was ready".to_owned()),
        Err(_) => Err(not_ready(limit)),
    };
    match greeted {
        Ok(running) => Ok(Connection::new(running, gone, Some(process))),
        Err(reason) => {
            // A hanging process is not waited for.
            let how = process
                .end(settings.grace.min(Duration::from_millis(300)))
                .await;
            let received = journal.after(before);
            let last = received
                .iter()
                .rev()
                .find(|line| line.source == Source::Stderr);
            let last = last.map_or(String::new(), |line| format!(": {}", cut(&line.text, 300)));
            Err(Failed::Hello(format!("{reason}; {how}{last}")))
        }
    }
}

pub(crate) async fn handshake<T>(
    handler: Arc<Handler>,
    transport: T,
    hello: Hello,
    limit: Duration,
) -> Result<Running, String>
where
    T: rmcp::transport::Transport<RoleClient> + 'static,
{
    let transport = Ordered::new(transport, handler.clone());
    let serving = handler.serve_with_lifecycle(transport, hello.mode());
    match tokio::time::timeout(limit, serving).await {
        Ok(Ok(running)) => Ok(running),
        Ok(Err(error)) => Err(describe_handshake_failure(&error)),
        Err(_) => Err(not_ready(limit)),
    }
}

pub(crate) fn not_ready(limit: Duration) -> String {
    format!("it was not ready within {} seconds", limit.as_secs_f32())
}

/// The error without the data that the server sent.
pub(crate) fn describe_handshake_failure(error: &ClientInitializeError) -> String {
    let text = match error {
        ClientInitializeError::ConnectionClosed(_) => "it exited before it was ready".to_owned(),
        ClientInitializeError::JsonRpcError(data) => {
            format!(
                "it refused the handshake: {} ({})",
                data.message, data.code.0
            )
        }
        ClientInitializeError::TransportError { error, .. } => cause(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            describe_handshake_failure(fallback)
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it supports no known version of the protocol".to_owned()
        }
        _ => "it did not answer with an MCP handshake".to_owned(),
    };
    cut(&text, 500)
}

/// The innermost cause of our own, or the whole error.
pub(crate) fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    http_error(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The server's challenge when it refused a request without a login, or with too few scopes.
pub(crate) fn challenge(error: &ServiceError) -> Option<Challenge> {
    use rmcp::transport::streamable_http_client::StreamableHttpError;
    let ServiceError::TransportSend(error) = error else {
        return None;
    };
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(current) = next {
        match current.downcast_ref::<StreamableHttpError<HttpError>>() {
            Some(StreamableHttpError::AuthRequired(wanted)) => {
                let text = wanted.www_authenticate_header.clone();
                return Some(Challenge { text, more: false });
            }
            Some(StreamableHttpError::InsufficientScope(wanted)) => {
                let text = wanted.www_authenticate_header.clone();
                return Some(Challenge { text, more: true });
            }
            _ => next = current.source(),
        }
    }
    None
}

/// The error without internal names.
pub(crate) fn describe_failure(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => cause(error.error.as_ref()),
        error => cut(&error.to_string(), 500),
    }
}

/// A server's request for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// The `WWW-Authenticate` header.
    pub(crate) text: String,
    /// Whether there is a login already, with too few scopes.
    pub(crate) more: bool,
}

/// Our own error in a chain of others.
pub(crate) fn http_error<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a HttpError> {
    use rmcp::transport::streamable_http_client::StreamableHttpError;
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(own) = current.downcast_ref::<HttpError>() {
            return Some(own);
        }
        // The wrapper has no `source`.
        if let Some(StreamableHttpError::<HttpError>::Client(own)) = current.downcast_ref() {
            return Some(own);
        }
        next = current.source();
    }
    None
}
