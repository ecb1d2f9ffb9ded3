//! The folder with the weights: each file `NAME.gguf` is the model `NAME`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Gguf, ModelName, WeightsError, WeightsRecord, digest};

#[derive(Debug, Clone)]
pub struct WeightsStore {
    folder: PathBuf,
}

/// The weights of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// `None` for a file that a person put there.
    pub note: Option<WeightsRecord>,
}

impl WeightsStore {
    /// The folder need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sorted by name.
    pub fn list(&self) -> io::Result<Vec<Weights>> {
        let mut found = Vec::new();
        for (name, path) in self.entries()? {
            // Broken symlinks are skipped.
            if let Ok(file) = fs::metadata(&path)
                && file.is_file()
            {
                found.push(Weights {
                    note: WeightsRecord::read(&path.with_file_name(format!("{name}.json"))),
                    name,
                    path,
                    bytes: file.len(),
                });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    pub fn find(&self, name: &str) -> io::Result<Option<Weights>> {
        Ok(self
            .list()?
            .into_iter()
            .find(|weights| weights.name == name))
    }

    /// Adds a model file after checking it: as a symlink where supported, or as a copy.
    pub fn add(
        &self,
        file: &Path,
        name: Option<ModelName>,
        copy: bool,
    ) -> Result<Weights, WeightsError> {
        let unusable = |reason| WeightsError::Unusable {
            path: file.to_owned(),
            reason,
        };
        Gguf::read(file).map_err(|error| unusable(error.to_string()))?;
        let name = name.map_or_else(|| ModelName::of_file(file), Ok)?;
        let file = file.canonicalize().map_err(WeightsError::io(file))?;
        self.make_folder()?;
        let path = self.path_of(&name);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(WeightsError::Taken(name.to_string()));
        }
        let sha256 = if copy || !cfg!(unix) {
            Some(self.copy(&file, &name)?)
        } else {
            #[cfg(unix)]
            std::os::unix::fs::symlink(&file, &path).map_err(WeightsError::io(&path))?;
            None
        };
        let note = WeightsRecord::new(file.to_string_lossy(), sha256);
        note.write(&self.note_of(&name))?;
        self.expect(&name)
    }

    /// Copies a file atomically; returns its hash.
    fn copy(&self, file: &Path, name: &ModelName) -> Result<String, WeightsError> {
        let part = self.folder.join(format!(".{name}.copy"));
        let copied = (|| {
            let mut from = fs::File::open(file).map_err(WeightsError::io(file))?;
            let mut to = fs::File::create(&part).map_err(WeightsError::io(&part))?;
            let failed = WeightsError::io(&part);
            let hash = digest::copy(&mut from, &mut to, |_| true).map_err(&failed)?;
            to.sync_all().map_err(&failed)?;
            Ok(hash)
        })();
        let stored = copied.and_then(|hash| self.keep(&part, name).map(|()| hash));
        if stored.is_err() {
            let _ = fs::remove_file(&part);
        }
        stored
    }

    /// Removes a model: the file or the symlink, never the target of a symlink.
    pub fn remove(&self, name: &str) -> Result<(), WeightsError> {
        let entries = self.entries().map_err(WeightsError::io(&self.folder))?;
        // Looked up in the listing, so that the name cannot leave the folder.
        let Some((name, path)) = entries.into_iter().find(|(entry, _)| entry == name) else {
            return Err(WeightsError::NotFound(name.to_owned()));
        };
        fs::remove_file(&path).map_err(WeightsError::io(&path))?;
        let note = path.with_file_name(format!("{name}.json"));
        match fs::remove_file(&note) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WeightsError::io(&note)(error))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn keep(&self, file: &Path, name: &ModelName) -> Result<(), WeightsError> {
        let path = self.path_of(name);
        fs::rename(file, &path).map_err(WeightsError::io(&path))?;
        gangway_core::atomic_file::sync_folder_of(&path).map_err(WeightsError::io(&path))
    }

    pub(super) fn path_of(&self, name: &ModelName) -> PathBuf {
        self.folder.join(format!("{name}.gguf"))
    }

    pub(super) fn note_of(&self, name: &ModelName) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    pub(super) fn expect(&self, name: &ModelName) -> Result<Weights, WeightsError> {
        self.find(name.as_str())
            .map_err(WeightsError::io(&self.folder))?
            .ok_or_else(|| WeightsError::NotFound(name.to_string()))
    }

    /// Creates the folder with access for its owner only.
    pub(super) fn make_folder(&self) -> Result<(), WeightsError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.folder)
            .map_err(WeightsError::io(&self.folder))
    }

    /// Names and paths of all `NAME.gguf`.
    fn entries(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_stem().and_then(|stem| stem.to_str());
            if let (Some(name), Some("gguf")) = (name, path.extension().and_then(|e| e.to_str())) {
                found.push((name.to_owned(), path.clone()));
            }
        }
        Ok(found)
    }
}
