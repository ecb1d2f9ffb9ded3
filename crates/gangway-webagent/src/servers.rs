//! MCP servers of sites: registered by a page with the user's consent, visible to that origin only.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use gangway_core::{Origin, Tool, ToolError, ToolName};
use gangway_mcp::{Host, ResultPart, ServerId, ServerSpec, Settings, UrlPolicy};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::time::Instant;

use crate::sites::GRACE;

/// Maximum number of listed tools of one server.
pub(crate) const TOOLS: usize = 100;

/// Timeout of a server's first response.
pub(crate) const CONNECT: Duration = Duration::from_secs(20);

/// The servers of all sites.
pub(crate) struct Servers {
    pub(crate) host: Arc<Host>,
    known: Mutex<SiteServers>,
    /// Serializes updates of the host, so that the last update is the current state.
    telling: tokio::sync::Mutex<()>,
}

#[derive(Default)]
pub(crate) struct SiteServers {
    pub(crate) servers: BTreeMap<ServerId, Registered>,
    /// When the last page of an origin left.
    left: BTreeMap<Origin, Instant>,
}

/// A server of a site.
pub(crate) struct Registered {
    pub(crate) origin: Origin,
    pub(crate) url: String,
    pub(crate) policy: UrlPolicy,
    pub(crate) tools: Option<BTreeSet<String>>,
    /// Whether it has responded.
    pub(crate) ready: bool,
    /// When "allow once" expires.
    pub(crate) until: Option<Instant>,
}

impl Registered {
    /// Whether pages of this origin can use it.
    fn serves(&self, origin: &Origin) -> bool {
        let lasts = self.until.is_none_or(|until| until > Instant::now());
        self.ready && lasts && self.origin == *origin
    }
}

impl Servers {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            start_timeout: CONNECT,
            tries: 1,
            max_tools: TOOLS,
            ..Settings::default()
        };
        Self {
            // A site's server cannot ask the user anything.
            host: Host::new(settings, None),
            known: Mutex::default(),
            telling: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SiteServers> {
        self.known.lock()
    }

    /// Whether a server belongs to an origin.
    pub(crate) fn has(&self, origin: &Origin, server: &str) -> bool {
        let known = self.lock();
        let mut own = known.servers.iter().filter(|(_, one)| one.serves(origin));
        own.any(|(id, _)| id.as_str() == server)
    }

    /// The first of these names that no other origin uses.
    pub(crate) fn free(&self, origin: &Origin, names: Vec<ServerId>) -> Option<ServerId> {
        let known = self.lock();
        let free = |id: &ServerId| {
            known
                .servers
                .get(id)
                .is_none_or(|one| one.origin == *origin)
        };
        names.into_iter().find(free)
    }

    /// The tools of an origin's servers.
    pub(crate) fn tools(&self, origin: &Origin) -> Vec<Arc<Tool>> {
        let all = self.host.tools();
        let known = self.lock();
        let wanted = |tool: &Arc<Tool>| {
            let mut own = known.servers.iter().filter(|(_, one)| one.serves(origin));
            own.any(|(id, one)| {
                let named = one.tools.as_ref();
                id.as_str() == tool.name.server()
                    && named.is_none_or(|named| named.contains(tool.name.tool()))
            })
        };
        all.into_iter().filter(wanted).collect()
    }

    pub(crate) async fn call(
        &self,
        origin: &Origin,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        if !self.tools(origin).iter().any(|one| one.name == *tool) {
            return Err(ToolError::NotFound(tool.clone()));
        }
        self.host.call(origin.as_str(), tool, arguments, None).await
    }

    /// The last page of an origin left; its servers are removed soon, unless a page returns.
    pub(crate) fn schedule_leave(&self, origin: &Origin) {
        let mut known = self.lock();
        if known.servers.values().any(|one| one.origin == *origin) {
            known.left.insert(origin.clone(), Instant::now());
        }
    }

    /// Removes the servers of origins without pages for a while, and those that are no longer allowed according to
    /// `may`: all servers of an origin, or this one.
    pub(crate) async fn sweep(&self, here: &[Origin], may: impl Fn(&Origin, Option<&str>) -> bool) {
        let changed = {
            let mut known = self.lock();
            known.left.retain(|origin, _| !here.contains(origin));
            let gone: Vec<Origin> = known
                .left
                .iter()
                .filter(|(_, since)| since.elapsed() >= GRACE)
                .map(|(origin, _)| origin.clone())
                .collect();
            known.left.retain(|origin, _| !gone.contains(origin));
            let before = known.servers.len();
            let now = Instant::now();
            known.servers.retain(|_, one| {
                let lasts = one.until.is_none_or(|until| until > now);
                // "Allow once" is not stored anywhere else.
                let stored = one.until.is_none().then_some(one.url.as_str());
                lasts && !gone.contains(&one.origin) && (!one.ready || may(&one.origin, stored))
            });
            known.servers.len() < before
        };
        if changed {
            self.send().await;
        }
    }

    /// Updates the host's list of servers.
    pub(crate) async fn send(&self) {
        let _telling = self.telling.lock().await;
        let specs = {
            let known = self.lock();
            let spec = |(id, one): (&ServerId, &Registered)| {
                ServerSpec::http(id.clone(), one.url.clone(), one.policy)
            };
            known.servers.iter().map(spec).collect()
        };
        self.host.set_up(specs).await;
    }

    /// A server has responded.
    pub(crate) fn ready(&self, id: &ServerId) {
        if let Some(one) = self.lock().servers.get_mut(id) {
            one.ready = true;
        }
    }

    /// The rest of a truncated result.
    pub(crate) fn rest(&self, origin: &Origin, handle: &str, offset: usize) -> Option<ResultPart> {
        self.host.rest(origin.as_str(), handle, offset)
    }

    /// Removes a server.
    pub(crate) async fn remove(&self, id: &ServerId) {
        self.lock().servers.remove(id);
        self.send().await;
    }

    pub(crate) async fn shutdown(&self) {
        self.host.shutdown().await;
    }
}
