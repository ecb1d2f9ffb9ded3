//! Connecting to a server, and reporting its availability to the extension.

use std::sync::Arc;

use futures_util::StreamExt;
use serde::Deserialize;
use tokio_tungstenite::tungstenite::Message;

use crate::{
    bridge::{Bridge, ServerLink},
    out::Outgoing,
    problem::Problem,
    server::Core,
    status::StatusKind,
    wire::{BridgeMessage, BridgeStatus, ServerPresence},
};

/// The frames of the permission feed that are used here.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    Asks,
    Changed,
}

impl Bridge {
    /// Uses a server until it is gone. Permission requests are forwarded; the end of their connection shows that the
    /// server is gone.
    pub async fn attach(&self, mut core: Core) -> Result<(), Problem> {
        core.pending = self.out.pending.clone();
        let core = Arc::new(core);
        let mut socket = core.socket("/ws/asks").await?;
        self.place
            .send_replace(ServerLink::Connected(Arc::clone(&core)));
        self.notify_server(&core, ServerPresence::Up).await;
        while let Some(Ok(message)) = socket.next().await {
            let Message::Text(text) = message else {
                continue;
            };
            let kind = match serde_json::from_str(&text) {
                Ok(Frame::Asks) => StatusKind::Asks,
                Ok(Frame::Changed) => StatusKind::Changed,
                // Unknown frames are ignored.
                Err(_) => continue,
            };
            let Ok(frame) = serde_json::from_str(&text) else {
                continue;
            };
            self.notify(kind, BridgeStatus::Asks { frame }).await;
        }
        self.place.send_replace(ServerLink::Gone(None));
        core.gone.cancel();
        self.statuses.forget_asks();
        self.notify_server(&core, ServerPresence::Gone).await;
        Ok(())
    }

    /// Records why no server is available; it is retried.
    pub fn trouble(&self, why: String) {
        self.place.send_replace(ServerLink::Gone(Some(why)));
    }

    async fn notify_server(&self, core: &Core, state: ServerPresence) {
        let status = BridgeStatus::Server {
            state,
            attached: core.attached,
            base_url: &core.url,
        };
        self.notify(StatusKind::Server, status).await;
    }

    async fn notify(&self, kind: StatusKind, status: BridgeStatus<'_>) {
        if self
            .statuses
            .set(kind, BridgeMessage::Status(status).json())
        {
            self.out.say(Outgoing::Status(kind)).await;
        }
    }
}
