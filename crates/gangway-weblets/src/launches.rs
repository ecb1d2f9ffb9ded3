//! The launches: apps that agents opened, kept in the store, and what is only in memory of them.

use std::{collections::HashMap, sync::Arc};

use gangway_apps::cache::Cache;
use gangway_core::{Hub, HubHandle, Launch, LaunchId, Result};
use gangway_http::Http;
use gangway_workspaces::Workspaces;
use parking_lot::Mutex;

use crate::{inbox::Inbox, presence::Presence, token::Known};

/// Addresses that are remembered, and bytes of the launches they lead to.
const KNOWN: usize = 1000;
const KNOWN_BYTES: usize = 8 << 20;

/// Inboxes that are held; those of launches that nobody looks at make room.
const INBOXES: usize = 500;

/// Makes launches, and knows who may see and follow which.
pub struct Launches {
    /// A handle, since the agents of the hub have tools that launch apps.
    hub: HubHandle,
    pub(crate) http: Arc<Http>,
    pub(crate) apps: Arc<gangway_apps::Shelf>,
    pub(crate) workspaces: Arc<Workspaces>,
    /// The pages and agents that are connected.
    pub presence: Arc<Presence>,
    inboxes: Mutex<HashMap<LaunchId, Arc<Inbox>>>,
    /// Addresses that were opened lately, by launch and hash.
    pub(crate) known: Cache<(LaunchId, String), Arc<Known>>,
}

impl Launches {
    /// Launches of these apps. A launch without a session gets a new one with a folder from `workspaces`.
    #[must_use]
    pub fn new(
        hub: HubHandle,
        http: Arc<Http>,
        apps: Arc<gangway_apps::Shelf>,
        workspaces: Arc<Workspaces>,
    ) -> Arc<Self> {
        Arc::new(Self {
            hub,
            http,
            apps,
            workspaces,
            presence: Arc::default(),
            inboxes: Mutex::default(),
            known: Cache::new(KNOWN, KNOWN_BYTES),
        })
    }

    pub(crate) fn hub(&self) -> Result<Arc<Hub>> {
        self.hub.get()
    }

    /// What waits for the agent of a launch.
    pub fn inbox(&self, launch: &Launch) -> Arc<Inbox> {
        let mut inboxes = self.inboxes.lock();
        if inboxes.len() >= INBOXES {
            inboxes.retain(|_, inbox| Arc::strong_count(inbox) > 1);
        }
        Arc::clone(inboxes.entry(launch.id).or_default())
    }
}
