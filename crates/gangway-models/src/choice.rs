//! The default model, stored beside the weights.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

/// In the folder with the weights.
const FILE: &str = "default.json";

/// One short line; anything larger is something else.
const MOST: u64 = 64 << 10;

/// The default model that the user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// `provider/model`, for example `embedded/smollm2-135m-instruct`.
    pub model: String,
}

impl Choice {
    /// Reads the choice in this folder, if there is one. An invalid file is an error.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        match gangway_core::atomic_file::read(&folder.join(FILE), MOST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        }
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let lock = std::fs::File::create(folder.join(".default.lock"))?;
        lock.lock()?;
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        gangway_core::atomic_file::write(&folder.join(FILE), &text)
    }

    /// False when there was none.
    pub fn remove(folder: &Path) -> io::Result<bool> {
        match std::fs::remove_file(folder.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_kept_replaced_and_removed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path().join("models");
        assert_eq!(Choice::read(&folder)?, None);
        for model in ["embedded/a", "ollama/b:1b"] {
            let choice = Choice {
                model: model.into(),
            };
            choice.write(&folder)?;
            assert_eq!(Choice::read(&folder)?, Some(choice));
        }
        std::fs::write(folder.join(FILE), "{")?;
        assert!(Choice::read(&folder).is_err());
        assert!(Choice::remove(&folder)? && !Choice::remove(&folder)?);
        Ok(())
    }
}
