//! A file of weights with its size and time, so that a replaced file is noticed.

use std::{io, path::PathBuf, time::SystemTime};

use gangway_models::{
    Failure, ModelError,
    weights::{Weights, WeightsStore},
};
use serde::{Deserialize, Serialize};

/// Displayed characters of a reason.
const REASON: usize = 300;

/// A file of weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The model's name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last modified, if known.
    pub changed: Option<SystemTime>,
}

impl Source {
    fn of(weights: Weights) -> io::Result<Self> {
        Self::at(weights.name, weights.path)
    }

    fn at(name: String, path: PathBuf) -> io::Result<Self> {
        let file = std::fs::metadata(&path)?;
        Ok(Self {
            bytes: file.len(),
            changed: file.modified().ok(),
            name,
            path,
        })
    }

    /// The same file in its current version.
    pub fn now(&self) -> io::Result<Self> {
        Self::at(self.name.clone(), self.path.clone())
    }

    /// The error of a request for unusable weights.
    #[must_use]
    pub fn refused(&self, reason: &str) -> ModelError {
        let path = self.path.display().to_string();
        let reason: String = reason
            .trim_end_matches('.')
            .replace(&path, "the file")
            .chars()
            .take(REASON)
            .collect();
        ModelError {
            details: Some(reason.clone()),
            ..ModelError::failed(format!(
                "Cannot load the weights {}: {reason}. If the file is damaged, `gangway models pull` downloads it again.",
                self.name
            ))
        }
    }

    /// The requested weights, or the first ones by default.
    pub fn find(store: &WeightsStore, name: Option<&str>) -> Result<Self, ModelError> {
        let unread = |error: io::Error| {
            ModelError::failed(format!("Cannot read the folder with the weights: {error}"))
        };
        let all = store.list().map_err(unread)?;
        let names: Vec<String> = all.iter().map(|weights| weights.name.clone()).collect();
        let found = match name {
            Some(name) => all.into_iter().find(|weights| weights.name == name),
            None => all.into_iter().next(),
        };
        match (found, name) {
            (Some(weights), _) => Self::of(weights).map_err(unread),
            (None, _) if names.is_empty() => Err(ModelError::new(
                Failure::NoModel,
                "No weights are installed. `gangway models pull` downloads some.",
            )),
            (None, name) => Err(ModelError::new(
                Failure::NoModel,
                format!(
                    "Model {} is not installed. Installed: {}. `gangway models pull` downloads others.",
                    name.unwrap_or_default(),
                    names.join(", ")
                ),
            )),
        }
    }
}
