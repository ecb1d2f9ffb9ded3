//! The Gangway behind the pipe: the one that has the data folder, or our own.

use std::sync::{Mutex, PoisonError};

use tokio::{sync::oneshot, task::JoinHandle};

use crate::cli::{
    Common,
    serve::{self, Launch, ServeArgs},
    through::{Place, Through},
};

/// The Gangway that is used, and its end where it is our own.
pub(super) struct Home {
    pub(super) through: Through,
    own: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl Home {
    /// Ends it, if it is our own.
    pub(super) async fn end(&self) {
        let own = self
            .own
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((stop, serving)) = own {
            let _ = stop.send(());
            serving.await.ok();
        }
    }

    pub(super) async fn find(common: &Common) -> anyhow::Result<Self> {
        let data = common.data()?;
        let folder = match Place::find(&data)? {
            Place::Server(through) => {
                return Ok(Self {
                    through,
                    own: Mutex::default(),
                });
            }
            Place::Folder(folder) => folder,
        };
        let config = ServeArgs::alone(common.clone()).settings(&data)?;
        serve::start_log(&config).ok();
        let listener = serve::bind_anywhere(config.address()?).await?;
        let launch = Launch::new(config, folder, listener, false).await?;
        tracing::info!(url = launch.note.url, "Gangway is listening");
        let through = Through::to(launch.note.clone())?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            if let Err(error) = launch.listen(stopped).await {
                tracing::error!(%error, "the server ended");
            }
        });
        Ok(Self {
            through,
            own: Mutex::new(Some((stop, serving))),
        })
    }
}
