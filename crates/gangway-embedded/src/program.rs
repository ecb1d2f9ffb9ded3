//! The path of the engine's program, and whether it is installed.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use gangway_models::{Failure, ModelError};

use crate::cpu::supported;

/// The program's name.
const NAME: &str = "gangway-engine";

/// The engine's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
}

/// Whether the engine can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Yes.
    Ready,
    /// It is being built.
    Building,
    /// It is not installed.
    Missing,
    /// This processor is not supported, for this reason.
    Unsupported(String),
}

impl Program {
    /// The engine at this path.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The engine beside this program.
    #[must_use]
    pub fn beside(program: &Path) -> Self {
        Self::new(program.with_file_name(format!("{NAME}{}", std::env::consts::EXE_SUFFIX)))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be started. Accesses the file system.
    #[must_use]
    pub fn availability(&self) -> Availability {
        if let Err(reason) = supported() {
            return Availability::Unsupported(reason.to_string());
        }
        if self.is_being_built() {
            return Availability::Building;
        }
        match self.path.is_file() {
            true => Availability::Ready,
            false => Availability::Missing,
        }
    }

    /// A build leaves a file with its process id beside the program.
    fn is_being_built(&self) -> bool {
        let mut marker = OsString::from(&self.path);
        marker.push(".building");
        let Ok(id) = std::fs::read_to_string(marker) else {
            return false;
        };
        let id = id.trim();
        // A killed build leaves its marker behind. Without /proc, the marker decides.
        !Path::new("/proc/self").exists()
            || id.parse::<u32>().is_ok() && Path::new("/proc").join(id).exists()
    }
}

impl Availability {
    /// Fails with the reason if the engine cannot be started.
    pub fn check(self) -> Result<(), ModelError> {
        let reason = match self {
            Self::Ready => return Ok(()),
            Self::Building => {
                "The engine for local models is being built. Try again in a few minutes.".to_owned()
            }
            Self::Missing => format!(
                "The engine for local models is not installed: {NAME} is missing beside gangway. `make build` builds both."
            ),
            Self::Unsupported(reason) => reason,
        };
        Err(ModelError::new(Failure::Unavailable, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_being_built_as_long_as_its_builder_runs() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Program::beside(&folder.path().join("gangway"));
        assert_eq!(engine.availability(), Availability::Missing);
        let marker = folder.path().join("gangway-engine.building");
        std::fs::write(&marker, format!("{}\n", std::process::id())).unwrap();
        assert_eq!(engine.availability(), Availability::Building);
        let error = engine.availability().check().unwrap_err();
        assert!(error.message.contains("is being built"), "{error}");
        // No process has this id: the maximum is smaller.
        std::fs::write(&marker, "4294967295").unwrap();
        assert_eq!(engine.availability(), Availability::Missing);
        std::fs::write(engine.path(), "").unwrap();
        assert_eq!(engine.availability(), Availability::Ready);
    }
}
