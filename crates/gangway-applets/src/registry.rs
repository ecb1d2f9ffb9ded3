//! Finds applets: built in, in configured folders, and in the data folder; later ones take precedence.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use gangway_apps::Shipped;
use gangway_core::Slug;
use gangway_files::{FileError, FilePath, Folder, Watch};
use serde::Deserialize;

use crate::open_applets::OpenApplets;

/// Maximum number of applets per folder.
const MOST: usize = 500;

/// Size limit of an applet's file.
const FILE: u64 = 8 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Builtin,
    /// From a folder given with `--apps`.
    Apps,
    Data,
}

#[derive(Debug, Clone)]
pub struct Applet {
    /// Its name in URLs, and that of its folder.
    pub slug: Slug,
    pub name: String,
    pub description: Option<String>,
    /// The keys of its state, described for agents.
    pub state: Option<String>,
    pub origin: Origin,
    /// `None` if it is built in.
    pub folder: Option<PathBuf>,
    /// Why it cannot be opened.
    pub problem: Option<String>,
}

/// The content of `meta.json`.
#[derive(Deserialize)]
struct Meta {
    slug: Option<String>,
    name: Option<String>,
    description: Option<String>,
    state: Option<String>,
}

pub struct AppletRegistry {
    apps: Vec<PathBuf>,
    pub(super) data: PathBuf,
    pub(super) opened: OpenApplets,
    /// Serializes updates of `message-meta.json`, which read it first.
    pub(super) noting: tokio::sync::Mutex<()>,
}

impl AppletRegistry {
    #[must_use]
    pub fn new(apps: &[PathBuf], data: &Path) -> Arc<Self> {
        Arc::new(Self {
            apps: apps.to_vec(),
            data: data.to_owned(),
            opened: OpenApplets::default(),
            noting: tokio::sync::Mutex::default(),
        })
    }

    /// The folder of applets in the data folder.
    #[must_use]
    pub fn own_folder(&self) -> PathBuf {
        self.data.join("applets")
    }

    pub async fn list(self: &Arc<Self>) -> Vec<Applet> {
        let registry = Arc::clone(self);
        let look = move || {
            let mut found = builtin();
            for folder in &registry.apps {
                found.extend(in_folder(folder, Origin::Apps));
            }
            found.extend(in_folder(&registry.own_folder(), Origin::Data));
            found
        };
        let found: BTreeMap<Slug, Applet> =
            tokio::task::spawn_blocking(look).await.unwrap_or_default();
        found.into_values().collect()
    }

    pub async fn find(self: &Arc<Self>, slug: &Slug) -> Option<Applet> {
        self.list().await.into_iter().find(|one| one.slug == *slug)
    }

    /// Watches the files of an applet on disk.
    pub async fn watch(self: &Arc<Self>, slug: &Slug) -> Option<Watch> {
        let folder = self.find(slug).await?.folder?;
        let folder = Folder::open(&folder).await.ok()?;
        folder.watch(FilePath::root()).await.ok()
    }
}

impl Applet {
    pub async fn file(&self, path: &FilePath) -> Result<Bytes, FileError> {
        let missing = || FileError::NotFound { path: path.clone() };
        let Some(folder) = &self.folder else {
            let file =
                Shipped::get(&format!("{}/{}", self.slug, path.as_str())).ok_or_else(missing)?;
            return Ok(match file.data {
                std::borrow::Cow::Borrowed(data) => Bytes::from_static(data),
                std::borrow::Cow::Owned(data) => data.into(),
            });
        };
        let folder = Folder::open(folder).await?;
        let mut read = folder.read(path, 0, None).await?;
        if read.size > FILE {
            return Err(FileError::TooLarge { limit: FILE });
        }
        let mut whole = Vec::with_capacity(usize::try_from(read.size).unwrap_or_default());
        while let Some(piece) = read.next(256 << 10).await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole.into())
    }
}

fn builtin() -> BTreeMap<Slug, Applet> {
    let metas = Shipped::iter().filter_map(|path| {
        let slug: Slug = path.strip_suffix("/meta.json")?.parse().ok()?;
        let text = Shipped::get(&path)?.data;
        Some((slug.clone(), described(slug, &text, Origin::Builtin, None)))
    });
    metas.collect()
}

fn in_folder(folder: &Path, origin: Origin) -> BTreeMap<Slug, Applet> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return BTreeMap::new();
    };
    let applets = entries.take(MOST).filter_map(|entry| {
        let path = entry.ok()?.path();
        let slug: Slug = path.file_name()?.to_str()?.parse().ok()?;
        let meta = path.join("meta.json");
        let size = std::fs::metadata(&meta).ok()?.len();
        let text = match size <= 64 << 10 {
            true => std::fs::read(&meta).ok()?,
            false => Vec::new(),
        };
        let mut applet = described(slug.clone(), &text, origin, Some(path.clone()));
        if applet.problem.is_none() && !path.join("content.html").is_file() {
            applet.problem = Some("content.html is missing in its folder".to_owned());
        }
        Some((slug, applet))
    });
    applets.collect()
}

fn described(slug: Slug, meta: &[u8], origin: Origin, folder: Option<PathBuf>) -> Applet {
    let plain = |most: usize| {
        move |text: String| -> String {
            let shown = text.chars().filter(|c| !c.is_control());
            shown.take(most).collect()
        }
    };
    let (name, description, state, problem) = match serde_json::from_slice::<Meta>(meta) {
        Err(error) => (
            None,
            None,
            None,
            Some(format!("cannot parse meta.json: {error}")),
        ),
        Ok(meta) => {
            let other = meta.slug.filter(|named| *named != slug.as_str());
            let problem = other.map(|other| {
                let other: String = other.chars().take(64).collect();
                format!("the slug in meta.json is {other:?}, but its folder is {slug}")
            });
            (meta.name, meta.description, meta.state, problem)
        }
    };
    let name = name.map(plain(80)).filter(|name| !name.trim().is_empty());
    Applet {
        name: name.unwrap_or_else(|| slug.to_string()),
        description: description.map(plain(500)),
        state: state.map(plain(4000)),
        slug,
        origin,
        folder,
        problem,
    }
}
