//! Where apps are found: in folders that were named, around the person, and built in; the first of a name wins.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use gangway_core::AppName;
use tokio::time::Instant;

use super::{
    folder::{AppFolder, Mark, told},
    manifest::{self, Manifest, Problem, Reading, Severity},
};
use crate::{assets::Shipped, files::FilePath};

/// Apps that are looked at in one folder.
const MOST: usize = 500;

/// Names that are looked at in one folder to find them.
const NAMES: usize = 10_000;

/// How long what was found is taken for true; changes are seen after that.
const LIFE: Duration = Duration::from_millis(500);

/// Where an app is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It ships with Gangway.
    Builtin,
    /// From a folder that was named on the command line or in the settings.
    Named,
    /// From `./weblets`, `WEBLET_PATH` or `~/.weblets`.
    Folder,
}

impl Origin {
    /// Its name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Named => "named",
            Self::Folder => "folder",
        }
    }
}

/// An app.
#[derive(Debug, Clone, PartialEq)]
pub struct App {
    /// Its name.
    pub name: AppName,
    /// What it says about itself.
    pub manifest: Arc<Manifest>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// Where it is from.
    pub origin: Origin,
    /// Where its files are.
    pub folder: AppFolder,
}

impl App {
    /// The first reason why it cannot be launched.
    #[must_use]
    pub fn broken(&self) -> Option<&Problem> {
        let bad = |problem: &&Problem| problem.severity == Severity::Error;
        self.problems.iter().find(bad)
    }

    /// The app in one folder.
    pub fn in_folder(folder: &Path) -> Result<Self, Stray> {
        let folder = AppFolder::Disk(folder.to_owned());
        let reading = Arc::new(read(&folder).1);
        app(folder, Origin::Named, &reading)
    }
}

/// A folder that holds an app which cannot be used under any name, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Where.
    pub path: String,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Where a person's apps may be beside the folders that were named.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// The folder that holds `weblets`.
    pub here: Option<PathBuf>,
    /// What `WEBLET_PATH` says.
    pub path: Option<OsString>,
    /// The folder that holds `.weblets`.
    pub home: Option<PathBuf>,
}

impl Around {
    /// As it is around this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            here: std::env::current_dir().ok(),
            path: std::env::var_os("WEBLET_PATH"),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        }
    }
}

/// All apps.
pub struct Shelf {
    folders: Vec<(Origin, PathBuf)>,
    found: Mutex<Option<Arc<Found>>>,
    looking: tokio::sync::Mutex<()>,
}

/// What was found at some moment.
struct Found {
    at: Instant,
    apps: BTreeMap<AppName, Arc<App>>,
    strays: Vec<Stray>,
    /// Manifests that were read, so that they are read again only when they changed.
    read: HashMap<AppFolder, (Mark, Arc<Reading>)>,
}

impl Shelf {
    /// The apps of these folders, each of which holds apps or is one, and of those around the person.
    #[must_use]
    pub fn new(named: &[PathBuf], around: &Around) -> Arc<Self> {
        let mut folders: Vec<_> = named
            .iter()
            .map(|folder| (Origin::Named, folder.clone()))
            .collect();
        let here = around.here.iter().map(|here| here.join("weblets"));
        let path = around.path.iter().flat_map(std::env::split_paths);
        let path = path.filter(|folder| !folder.as_os_str().is_empty());
        let home = around.home.iter().map(|home| home.join(".weblets"));
        folders.extend(
            here.chain(path)
                .chain(home)
                .map(|one| (Origin::Folder, one)),
        );
        Arc::new(Self {
            folders,
            found: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
        })
    }

    /// All of them, by name.
    pub async fn list(self: &Arc<Self>) -> Vec<Arc<App>> {
        self.found().await.apps.values().cloned().collect()
    }

    /// One of them.
    pub async fn find(self: &Arc<Self>, name: &AppName) -> Option<Arc<App>> {
        self.found().await.apps.get(name).cloned()
    }

    /// Folders with an `APP.md` that are no app under any name.
    pub async fn strays(self: &Arc<Self>) -> Vec<Stray> {
        self.found().await.strays.clone()
    }

    /// What was found last, unless that is too old.
    async fn found(self: &Arc<Self>) -> Arc<Found> {
        if let Some(found) = self.fresh() {
            return found;
        }
        // One looks, the others wait for what it finds.
        let _alone = self.looking.lock().await;
        if let Some(found) = self.fresh() {
            return found;
        }
        let (shelf, at) = (Arc::clone(self), Instant::now());
        let before = self.last();
        let looked = tokio::task::spawn_blocking(move || shelf.look(at, before.as_deref()));
        let found = Arc::new(looked.await.unwrap_or_else(|_| Found::nothing(at)));
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
        found
    }

    fn last(&self) -> Option<Arc<Found>> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.clone()
    }

    fn fresh(&self) -> Option<Arc<Found>> {
        self.last().filter(|found| found.at.elapsed() < LIFE)
    }

    fn look(&self, at: Instant, before: Option<&Found>) -> Found {
        let mut found = Found::nothing(at);
        for (origin, folder) in &self.folders {
            for folder in folders_in(folder) {
                found.add(AppFolder::Disk(folder), *origin, before);
            }
        }
        let shipped: Vec<AppName> = Shipped::iter()
            .filter_map(|path| path.strip_suffix("/APP.md")?.parse().ok())
            .collect();
        for name in shipped {
            found.add(AppFolder::Builtin(name), Origin::Builtin, before);
        }
        found
    }
}

impl Found {
    fn nothing(at: Instant) -> Self {
        Self {
            at,
            apps: BTreeMap::new(),
            strays: Vec::new(),
            read: HashMap::new(),
        }
    }

    fn add(&mut self, folder: AppFolder, origin: Origin, before: Option<&Self>) {
        // The same folder may be named twice.
        if self.read.contains_key(&folder) {
            return;
        }
        let known = before.and_then(|before| before.read.get(&folder));
        let same = known.filter(|(mark, _)| {
            mark.is_settled() && folder.mark(&manifest_file()).is_ok_and(|now| now == *mark)
        });
        let (mark, reading) = match same {
            Some((mark, reading)) => (Some(mark.clone()), Arc::clone(reading)),
            None => {
                let (mark, reading) = read(&folder);
                (mark, Arc::new(reading))
            }
        };
        match app(folder.clone(), origin, &reading) {
            Ok(app) => self.shelve(app),
            Err(stray) => self.strays.push(stray),
        }
        if let Some(mark) = mark {
            self.read.insert(folder, (mark, reading));
        }
    }

    fn shelve(&mut self, app: App) {
        let Some(first) = self.apps.get_mut(&app.name) else {
            self.apps.insert(app.name.clone(), Arc::new(app));
            return;
        };
        // Whoever has an own version of an app that ships with Gangway knows it.
        if app.origin == Origin::Builtin {
            return;
        }
        let (name, hidden) = (&app.name, place(&app.folder));
        let told = Problem {
            line: None,
            severity: Severity::Warning,
            message: format!("another app called {name} is in {hidden}; this one came first"),
        };
        Arc::make_mut(first).problems.push(told);
        let problem = Problem {
            line: None,
            severity: Severity::Error,
            message: format!(
                "the app {name} is in {} too, which came first",
                place(&first.folder)
            ),
        };
        self.strays.push(Stray {
            path: hidden,
            problems: vec![problem],
        });
    }
}

fn manifest_file() -> FilePath {
    manifest::FILE.parse().unwrap_or_default()
}

fn place(folder: &AppFolder) -> String {
    match folder {
        AppFolder::Builtin(name) => format!("Gangway itself ({name})"),
        AppFolder::Disk(path) => path.display().to_string(),
    }
}

/// The folders with an `APP.md`: this one, or those in it, by name.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let is_app = |folder: &Path| folder.join(manifest::FILE).is_file();
    if is_app(folder) {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let entries = entries.take(NAMES).flatten().map(|entry| entry.path());
    let mut apps: Vec<PathBuf> = entries.filter(|path| is_app(path)).collect();
    apps.sort();
    apps.truncate(MOST);
    apps
}

/// Reads the manifest of a folder.
fn read(folder: &AppFolder) -> (Option<Mark>, Reading) {
    let name = match folder {
        AppFolder::Builtin(name) => name.to_string(),
        AppFolder::Disk(path) => folder_name(path),
    };
    let unreadable = |message: String| Reading {
        problems: vec![Problem {
            line: None,
            severity: Severity::Error,
            message,
        }],
        ..manifest::read("", &name)
    };
    match folder.read(&manifest_file(), manifest::LARGEST) {
        Ok((mark, text)) => {
            let reading = match std::str::from_utf8(&text) {
                Ok(text) => manifest::read(text, &name),
                Err(_) => unreadable("it is not UTF-8 text".to_owned()),
            };
            (Some(mark), reading)
        }
        Err(error) => (
            None,
            unreadable(format!("it cannot be read: {}", told(&error))),
        ),
    }
}

/// What the folder is called, also where a path ends in `.`.
fn folder_name(path: &Path) -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    name(path)
        .or_else(|| name(&path.canonicalize().ok()?))
        .unwrap_or_default()
}

fn app(folder: AppFolder, origin: Origin, reading: &Reading) -> Result<App, Stray> {
    let mut problems = reading.problems.clone();
    let Some(manifest) = &reading.manifest else {
        let path = place(&folder);
        return Err(Stray { path, problems });
    };
    // Of an app that is broken anyway the entry may be anything.
    if !reading.is_broken()
        && let Err(error) = folder.mark(&manifest.entry)
    {
        problems.push(Problem {
            line: None,
            severity: Severity::Error,
            message: format!(
                "`entry` is {}, but {}",
                manifest.entry.as_str(),
                told(&error)
            ),
        });
    }
    Ok(App {
        name: manifest.name.clone(),
        manifest: Arc::new(manifest.clone()),
        problems,
        origin,
        folder,
    })
}
