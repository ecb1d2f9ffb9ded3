//! Launches: stored, with caches in memory.

use std::{collections::HashMap, sync::Arc};

use gangway_apps::cache::Cache;
use gangway_core::{Hub, HubHandle, Launch, LaunchId, Result};
use gangway_http::Http;
use gangway_workspaces::Workspaces;
use parking_lot::Mutex;

use crate::{inbox::Inbox, presence::Presence, token::CachedPass};

/// Limits of cached addresses, in number and bytes of their launches.
const KNOWN: usize = 1000;
const KNOWN_BYTES: usize = 8 << 20;

/// Maximum number of cached inboxes.
const INBOXES: usize = 500;

pub struct Launches {
    /// A handle, since the agents of the hub have tools that launch apps.
    hub: HubHandle,
    pub(crate) http: Arc<Http>,
    pub(crate) apps: Arc<gangway_apps::AppRegistry>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub presence: Arc<Presence>,
    inboxes: Mutex<HashMap<LaunchId, Arc<Inbox>>>,
    /// Recently opened addresses, by launch and hash.
    pub(crate) known: Cache<(LaunchId, String), Arc<CachedPass>>,
}

impl Launches {
    /// A launch without a session gets a new one with a folder from `workspaces`.
    #[must_use]
    pub fn new(
        hub: HubHandle,
        http: Arc<Http>,
        apps: Arc<gangway_apps::AppRegistry>,
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

    pub fn inbox(&self, launch: &Launch) -> Arc<Inbox> {
        let mut inboxes = self.inboxes.lock();
        if inboxes.len() >= INBOXES {
            inboxes.retain(|_, inbox| Arc::strong_count(inbox) > 1);
        }
        Arc::clone(inboxes.entry(launch.id).or_default())
    }
}
