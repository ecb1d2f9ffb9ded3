//! All servers: their lifecycle, their tools, and calls.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::{BoxFuture, join_all};
use gangway_core::{SessionId, Tool, ToolError, ToolName, Toolbox};
use parking_lot::RwLock;
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    ask::Asker,
    journal::JournalLine,
    keep::{ResultPart, ResultStore},
    lanes::Lanes,
    listing::ListedTool,
    oauth::Logins,
    server::Server,
    spec::{ServerId, ServerSpec, Settings},
    status::Status,
};

/// The progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Increases with every report.
    pub progress: f64,
    /// The final value, if known.
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// Receives the progress of a call. Must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Runs MCP servers and calls their tools. Dropping it ends them; [`Host::shutdown`] waits for that.
pub struct Host {
    pub(crate) settings: Arc<Settings>,
    servers: RwLock<BTreeMap<ServerId, Arc<Server>>>,
    /// Held during `set_up`, so that a second caller returns only when each server was started.
    setting_up: tokio::sync::Mutex<()>,
    asker: Option<Arc<dyn Asker>>,
    changes: watch::Sender<u64>,
    pub(crate) lanes: Lanes<Arc<str>>,
    pub(crate) keep: ResultStore<Arc<str>>,
    pub(crate) logins: Logins,
}

impl Host {
    /// A host without servers. Questions of servers go to the asker; without one they are declined.
    #[must_use]
    pub fn new(settings: Settings, asker: Option<Arc<dyn Asker>>) -> Arc<Self> {
        Arc::new(Self {
            lanes: Lanes::new(settings.per_caller, settings.waiting_per_caller),
            keep: ResultStore::new(settings.max_result_bytes, settings.max_kept_bytes),
            logins: Logins::default(),
            settings: Arc::new(settings),
            servers: RwLock::default(),
            setting_up: tokio::sync::Mutex::default(),
            asker,
            changes: watch::Sender::new(0),
        })
    }

    /// Sets the servers: new ones are started, changed ones restarted, others removed. Unchanged ones keep running.
    /// Returns when removed ones are gone. Of two with the same id the first counts.
    pub async fn set_up(&self, specs: Vec<ServerSpec>) {
        let _alone = self.setting_up.lock().await;
        let (new, gone) = {
            let mut servers = self.servers.write();
            let mut before = std::mem::take(&mut *servers);
            let mut new = Vec::new();
            let mut gone = Vec::new();
            for spec in specs {
                let id = spec.id.clone();
                if let Some(first) = servers.get(&id) {
                    first.journal.host("ignored a second server with this id");
                    continue;
                }
                let old = before.remove(&id);
                if let Some(old) = old.as_ref().filter(|old| old.spec == spec) {
                    servers.insert(id, old.clone());
                    continue;
                }
                let server = Arc::new(Server::new(
                    spec,
                    self.settings.clone(),
                    self.asker.clone(),
                    self.changes.clone(),
                    old.as_ref().map(|old| old.journal.clone()),
                ));
                gone.extend(old);
                servers.insert(id, server.clone());
                new.push(server);
            }
            gone.extend(before.into_values());
            (new, gone)
        };
        join_all(gone.iter().map(|server| server.stop())).await;
        let servers = self.servers.read();
        for server in new.iter().filter(|server| server.spec.enabled) {
            // It may have been removed meanwhile.
            let current = servers.get(&server.spec.id);
            if current.is_some_and(|current| Arc::ptr_eq(current, server)) {
                server.start();
            }
        }
        drop(servers);
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn server(&self, id: &str) -> Option<Arc<Server>> {
        let servers = self.servers.read();
        let id: ServerId = id.parse().ok()?;
        servers.get(&id).cloned()
    }

    fn all(&self) -> Vec<Arc<Server>> {
        let servers = self.servers.read();
        servers.values().cloned().collect()
    }

    /// Starts a server unless it runs; false if there is none.
    pub fn start(&self, id: &ServerId) -> bool {
        let server = self.server(id.as_str());
        server.is_some_and(|server| {
            server.start();
            true
        })
    }

    /// Stops a server and waits until it is gone; false if there is none.
    pub async fn stop(&self, id: &ServerId) -> bool {
        match self.server(id.as_str()) {
            Some(server) => {
                server.stop().await;
                true
            }
            None => false,
        }
    }

    /// Restarts a server and resets its failure count; false if there is none.
    pub async fn restart(&self, id: &ServerId) -> bool {
        self.stop(id).await && self.start(id)
    }

    /// Waits until a server is ready, or returns why it will not be.
    pub async fn ready(&self, id: &ServerId) -> Result<(), String> {
        match self.server(id.as_str()) {
            Some(server) => server.ready().await.map(|_| ()),
            None => Err(format!("server {id} not found")),
        }
    }

    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        self.all().iter().map(|server| server.status()).collect()
    }

    /// Incremented whenever a server's state or list of tools changed.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The lines of a server's log after a number; 0 for all.
    #[must_use]
    pub fn logs(&self, id: &ServerId, after: u64) -> Option<Vec<JournalLine>> {
        Some(self.server(id.as_str())?.journal.after(after))
    }

    /// All listed tools, including those that cannot be called.
    #[must_use]
    pub fn entries(&self) -> Vec<ListedTool> {
        let listings = self.all().into_iter().filter_map(|server| server.listing());
        listings
            .flat_map(|listing| {
                let entries: Vec<ListedTool> =
                    listing.tools.iter().map(|t| t.entry.clone()).collect();
                entries
            })
            .collect()
    }

    /// A tool as its server lists it.
    #[must_use]
    pub fn entry(&self, tool: &ToolName) -> Option<ListedTool> {
        let listing = self.server(tool.server())?.listing()?;
        listing.get(tool.tool()).map(|listed| listed.entry.clone())
    }

    /// The callable tools, each with its server's description.
    #[must_use]
    pub fn described(&self) -> Vec<(Arc<Tool>, Value)> {
        let listings = self.all().into_iter().filter_map(|server| server.listing());
        listings
            .flat_map(|listing| {
                let usable = listing.tools.iter().filter(|tool| tool.checker.is_some());
                let described: Vec<_> = usable
                    .map(|tool| (tool.entry.tool.clone(), tool.raw.clone()))
                    .collect();
                described
            })
            .collect()
    }

    /// The tools that models can call.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        let entries = self.entries().into_iter();
        entries
            .filter(|entry| entry.unusable.is_none() && entry.for_models)
            .map(|entry| entry.tool)
            .collect()
    }

    /// The beginning of a value that is too large, with a handle to read on; `None` when it is small enough.
    #[must_use]
    pub fn bound(&self, caller: &str, value: &Value) -> Option<Value> {
        self.keep.cut(caller.into(), value)
    }

    /// More of a truncated result, for its caller. `None` when it is no longer kept.
    #[must_use]
    pub fn rest(&self, caller: &str, handle: &str, offset: usize) -> Option<ResultPart> {
        self.keep.rest(&caller.into(), handle, offset)
    }

    /// Stops all servers and waits until they and their descendants are gone.
    pub async fn shutdown(&self) {
        let all = self.all();
        join_all(all.iter().map(|server| server.stop())).await;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        for server in self.all() {
            server.abandon();
        }
    }
}

impl Toolbox for Host {
    fn tools<'a>(
        &'a self,
        _session: SessionId,
        _sentence: &'a str,
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(std::future::ready(self.tools()))
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let caller = session.to_string();
            self.call(&caller, &tool, arguments, None).await
        })
    }
}
