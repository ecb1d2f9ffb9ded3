//! Which file a model was loaded from, so that a replaced file is noticed.

use std::{
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use gangway_models::{
    Failure, ModelError,
    weights::{Shelf, Weights},
};

/// A file of weights as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    pub changed: Option<SystemTime>,
    /// This process is there to try the file, and nothing is lost when it dies of it.
    pub on_trial: bool,
}

impl Source {
    fn of(weights: Weights) -> io::Result<Self> {
        let file = std::fs::metadata(&weights.path)?;
        Ok(Self {
            name: weights.name,
            path: weights.path,
            bytes: file.len(),
            changed: file.modified().ok(),
            on_trial: false,
        })
    }

    /// The same file as it is now.
    pub fn now(&self) -> io::Result<Self> {
        let now = Self::of(Weights {
            name: self.name.clone(),
            path: self.path.clone(),
            bytes: self.bytes,
            note: None,
        })?;
        Ok(Self {
            on_trial: self.on_trial,
            ..now
        })
    }

    /// A file that is to be tried.
    pub fn on_trial(path: &Path) -> io::Result<Self> {
        let name = path.file_stem().unwrap_or_default();
        let found = Self::of(Weights {
            name: name.to_string_lossy().into_owned(),
            path: path.to_owned(),
            bytes: 0,
            note: None,
        })?;
        Ok(Self {
            on_trial: true,
            ..found
        })
    }

    /// The weights that a request means: those it names, or the first on the shelf.
    pub fn find(shelf: &Shelf, name: Option<&str>) -> Result<Self, ModelError> {
        let unread = |error: io::Error| {
            ModelError::failed(format!(
                "The folder with the weights cannot be read: {error}"
            ))
        };
        let all = shelf.list().map_err(unread)?;
        let names: Vec<String> = all.iter().map(|weights| weights.name.clone()).collect();
        let found = match name {
            Some(name) => all.into_iter().find(|weights| weights.name == name),
            None => all.into_iter().next(),
        };
        match (found, name) {
            (Some(weights), _) => Self::of(weights).map_err(unread),
            (None, _) if names.is_empty() => Err(ModelError::new(
                Failure::NoModel,
                "There are no weights on this machine yet. `gangway models pull` fetches some.",
            )),
            (None, name) => Err(ModelError::new(
                Failure::NoModel,
                format!(
                    "There is no model {} on this machine. There is: {}. `gangway models pull` fetches others.",
                    name.unwrap_or_default(),
                    names.join(", ")
                ),
            )),
        }
    }
}
