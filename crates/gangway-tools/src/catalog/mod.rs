//! The catalog of servers that can be installed: a cache of a registry, brought up to date while someone looks at it.

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
    catalog::{Bounds, Cache, Document, Listed, gather, seed},
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

/// What is older than this is fetched again when someone looks.
const STALE: SignedDuration = SignedDuration::from_hours(24);

/// After a failure nobody who merely looks makes it try again before this.
const REST: Duration = Duration::from_secs(600);

/// What is shown as the source of the servers that come with Gangway.
const BUILT_IN: &str = "built-in";

/// The catalog. Clones share it.
#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

struct Shared {
    kept: Cache,
    folder: PathBuf,
    url: Option<String>,
    policy: UrlPolicy,
    bounds: Bounds,
    now: Mutex<Now>,
    stop: CancellationToken,
}

/// What is going on.
#[derive(Default)]
struct Now {
    running: Option<watch::Receiver<bool>>,
    fetched: usize,
    problem: Option<String>,
    failed: Option<Instant>,
    /// How often it was fetched, or tried to.
    ended: u64,
}

/// What is noted about the whole of it.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Note {
    source: String,
    at: Option<Timestamp>,
    problem: Option<String>,
}

/// Servers that were found.
pub(crate) struct Hits {
    pub(crate) total: usize,
    pub(crate) servers: Vec<Listed>,
}

impl Catalog {
    /// The catalog of a data folder. Nothing is opened or fetched before someone looks.
    #[must_use]
    pub fn new(config: &ToolsConfig, data: &Path, stop: CancellationToken) -> Self {
        let url = config.catalog().map(str::to_owned);
        // Strangers write into the public one; whoever names another one knows who does.
        let policy = match url.as_deref() {
            None | Some(PUBLIC_CATALOG) => UrlPolicy::PublicOnly,
            Some(_) => UrlPolicy::Any,
        };
        Self {
            shared: Arc::new(Shared {
                kept: Cache::at(data.join("mcp").join("catalog.db")),
                folder: data.join("mcp"),
                url,
                policy,
                bounds: Bounds::default(),
                now: Mutex::default(),
                stop,
            }),
        }
    }

    /// Where URLs of servers may lead.
    pub(crate) fn policy(&self) -> UrlPolicy {
        self.shared.policy
    }

    /// Finds servers by words.
    pub(crate) async fn search(
        &self,
        words: &str,
        offset: usize,
        limit: usize,
    ) -> gangway_core::Result<Hits> {
        let found = self.shared.kept.search(words, offset, limit).await?;
        let servers = found.values.iter();
        Ok(Hits {
            total: found.total,
            servers: servers
                .filter_map(|value| serde_json::from_str(value).ok())
                .collect(),
        })
    }

    /// How many servers it has.
    pub(crate) async fn total(&self) -> gangway_core::Result<usize> {
        self.note().await?;
        Ok(self.shared.kept.search("", 0, 0).await?.total)
    }

    /// One server by its name.
    pub(crate) async fn get(&self, name: &str) -> gangway_core::Result<Option<Listed>> {
        self.note().await?;
        let found = self.shared.kept.get(name).await?;
        Ok(found.and_then(|value| serde_json::from_str(&value).ok()))
    }

    /// How it is brought up to date, and where it comes from.
    pub(crate) async fn state(&self) -> gangway_core::Result<(CatalogRefresh, String)> {
        // Before the note is read: one that ended has left its note already.
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

    /// The note; without one, the servers that come with Gangway are put in first.
    async fn note(&self) -> gangway_core::Result<Note> {
        let kept = &self.shared.kept;
        gangway_files::make_private_folder(&self.shared.folder)
            .map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        if let Some(note) = kept.note().await? {
            return Ok(serde_json::from_str(&note).unwrap_or_default());
        }
        let note = Note {
            source: BUILT_IN.into(),
            ..Note::default()
        };
        let text = serde_json::to_string(&note).unwrap_or_default();
        kept.replace(documents(&seed()), text).await?;
        Ok(note)
    }

    /// Begins to fetch it when what is here is old.
    pub(crate) async fn look(&self) -> gangway_core::Result<()> {
        let seen = self.now().ended;
        let note = self.note().await?;
        let age = note.at.map(|at| Timestamp::now().duration_since(at));
        let is_fresh = age.is_some_and(|age| age < STALE);
        let is_same = self.shared.url.as_ref() == Some(&note.source);
        let now = self.now();
        let rests = now.failed.is_some_and(|at| at.elapsed() < REST);
        // Whoever ended since has left a newer note.
        let is_old = now.ended == seen && !(is_fresh && is_same);
        if self.shared.url.is_some() && is_old && !rests {
            self.begin(now);
        }
        Ok(())
    }

    /// Begins to fetch it, or joins who does; the receiver tells when that is over.
    pub(crate) fn refresh(&self) -> watch::Receiver<bool> {
        self.begin(self.now())
    }

    fn begin(&self, mut now: MutexGuard<'_, Now>) -> watch::Receiver<bool> {
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
            return Err("fetching is switched off; set tools.catalog_url in config.yaml".into());
        };
        let progress = |fetched| self.now().fetched = fetched;
        let gathered = gather(url, &self.shared.bounds, progress).await;
        let shown = gangway_models::shown_url(url);
        let gathered = gathered
            .map_err(|reason| format!("the catalog at {shown} cannot be fetched: {reason}"))?;
        tracing::info!(
            servers = gathered.servers.len(),
            malformed = gathered.malformed,
            "fetched the catalog of servers"
        );
        let most = self.shared.bounds.servers;
        let problem = gathered
            .is_cut
            .then(|| format!("it has more servers than the {most} that are kept"));
        let note = Note {
            source: url.clone(),
            at: Some(Timestamp::now()),
            problem,
        };
        let text = serde_json::to_string(&note).unwrap_or_default();
        let servers = gathered.servers;
        let made = tokio::task::spawn_blocking(move || documents(&servers)).await;
        let made = made.map_err(|error| error.to_string())?;
        let kept = self.shared.kept.replace(made, text).await;
        kept.map_err(|error| {
            tracing::error!(%error, "the catalog cannot be kept");
            "the catalog cannot be kept; the server's log says why".into()
        })
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        let now = &self.shared.now;
        now.lock()
    }
}

fn documents(servers: &[Listed]) -> Vec<Document> {
    let document = |listed: &Listed| Document {
        name: listed.name.clone(),
        title: listed.title.clone().unwrap_or_default(),
        body: listed.description.clone(),
        value: serde_json::to_string(listed).unwrap_or_default(),
    };
    servers.iter().map(document).collect()
}
