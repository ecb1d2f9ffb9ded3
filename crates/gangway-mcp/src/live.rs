//! A connection that is ready for calls.

use std::{sync::Arc, time::Duration};

use gangway_schema::Clock;
use parking_lot::{Mutex, RwLock};
use rmcp::{
    Peer, RoleClient,
    model::{ProtocolVersion, SubscriptionFilter},
};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    connect::{Challenge, Connection},
    handler::Handler,
    journal::cut,
    listing::Listing,
    status::ServerDescription,
};

/// Bytes of a server's name, which is in every list of servers.
const MAX_NAME: usize = 200;

/// Bytes of its instructions.
const MAX_INSTRUCTIONS: usize = 16 << 10;

pub(crate) struct LiveServer {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) handler: Arc<Handler>,
    pub(crate) clock: Clock,
    pub(crate) gone: CancellationToken,
    listing: RwLock<Arc<Listing>>,
    pub(crate) protocol: Option<String>,
    pub(crate) described: Option<ServerDescription>,
    pub(crate) instructions: Option<String>,
    pub(crate) process: Option<u32>,
    pub(crate) logged_in: bool,
    /// The challenge of a call that was refused without a login.
    refused: Mutex<Option<Challenge>>,
}

impl LiveServer {
    pub(crate) fn new(connection: &Connection) -> Self {
        let info = connection.info.as_deref();
        Self {
            peer: connection.peer.clone(),
            handler: connection.handler.clone(),
            clock: Clock::default(),
            gone: connection.gone.clone(),
            listing: RwLock::default(),
            protocol: info.map(|info| cut(info.protocol_version.as_str(), MAX_NAME)),
            described: info.and_then(|info| info.server_info.clone()).map(|own| {
                ServerDescription {
                    name: cut(&own.name, MAX_NAME),
                    title: own.title.map(|title| cut(&title, MAX_NAME)),
                    version: cut(&own.version, MAX_NAME),
                }
            }),
            instructions: info
                .and_then(|info| info.instructions.as_deref())
                .map(|text| cut(text, MAX_INSTRUCTIONS)),
            process: connection.process.as_ref().and_then(|process| process.id()),
            logged_in: connection.logged_in,
            refused: Mutex::default(),
        }
    }

    pub(crate) fn list(&self, listing: Listing) {
        *self.listing.write() = Arc::new(listing);
    }

    /// Records a challenge. Without any login the connection is of no use; otherwise other tools may still work.
    pub(crate) fn refuse(&self, challenge: Challenge) {
        let more = challenge.more;
        *self.refused.lock() = Some(challenge);
        if !more {
            self.gone.cancel();
        }
    }

    pub(crate) fn refused(&self) -> Option<Challenge> {
        let refused = self.refused.lock();
        refused.clone()
    }

    pub(crate) fn listing(&self) -> Arc<Listing> {
        self.listing.read().clone()
    }

    /// Servers of the current revision send changes only to subscribers.
    pub(crate) fn subscribe(&self, changed: mpsc::Sender<()>) -> Option<AbortOnDropHandle<()>> {
        let info = self.peer.peer_info()?;
        let tells = info.capabilities.tools.as_ref()?.list_changed == Some(true);
        if !tells || info.protocol_version < ProtocolVersion::V_2026_07_28 {
            return None;
        }
        let peer = self.peer.clone();
        let task = tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            while let Ok(mut subscription) = peer.listen(filter.clone()).await {
                while let Ok(Some(_)) = subscription.next().await {
                    let _ = changed.try_send(());
                }
                // Changes during the gap are unknown.
                tokio::time::sleep(Duration::from_secs(1)).await;
                let _ = changed.try_send(());
            }
        });
        Some(AbortOnDropHandle::new(task))
    }
}
