//! The folder with the weights: each file `NAME.gguf` is the model `NAME`.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Where weights lie.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
}

/// A model's weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// The model's name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// How large it is.
    pub bytes: u64,
}

impl Shelf {
    /// The shelf in this folder, which need not be there yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// What lies on it, by name.
    pub fn list(&self) -> io::Result<Vec<Weights>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_stem().and_then(|stem| stem.to_str());
            let is_weights = path
                .extension()
                .is_some_and(|extension| extension == "gguf");
            // A link whose file is gone is no model.
            if let (Some(name), true, Ok(file)) = (name, is_weights, std::fs::metadata(&path)) {
                let (name, bytes) = (name.to_owned(), file.len());
                found.push(Weights { name, path, bytes });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The weights with this name.
    pub fn find(&self, name: &str) -> io::Result<Option<Weights>> {
        Ok(self
            .list()?
            .into_iter()
            .find(|weights| weights.name == name))
    }
}
