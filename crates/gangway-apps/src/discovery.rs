//! One scan of the folders: apps by name, invalid folders, and untrusted folders.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use gangway_core::AppName;
use tokio::time::Instant;

use super::{
    folder::{AppFolder, SourceStamp, describe},
    folders::FolderRecords,
    manifest::{self, Manifest, ParsedManifest, Problem, Severity},
    program,
    rank::KnownWords,
    registry::{App, Origin, UntrustedApps, UnusableApp},
};
use gangway_core::text::is_hidden;
use gangway_files::{FilePath, media_type};

/// Apps per folder.
const MOST: usize = 500;

/// Bytes of an icon.
const ICON: u64 = 64 << 10;

/// Directory entries per folder.
const NAMES: usize = 10_000;

pub(super) struct Discovery {
    pub(super) at: Instant,
    pub(super) apps: BTreeMap<AppName, Arc<App>>,
    /// Apps by the name in their manifest.
    pub(super) declared: HashMap<AppName, AppName>,
    pub(super) strays: Vec<UnusableApp>,
    pub(super) untrusted: Vec<UntrustedApps>,
    /// Manifests, so that only changed ones are read again.
    read: HashMap<AppFolder, Known>,
}

struct Known {
    mark: SourceStamp,
    reading: Arc<ParsedManifest>,
    made: Result<App, UnusableApp>,
}

impl Discovery {
    pub(super) fn nothing(at: Instant) -> Self {
        Self {
            at,
            apps: BTreeMap::new(),
            declared: HashMap::new(),
            strays: Vec::new(),
            untrusted: Vec::new(),
            read: HashMap::new(),
        }
    }

    /// Adds the apps of an unnamed folder: none of them is even read unless the folder is trusted.
    pub(super) fn add_if_trusted(
        &mut self,
        folder: &Path,
        stored: &mut FolderRecords,
        before: Option<&Self>,
    ) {
        let Ok(real) = folder.canonicalize() else {
            return;
        };
        let apps = folders_in(folder);
        if !stored.trusts(&real) {
            if !apps.is_empty() {
                let apps = apps.len();
                self.untrusted.push(UntrustedApps { folder: real, apps });
            }
            return;
        }
        for app in apps {
            // A symlink may lead to an untrusted folder.
            if app.canonicalize().is_ok_and(|app| app.starts_with(&real)) {
                self.add(AppFolder::Disk(app), Origin::Folder, stored, before);
            }
        }
    }

    pub(super) fn add(
        &mut self,
        folder: AppFolder,
        origin: Origin,
        stored: &mut FolderRecords,
        before: Option<&Self>,
    ) {
        // The same folder may be given twice.
        if self.read.contains_key(&folder) {
            return;
        }
        let known = before.and_then(|before| before.read.get(&folder));
        let same = known.filter(|known| {
            let mark = &known.mark;
            mark.is_settled() && folder.mark(&manifest_file()).is_ok_and(|now| now == *mark)
        });
        let (mark, reading) = match same {
            Some(known) => (Some(known.mark.clone()), Arc::clone(&known.reading)),
            None => {
                let (mark, reading) = read(&folder);
                (mark, Arc::new(reading))
            }
        };
        let made = match (same, &folder) {
            // All of it is in the binary.
            (Some(known), AppFolder::Builtin(_)) => known.made.clone(),
            _ => app(folder.clone(), origin, &reading).map(|mut app| {
                let before = same.and_then(|known| known.made.as_ref().ok());
                app.words = before.map_or(app.words, |before| before.words.clone());
                app
            }),
        };
        match made.clone() {
            Ok(app) => self.insert(app, stored),
            Err(stray) => self.strays.push(stray),
        }
        if let Some(mark) = mark {
            let known = Known {
                mark,
                reading,
                made,
            };
            self.read.insert(folder, known);
        }
    }

    fn insert(&mut self, mut app: App, stored: &mut FolderRecords) {
        let first = self.declared.get(&app.manifest.name);
        let Some(first) = first.and_then(|name| self.apps.get_mut(name)) else {
            let Some(name) = stored.name(&app.manifest.name, &app.place) else {
                return;
            };
            app.name = name.clone();
            self.declared
                .insert(app.manifest.name.clone(), name.clone());
            self.apps.insert(name, Arc::new(app));
            return;
        };
        // Overriding a built-in app is deliberate, so there is no warning.
        if app.origin == Origin::Builtin {
            return;
        }
        let (name, hidden) = (&app.name, place(&app.folder));
        let text = Problem {
            line: None,
            severity: Severity::Warning,
            message: format!("another app named {name} in {hidden} is hidden by this one"),
        };
        Arc::make_mut(first).problems.push(text);
        let problem = Problem {
            line: None,
            severity: Severity::Error,
            message: format!("hidden by the app {name} in {}", place(&first.folder)),
        };
        self.strays.push(UnusableApp {
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

/// The folders with an `APP.md`: this one, or its subfolders, sorted by name.
pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
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

pub(super) fn read(folder: &AppFolder) -> (Option<SourceStamp>, ParsedManifest) {
    let name = match folder {
        AppFolder::Builtin(name) => name.to_string(),
        AppFolder::Disk(path) => folder_name(path),
    };
    let unreadable = |message: String| ParsedManifest {
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
                Err(_) => unreadable("it is not valid UTF-8".to_owned()),
            };
            (Some(mark), reading)
        }
        Err(error) => (
            None,
            unreadable(format!("it cannot be read: {}", describe(&error))),
        ),
    }
}

/// The folder's name, even if the path ends in `.`.
fn folder_name(path: &Path) -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    name(path)
        .or_else(|| name(&path.canonicalize().ok()?))
        .unwrap_or_default()
}

/// The icon: a character or two as they are, an image file as a `data:` URL.
fn icon(folder: &AppFolder, manifest: &Manifest) -> Option<String> {
    let icon = manifest.icon.as_deref()?;
    let path: Option<FilePath> = icon.parse().ok();
    let picture = path.and_then(|path| {
        let kind = Some(media_type(path.as_str())).filter(|kind| kind.starts_with("image/"))?;
        let (_, bytes) = folder.read(&path, ICON).ok()?;
        let encoded = BASE64_STANDARD.encode(bytes);
        Some(format!("data:{kind};base64,{encoded}"))
    });
    // An emoji may consist of several characters; words and URLs are not accepted.
    let short = icon.chars().count() <= 8 && !icon.is_ascii() && !icon.contains(is_hidden);
    picture.or_else(|| short.then(|| icon.to_owned()))
}

/// The app in a folder, with its declared name.
pub(super) fn app(
    folder: AppFolder,
    origin: Origin,
    reading: &ParsedManifest,
) -> Result<App, UnusableApp> {
    let mut problems = reading.problems.clone();
    let Some(mut manifest) = reading.manifest.clone() else {
        let path = place(&folder);
        return Err(UnusableApp { path, problems });
    };
    problems.extend(program::settle(&folder, &mut manifest));
    // If the app is invalid anyway, the entry is not checked.
    if !reading.is_broken()
        && let Err(error) = folder.mark(&manifest.entry)
    {
        problems.push(Problem {
            line: None,
            severity: Severity::Error,
            message: format!(
                "`entry` is {}, but {}",
                manifest.entry.as_str(),
                describe(&error)
            ),
        });
    }
    let place = match &folder {
        AppFolder::Builtin(_) => "builtin".to_owned(),
        AppFolder::Disk(path) => {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            real.display().to_string()
        }
    };
    Ok(App {
        icon: icon(&folder, &manifest),
        name: manifest.name.clone(),
        place,
        manifest: Arc::new(manifest),
        problems,
        origin,
        folder,
        words: KnownWords::default(),
    })
}
