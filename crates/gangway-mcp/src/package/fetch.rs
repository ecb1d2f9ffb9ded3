//! Installs a package into its own folder, so that it starts offline and can be removed completely.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    Carrier, Package, Scripts, executable,
    run::{Run, prepare},
};
use crate::journal::{Journal, Source};

/// The output of a package manager. Clones share it.
#[derive(Debug, Clone)]
pub struct Output {
    journal: Arc<Journal>,
}

impl Output {
    #[must_use]
    pub fn keeping(lines: usize) -> Self {
        Self {
            journal: Arc::new(Journal::new(lines)),
        }
    }

    pub(super) fn journal(&self) -> Arc<Journal> {
        Arc::clone(&self.journal)
    }

    pub fn log(&self, text: &str) {
        self.journal.log(Source::Host, text);
    }

    /// The kept lines, newest last, sanitized for terminals.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let shown = |text: &str| text.chars().filter(|c| !c.is_control()).collect();
        let lines = self.journal.after(0);
        lines.iter().map(|line| shown(&line.text)).collect()
    }
}

/// A package to install.
pub struct Fetch<'a> {
    pub package: &'a Package,
    /// The program that is the server, if known.
    pub command: Option<&'a str>,
    /// Its folder, which must not exist yet.
    pub folder: &'a Path,
    /// The search path.
    pub path: &'a OsStr,
    /// As in [`crate::Settings::guard`].
    pub guard: Option<&'a [OsString]>,
    pub time: Duration,
    /// Whether npm install scripts run.
    pub scripts: Scripts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The program that is the server.
    pub program: PathBuf,
    pub version: String,
    /// Packages whose install scripts did not run.
    pub skipped_scripts: Vec<String>,
}

/// Why a package was not installed. Its folder is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("no package manager for {0} found")]
    NoCarrier(&'static str),
    #[error("the installation was cancelled")]
    Cancelled,
    #[error("{carrier} did not finish within {seconds} seconds")]
    Late { carrier: &'static str, seconds: u64 },
    #[error("{carrier} could not install {package}: {reason}")]
    Failed {
        carrier: &'static str,
        package: String,
        reason: String,
    },
}

impl Fetch<'_> {
    /// Installs it. Dropping the future kills the package manager; `stop` also waits for its end.
    pub async fn run(
        &self,
        output: &Output,
        stop: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        let fetched = self.try_run(output, stop).await;
        if fetched.is_err() {
            remove(self.folder).await;
        }
        fetched
    }

    async fn try_run(
        &self,
        output: &Output,
        stop: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        let ecosystem = self.package.ecosystem();
        let (carrier, program) =
            Carrier::of(ecosystem, self.path).ok_or(FetchError::NoCarrier(ecosystem.as_str()))?;
        let failed = |reason: String| FetchError::Failed {
            carrier: carrier.program(),
            package: self.package.to_string(),
            reason,
        };
        // Left by an earlier process.
        remove(self.folder).await;
        prepare(self.folder, &json!({ "private": true }))
            .await
            .map_err(|error| failed(format!("{}: {error}", self.folder.display())))?;
        let run = Run {
            carrier,
            program,
            args: carrier.args(self.package, self.folder, self.scripts),
            folder: self.folder,
            path: self.path,
            guard: self.guard,
            time: self.time,
        };
        run.finish(&self.package.to_string(), output, stop).await?;
        let (package, folder) = (self.package.clone(), self.folder.to_owned());
        let command = self.command.map(str::to_owned);
        let scripts = self.scripts;
        let look = move || {
            let (program, version) = executable::of(&package, &folder, command.as_deref())?;
            let skipped_scripts = match scripts {
                Scripts::Skip => executable::with_scripts(&folder),
                Scripts::Run => Vec::new(),
            };
            Ok(Fetched {
                program,
                version,
                skipped_scripts,
            })
        };
        let found = tokio::task::spawn_blocking(look).await;
        found
            .map_err(|error| failed(error.to_string()))?
            .map_err(failed)
    }
}

async fn remove(folder: &Path) {
    let _ = tokio::fs::remove_dir_all(folder).await;
}
