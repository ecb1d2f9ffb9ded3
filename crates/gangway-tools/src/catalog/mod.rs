//! The catalog of installable servers: a cache of a registry, refreshed when it is used.

mod routes;
mod shown;
pub mod wire;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use gangway_mcp::{
    UrlPolicy,
    catalog::{Cache, Document, FetchLimits, RegistryServer, gather, seed},
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::{Mutex, MutexGuard};
pub use routes::Documented;
pub use routes::routes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wire::{CatalogRefresh, RefreshState};

use crate::config::{PUBLIC_CATALOG, ToolsConfig};

/// Refreshed at the next use if older.
const STALE: SignedDuration = SignedDuration::from_hours(24);

/// Minimum interval of automatic retries after a failure.
const REST: Duration = Duration::from_secs(600);

/// The displayed source of built-in entries.
const BUILT_IN: &str = "built-in";

/// The catalog. Clones share it.
#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

struct Shared {
    stored: Cache,
    folder: PathBuf,
    url: Option<String>,
    policy: UrlPolicy,
    bounds: FetchLimits,
    now: Mutex<RefreshStatus>,
    stop: CancellationToken,
}

/// The state of the refresh.
#[derive(Default)]
struct RefreshStatus {
    running: Option<watch::Receiver<bool>>,
    fetched: usize,
    problem: Option<String>,
    failed: Option<Instant>,
    /// The number of refreshes, including failed ones.
    ended: u64,
}

/// Metadata of the catalog.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct CatalogMeta {
    source: String,
    at: Option<Timestamp>,
    problem: Option<String>,
}

/// Search results.
pub(crate) struct Hits {
    pub(crate) total: usize,
    pub(crate) servers: Vec<RegistryServer>,
}

impl Catalog {
    /// The catalog of a data folder. Nothing is opened or downloaded before the first use.
    #[must_use]
    pub fn new(config: &ToolsConfig, data: &Path, stop: CancellationToken) -> Self {
        let url = config.catalog().map(str::to_owned);
        // Anyone can publish in the public registry; a custom one is trusted.
        let policy = match url.as_deref() {
            None | Some(PUBLIC_CATALOG) => UrlPolicy::PublicOnly,
            Some(_) => UrlPolicy::Any,
        };
        Self {
            shared: Arc::new(Shared {
                stored: Cache::at(data.join("mcp").join("catalog.db")),
                folder: data.join("mcp"),
                url,
                policy,
                bounds: FetchLimits::default(),
                now: Mutex::default(),
                stop,
            }),
        }
    }

    /// Where URLs of servers may point to.
    pub(crate) fn policy(&self) -> UrlPolicy {
        self.shared.policy
    }

    /// Searches servers.
    pub(crate) async fn search(
        &self,
        words: &str,
        offset: usize,
        limit: usize,
    ) -> gangway_core::Result<Hits> {
        let found = self.shared.stored.search(words, offset, limit).await?;
        let servers = found.values.iter();
        Ok(Hits {
            total: found.total,
            servers: servers
                .filter_map(|value| serde_json::from_str(value).ok())
                .collect(),
        })
    }

    /// The number of servers.
    pub(crate) async fn total(&self) -> gangway_core::Result<usize> {
        self.note().await?;
        Ok(self.shared.stored.search("", 0, 0).await?.total)
    }

    /// A server by name.
    pub(crate) async fn get(&self, name: &str) -> gangway_core::Result<Option<RegistryServer>> {
        self.note().await?;
        let found = self.shared.stored.get(name).await?;
        Ok(found.and_then(|value| serde_json::from_str(&value).ok()))
    }

    /// The state of the refresh, and the source.
    pub(crate) async fn state(&self) -> gangway_core::Result<(CatalogRefresh, String)> {
        // Before the metadata: a refresh that has ended has stored its metadata.
        let mut refresh = {
            let now = self.now();
            let state = match (&now.running, now.failed) {
                (Some(_), _) => RefreshState::Running,
                (None, Some(_)) => RefreshState::Failed,
                (None, None) => RefreshState::Idle,
            };
            CatalogRefresh {
                state,
                fetched: now.fetched,
                problem: now.problem.clone(),
                at: None,
            }
        };
        let note = self.note().await?;
        refresh.problem = refresh.problem.or(note.problem);
        refresh.at = note.at.map(|at| at.to_string());
        Ok((refresh, note.source))
    }

    /// The metadata; if missing, imports the built-in servers first.
    async fn note(&self) -> gangway_core::Result<CatalogMeta> {
        let stored = &self.shared.stored;
        gangway_files::make_private_folder(&self.shared.folder)
            .map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        if let Some(note) = stored.note().await? {
            return Ok(serde_json::from_str(&note).unwrap_or_default());
        }
        let note = CatalogMeta {
            source: BUILT_IN.into(),
            ..CatalogMeta::default()
        };
        let text = serde_json::to_string(&note).unwrap_or_default();
        stored.replace(documents(&seed()), text).await?;
        Ok(note)
    }

    /// Starts a refresh if the catalog is old.
    pub(crate) async fn look(&self) -> gangway_core::Result<()> {
        let seen = self.now().ended;
        let note = self.note().await?;
        let age = note.at.map(|at| Timestamp::now().duration_since(at));
        let is_fresh = age.is_some_and(|age| age < STALE);
        let is_same = self.shared.url.as_ref() == Some(&note.source);
        let now = self.now();
        let rests = now.failed.is_some_and(|at| at.elapsed() < REST);
        // A refresh that ended meanwhile has stored newer metadata.
        let is_old = now.ended == seen && !(is_fresh && is_same);
        if self.shared.url.is_some() && is_old && !rests {
            self.begin(now);
        }
        Ok(())
    }

    /// Starts a refresh, or joins a running one; the receiver is notified of its end.
    pub(crate) fn refresh(&self) -> watch::Receiver<bool> {
        self.begin(self.now())
    }

    fn begin(&self, mut now: MutexGuard<'_, RefreshStatus>) -> watch::Receiver<bool> {
        if let Some(running) = &now.running {
            return running.clone();
        }
        let (over, running) = watch::channel(false);
        now.running = Some(running.clone());
        (now.fetched, now.problem) = (0, None);
        let catalog = self.clone();
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = catalog.fetch() => ended,
                () = catalog.shared.stop.cancelled() => Err("Gangway is stopping".into()),
            };
            let mut now = catalog.now();
            now.running = None;
            now.ended += 1;
            now.failed = ended.is_err().then(Instant::now);
            now.problem = ended.err();
            drop(now);
            let _ = over.send(true);
        });
        running
    }

    async fn fetch(&self) -> Result<(), String> {
        let Some(url) = &self.shared.url else {
            return Err("the catalog is disabled; set tools.catalog_url in config.yaml".into());
        };
        let progress = |fetched| self.now().fetched = fetched;
        let gathered = gather(url, &self.shared.bounds, progress).await;
        let shown = gangway_models::shown_url(url);
        let gathered = gathered
            .map_err(|reason| format!("cannot download the catalog from {shown}: {reason}"))?;
        tracing::info!(
            servers = gathered.servers.len(),
            malformed = gathered.malformed,
            "downloaded the MCP server catalog"
        );
        let most = self.shared.bounds.servers;
        let problem = gathered
            .is_cut
            .then(|| format!("only the first {most} servers are stored"));
        let note = CatalogMeta {
            source: url.clone(),
            at: Some(Timestamp::now()),
            problem,
        };
        let text = serde_json::to_string(&note).unwrap_or_default();
        let servers = gathered.servers;
        let made = tokio::task::spawn_blocking(move || documents(&servers)).await;
        let made = made.map_err(|error| error.to_string())?;
        let stored = self.shared.stored.replace(made, text).await;
        stored.map_err(|error| {
            tracing::error!(%error, "cannot store the catalog");
            "cannot store the catalog; see the server's log".into()
        })
    }

    fn now(&self) -> MutexGuard<'_, RefreshStatus> {
        let now = &self.shared.now;
        now.lock()
    }
}

fn documents(servers: &[RegistryServer]) -> Vec<Document> {
    let document = |listed: &RegistryServer| Document {
        name: listed.name.clone(),
        title: listed.title.clone().unwrap_or_default(),
        body: listed.description.clone(),
        value: serde_json::to_string(listed).unwrap_or_default(),
    };
    servers.iter().map(document).collect()
}
