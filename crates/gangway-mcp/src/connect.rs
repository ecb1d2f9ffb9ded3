//! Makes a connection to a server, in whichever era of the protocol it lives.

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

/// An open connection.
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) info: Option<Arc<ServerPeerInfo>>,
    pub(crate) handler: Arc<Handler>,
    /// Cancelled as soon as nothing more can come.
    pub(crate) gone: CancellationToken,
    pub(crate) process: Option<Process>,
    /// Whether what a person got by logging in is sent along.
    pub(crate) logged_in: bool,
    stop: Option<RunningServiceCancellationToken>,
}

/// How to say hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hello {
    /// Asks what the server knows, and takes a refusal as a sign of age.
    Either,
    /// As it was done until the end of 2025.
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
    /// Connects. A server that answers the first hello with anything but a proper refusal, or with nothing at all, is
    /// greeted in the old way, on a connection that has seen nothing else.
    pub(crate) async fn open(
        spec: &ServerSpec,
        settings: &Settings,
        journal: &Arc<Journal>,
        handler: Arc<Handler>,
    ) -> Result<Self, NoConnection> {
        match &spec.transport {
            Transport::Stdio { .. } => {
                let mut reason = String::new();
                // Each time in full: a server that still downloads itself is slow and not old.
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
                // What the current way said is what a person needs to hear.
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

    /// Ends it, and the child with it. Says how the child ended.
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

/// Why there is no connection.
pub(crate) enum NoConnection {
    /// It failed.
    Failed(String),
    /// It wants a person to log in; with what it said about that.
    Login(Option<String>),
}

impl From<String> for NoConnection {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Why one attempt came to nothing.
pub(crate) enum Failed {
    /// It did not even begin: another hello will not help.
    Start(String),
    /// It did not get through the hello.
    Hello(String),
    /// It wants a login.
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
        return Err(Failed::Start("it is no child process".to_owned()));
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
        Ok(true) => greet(handler, pipe, hello, deadline - Instant::now()).await,
        Ok(false) => Err("it ended before it was ready".to_owned()),
        Err(_) => Err(not_ready(limit)),
    };
    match greeted {
        Ok(running) => Ok(Connection::new(running, gone, Some(process))),
        Err(reason) => {
            // One that hangs is not waited for.
            let how = process
                .end(settings.grace.min(Duration::from_millis(300)))
                .await;
            let heard = journal.after(before);
            let last = heard
                .iter()
                .rev()
                .find(|line| line.source == Source::Stderr);
            let last = last.map_or(String::new(), |line| format!(": {}", cut(&line.text, 300)));
            Err(Failed::Hello(format!("{reason}; {how}{last}")))
        }
    }
}

pub(crate) async fn greet<T>(
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
        Ok(Err(error)) => Err(words(&error)),
        Err(_) => Err(not_ready(limit)),
    }
}

pub(crate) fn not_ready(limit: Duration) -> String {
    format!("it was not ready within {} seconds", limit.as_secs_f32())
}

/// Says what went wrong without quoting what the server sent.
pub(crate) fn words(error: &ClientInitializeError) -> String {
    let text = match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it was ready".to_owned(),
        ClientInitializeError::JsonRpcError(data) => {
            format!("it refused to begin: {} ({})", data.message, data.code.0)
        }
        ClientInitializeError::TransportError { error, .. } => cause(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => words(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of the protocol that is known here".to_owned()
        }
        _ => "what it said is not how MCP begins".to_owned(),
    };
    cut(&text, 500)
}

/// The innermost cause that is our own, or all there is to say.
pub(crate) fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    own(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// What a server said when it refused a request until somebody logs in, or logs in for more.
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

/// What went wrong with a request, without the names of our own parts.
pub(crate) fn told(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => cause(error.error.as_ref()),
        error => cut(&error.to_string(), 500),
    }
}

/// A server's wish for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// In its words.
    pub(crate) text: String,
    /// Whether there was a login already and it does not go far enough.
    pub(crate) more: bool,
}

/// Our own error in a chain of others.
pub(crate) fn own<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a HttpError> {
    use rmcp::transport::streamable_http_client::StreamableHttpError;
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(own) = current.downcast_ref::<HttpError>() {
            return Some(own);
        }
        // The wrapper does not name its cause as such.
        if let Some(StreamableHttpError::<HttpError>::Client(own)) = current.downcast_ref() {
            return Some(own);
        }
        next = current.source();
    }
    None
}
