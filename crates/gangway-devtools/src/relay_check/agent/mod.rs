//! Checks an agent: plays relay and page, injects failures, and observes the agent.

mod page;
mod talk;
mod watch;

use std::time::Duration;

use anyhow::Context;
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::handshake::server::{ErrorResponse, Request, Response},
};

use self::{
    talk::{Talk, TalkEnd},
    watch::AgentEnd,
};
use super::{CheckArgs, report::Report};

/// How long the user may take to start the agent.
const START: Duration = Duration::from_secs(600);

pub struct AgentCheck {
    listener: TcpListener,
    path: String,
    url: String,
    timeout: Duration,
    reconnects: bool,
}

impl AgentCheck {
    /// Listens on the given address.
    pub async fn listen(args: &CheckArgs) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(args.url.address().await?)
            .await
            .with_context(|| format!("listening on {}", args.url))?;
        let url = args.url.at_port(listener.local_addr()?.port());
        Ok(Self {
            listener,
            path: args.url.path.clone(),
            url,
            timeout: Duration::from_secs(args.seconds),
            reconnects: !args.no_drop,
        })
    }

    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the agent, and checks it until it ends.
    pub async fn run(self) -> anyhow::Result<Report> {
        let idle = self.timeout * 6;
        let mut talk = Talk::new(self.timeout, idle, self.reconnects);
        let first = accept(&self.listener, &self.path, START).await;
        let mut socket = first.context("no agent connected")?;
        let ending = loop {
            match talk.run(socket).await {
                TalkEnd::Ended(ending) => break ending,
                TalkEnd::Cut => match accept(&self.listener, &self.path, idle).await {
                    Some(next) => socket = next,
                    None => break AgentEnd::Lost,
                },
            }
        };
        Ok(talk.report(&ending))
    }
}

/// The next connection to the right path, with a timeout.
async fn accept(
    listener: &TcpListener,
    path: &str,
    limit: Duration,
) -> Option<WebSocketStream<TcpStream>> {
    #[allow(clippy::result_large_err, reason = "required by the library")]
    let right_path = |request: &Request, response: Response| match request.uri().path() == path {
        true => Ok(response),
        false => {
            let mut refusal = ErrorResponse::new(Some(format!("the socket is at {path}")));
            *refusal.status_mut() = http::StatusCode::NOT_FOUND;
            Err(refusal)
        }
    };
    let coming = async {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            if let Ok(socket) = accept_hdr_async(stream, right_path).await {
                return socket;
            }
        }
    };
    timeout(limit, coming).await.ok()
}
