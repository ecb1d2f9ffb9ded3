//! The server a command talks to: the running one, or one that lives as long as the command.

use std::{
    net::Ipv4Addr,
    ops::Deref,
    sync::{Mutex, PoisonError},
};

use anyhow::Context;
use gangway_client::{DataError, DataFolder, ServerClient};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use super::{
    Common,
    launch::Launch,
    say::complain,
    serve::{self, ServeArgs},
};
use crate::config::Config;

pub(super) struct CommandServer {
    client: ServerClient,
    own: Mutex<Option<OwnServer>>,
}

struct OwnServer {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Deref for CommandServer {
    type Target = ServerClient;

    fn deref(&self) -> &ServerClient {
        &self.client
    }
}

/// Runs requests against the server of the data folder, or one started for this command.
pub(super) async fn ask<T>(
    common: &Common,
    work: impl AsyncFnOnce(&CommandServer) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let server = CommandServer::find(common, Kind::ForCommand).await?;
    let done = work(&server).await;
    server.end().await;
    done
}

/// The same for stored data that does not depend on the settings: invalid settings are a warning, so that a key can
/// still be revoked.
pub(super) async fn ask_stored<T>(
    common: &Common,
    work: impl AsyncFnOnce(&CommandServer) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let server = match CommandServer::find(common, Kind::ForCommand).await {
        Ok(server) => server,
        Err(error) => match CommandServer::find(common, Kind::ForStored).await {
            Ok(server) => {
                complain!("Warning: {error:#}");
                server
            }
            // The settings were not the cause.
            Err(_) => return Err(error),
        },
    };
    let done = work(&server).await;
    server.end().await;
    done
}

/// The running server of the data folder, if any.
pub(super) fn running(common: &Common) -> anyhow::Result<Option<ServerClient>> {
    let data = common.data()?;
    if !data.exists() {
        return Ok(None);
    }
    match DataFolder::take(&data) {
        Ok(_) => Ok(None),
        Err(DataError::InUse {
            server: Some(note), ..
        }) => Ok(Some(ServerClient::to(note)?)),
        Err(error) => Err(error.into()),
    }
}

/// What to start if no server runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Answers the command's requests on its own port, without background tasks.
    ForCommand,
    /// The same with default settings.
    ForStored,
    /// Like `gangway serve`: announced to other clients.
    Whole,
}

impl CommandServer {
    pub(super) async fn find(common: &Common, kind: Kind) -> anyhow::Result<Self> {
        let data = common.data()?;
        let folder = match serve::take(&data, true).await {
            Ok(folder) => folder,
            Err(DataError::InUse {
                server: Some(note), ..
            }) => {
                return Ok(Self {
                    client: ServerClient::to(note)?,
                    own: Mutex::default(),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let config = match kind {
            Kind::ForStored => Config::default(),
            Kind::ForCommand | Kind::Whole => ServeArgs::alone(common.clone()).settings(&data)?,
        };
        let launch = match kind {
            Kind::ForCommand | Kind::ForStored => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
                let listener = listener.context("listening on 127.0.0.1")?;
                Launch::for_command(config, folder, listener).await?
            }
            Kind::Whole => {
                serve::start_log(&config).ok();
                let listener = serve::bind_anywhere(config.address()?).await?;
                let launch = Launch::new(config, folder, listener, false).await?;
                tracing::info!(url = launch.note.url, "Gangway is listening");
                launch
            }
        };
        let client = ServerClient::to(launch.note.clone())?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            match kind {
                Kind::ForCommand | Kind::ForStored => launch.answer(stopped).await,
                Kind::Whole => {
                    if let Err(error) = launch.listen(stopped).await {
                        tracing::error!(%error, "the server failed");
                    }
                }
            }
        });
        Ok(Self {
            client,
            own: Mutex::new(Some(OwnServer { stop, serving })),
        })
    }

    /// Whether it was started for this command.
    pub(super) fn is_own(&self) -> bool {
        self.lock().is_some()
    }

    /// Stops it if it was started for this command.
    pub(super) async fn end(&self) {
        let own = self.lock().take();
        if let Some(OwnServer { stop, serving }) = own {
            let _ = stop.send(());
            serving.await.ok();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<OwnServer>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
