//! Which file a model was loaded from, so that a replaced file is noticed.

use std::{io, path::PathBuf, time::SystemTime};

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
    changed: Option<SystemTime>,
}

impl Source {
    fn of(weights: Weights) -> io::Result<Self> {
        let file = std::fs::metadata(&weights.path)?;
        Ok(Self {
            name: weights.name,
            path: weights.path,
            bytes: file.len(),
            changed: file.modified().ok(),
        })
    }

    /// The same file as it is now.
    pub fn now(&self) -> io::Result<Self> {
        Self::of(Weights {
            name: self.name.clone(),
            path: self.path.clone(),
            bytes: self.bytes,
            note: None,
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
