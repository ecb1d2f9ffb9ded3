//! Brings a package here: into a folder that holds nothing else, so that it starts without a network and goes away whole.

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

/// What a package manager said. Clones share it.
#[derive(Debug, Clone)]
pub struct Output {
    journal: Arc<Journal>,
}

impl Output {
    /// Keeps this many lines.
    #[must_use]
    pub fn keeping(lines: usize) -> Self {
        Self {
            journal: Arc::new(Journal::new(lines)),
        }
    }

    pub(super) fn journal(&self) -> Arc<Journal> {
        Arc::clone(&self.journal)
    }

    /// Adds a line.
    pub fn say(&self, text: &str) {
        self.journal.say(Source::Host, text);
    }

    /// The kept lines, newest last, with nothing in them that a terminal would act on.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let shown = |text: &str| text.chars().filter(|c| !c.is_control()).collect();
        let lines = self.journal.after(0);
        lines.iter().map(|line| shown(&line.text)).collect()
    }
}

/// A package to bring here.
pub struct Fetch<'a> {
    /// The package.
    pub package: &'a Package,
    /// The program of it that is the server, where someone said so.
    pub command: Option<&'a str>,
    /// The folder for it, which is not there yet.
    pub folder: &'a Path,
    /// Where programs are looked for.
    pub path: &'a OsStr,
    /// As in [`crate::Settings::guard`].
    pub guard: Option<&'a [OsString]>,
    /// How long it may take.
    pub time: Duration,
    /// Whether install scripts of npm packages run.
    pub scripts: Scripts,
}

/// A package that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The program that is the server.
    pub program: PathBuf,
    /// The version that came.
    pub version: String,
    /// Packages that have install scripts, which did not run.
    pub skipped_scripts: Vec<String>,
}

/// Why a package is not here. Its folder is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Nothing here can bring it.
    #[error("there is nothing here that installs packages of {0}")]
    NoCarrier(&'static str),
    /// It was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// It took too long.
    #[error("{carrier} did not end within {seconds} seconds")]
    Late {
        /// Who.
        carrier: &'static str,
        /// How long it had.
        seconds: u64,
    },
    /// The package manager failed.
    #[error("{carrier} could not install {package}: {reason}")]
    Failed {
        /// Who.
        carrier: &'static str,
        /// What.
        package: String,
        /// Why.
        reason: String,
    },
}

impl Fetch<'_> {
    /// Brings it here. Dropping this ends the package manager; `stop` does, and waits for its end.
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
        // What is left of an earlier life of this process.
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

/// Removes a folder with all that is in it.
async fn remove(folder: &Path) {
    let _ = tokio::fs::remove_dir_all(folder).await;
}
