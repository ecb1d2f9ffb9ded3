//! Where apps are found: in given folders, in the user's folders, and built in; the first with a name wins.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gangway_core::AppName;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{
    discovery::{Discovery, app, folders_in, read},
    folder::AppFolder,
    folders::Folders,
    manifest::{Manifest, Problem, Severity},
    rank::KnownWords,
};
use crate::shipped::Shipped;

/// How long a scan is valid; changes are seen after that.
const LIFE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Builtin,
    /// From a folder given on the command line or in the settings.
    Named,
    /// From `./weblets`, `WEBLET_PATH` or `~/.weblets`.
    Folder,
}

impl Origin {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Named => "named",
            Self::Folder => "folder",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct App {
    /// A character or two, or a `data:` URL.
    pub icon: Option<String>,
    /// The name in its manifest, unless an app in another folder owns it.
    pub name: AppName,
    /// The real path of its folder, or `builtin`.
    pub place: String,
    pub manifest: Arc<Manifest>,
    pub problems: Vec<Problem>,
    pub origin: Origin,
    pub folder: AppFolder,
    pub(crate) words: KnownWords,
}

impl App {
    /// The first reason why it cannot be launched.
    #[must_use]
    pub fn broken(&self) -> Option<&Problem> {
        let bad = |problem: &&Problem| problem.severity == Severity::Error;
        self.problems.iter().find(bad)
    }

    /// Identifies it by name and folder: an app with the same name in another folder is another app.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("{} {}", self.name, self.place)
    }

    pub fn in_folder(folder: &Path) -> Result<Self, UnusableApp> {
        let folder = AppFolder::Disk(folder.to_owned());
        let reading = Arc::new(read(&folder).1);
        app(folder, Origin::Named, &reading)
    }
}

/// A folder with an app that cannot be used under any name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableApp {
    pub path: String,
    pub problems: Vec<Problem>,
}

/// A folder whose apps are not loaded until the user trusts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedApps {
    pub folder: PathBuf,
    pub apps: usize,
}

/// Where the user's apps may be, besides the given folders.
#[derive(Debug, Clone, Default)]
pub struct SearchPaths {
    /// The folder that contains `weblets`.
    pub here: Option<PathBuf>,
    /// The value of `WEBLET_PATH`.
    pub path: Option<OsString>,
    /// The folder that contains `.weblets`.
    pub home: Option<PathBuf>,
}

impl SearchPaths {
    /// From the environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            here: std::env::current_dir().ok(),
            path: std::env::var_os("WEBLET_PATH"),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        }
    }
}

/// A folder that is an app or contains apps.
enum SearchLocation {
    /// Given, or the user's own.
    Given(Origin, PathBuf),
    /// The working directory.
    Here(PathBuf),
}

pub struct AppRegistry {
    /// Trust and ownership of names.
    pub folders: Folders,
    places: Vec<SearchLocation>,
    found: Mutex<Option<Arc<Discovery>>>,
    looking: tokio::sync::Mutex<()>,
}

impl AppRegistry {
    /// The apps of these folders, each of which is an app or contains apps, and of the user's folders.
    #[must_use]
    pub fn new(named: &[PathBuf], around: &SearchPaths, folders: Folders) -> Arc<Self> {
        let given = |origin| move |folder: PathBuf| SearchLocation::Given(origin, folder);
        let here = around.here.iter().map(|here| here.join("weblets"));
        let path = around.path.iter().flat_map(std::env::split_paths);
        let path = path.filter(|folder| !folder.as_os_str().is_empty());
        let home = around.home.iter().map(|home| home.join(".weblets"));
        let named = named.iter().cloned().map(given(Origin::Named));
        let places = named
            .chain(here.map(SearchLocation::Here))
            .chain(path.chain(home).map(given(Origin::Folder)));
        Arc::new(Self {
            folders,
            places: places.collect(),
            found: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
        })
    }

    /// Sorted by name.
    pub async fn list(self: &Arc<Self>) -> Vec<Arc<App>> {
        self.found().await.apps.values().cloned().collect()
    }

    pub async fn find(self: &Arc<Self>, name: &AppName) -> Option<Arc<App>> {
        self.found().await.apps.get(name).cloned()
    }

    /// Finds an app by its name, or by the name in its manifest.
    pub async fn called(self: &Arc<Self>, name: &AppName) -> Option<Arc<App>> {
        let found = self.found().await;
        let known = found.declared.get(name).unwrap_or(name);
        let exact = found.apps.get(name);
        exact.or_else(|| found.apps.get(known)).cloned()
    }

    /// Folders whose apps are not loaded.
    pub async fn untrusted(self: &Arc<Self>) -> Vec<UntrustedApps> {
        self.found().await.untrusted.clone()
    }

    /// Forces a scan at the next use.
    pub fn forget(&self) {
        *self.found.lock() = None;
    }

    /// Folders with an `APP.md` that are not an app under any name.
    pub async fn strays(self: &Arc<Self>) -> Vec<UnusableApp> {
        self.found().await.strays.clone()
    }

    /// The last scan, unless it is too old.
    async fn found(self: &Arc<Self>) -> Arc<Discovery> {
        if let Some(found) = self.fresh() {
            return found;
        }
        // One caller scans, the others wait for its result.
        let _alone = self.looking.lock().await;
        if let Some(found) = self.fresh() {
            return found;
        }
        let (registry, at) = (Arc::clone(self), Instant::now());
        let before = self.last();
        let looked = tokio::task::spawn_blocking(move || registry.look(at, before.as_deref()));
        let found = Arc::new(looked.await.unwrap_or_else(|_| Discovery::nothing(at)));
        *self.found.lock() = Some(Arc::clone(&found));
        found
    }

    fn last(&self) -> Option<Arc<Discovery>> {
        let found = self.found.lock();
        found.clone()
    }

    fn fresh(&self) -> Option<Arc<Discovery>> {
        self.last().filter(|found| found.at.elapsed() < LIFE)
    }

    fn look(&self, at: Instant, before: Option<&Discovery>) -> Discovery {
        let mut found = Discovery::nothing(at);
        let mut stored = match self.folders.read() {
            Ok(stored) => stored,
            // Without it the owners of names are unknown.
            Err(error) => {
                tracing::error!(%error, "apps.json of the data folder cannot be read; no apps are loaded until it is fixed");
                return found;
            }
        };
        let known = stored.clone();
        for place in &self.places {
            match place {
                SearchLocation::Here(folder) => found.add_if_trusted(folder, &mut stored, before),
                SearchLocation::Given(origin, folder) => {
                    for folder in folders_in(folder) {
                        found.add(AppFolder::Disk(folder), *origin, &mut stored, before);
                    }
                }
            }
        }
        let shipped: Vec<AppName> = Shipped::iter()
            .filter_map(|path| path.strip_suffix("/APP.md")?.parse().ok())
            .collect();
        for name in shipped {
            let folder = AppFolder::Builtin(name);
            found.add(folder, Origin::Builtin, &mut stored, before);
        }
        if stored != known
            && let Err(error) = self.folders.keep(&stored)
        {
            tracing::error!(%error, "writing the names of apps to apps.json of the data folder failed");
            return Discovery::nothing(at);
        }
        found
    }
}
