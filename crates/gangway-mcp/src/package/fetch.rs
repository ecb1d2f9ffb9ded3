//! Brings a package here: into a folder that holds nothing else, so that it starts without a network and goes away whole.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{Carrier, Package, Scripts, executable};
use crate::{
    journal::{Journal, Source},
    process::{Launch, Process, listen},
};

/// How long a package manager may take to end after it was told to.
const GRACE: Duration = Duration::from_millis(500);

/// How long its last words are waited for: a child of it may hold on to its output.
const LAST_WORDS: Duration = Duration::from_secs(1);

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
        prepare(self.folder)
            .await
            .map_err(|error| failed(format!("{}: {error}", self.folder.display())))?;
        let (args, env) = (
            carrier.args(self.package, self.folder, self.scripts),
            carrier.env(self.folder),
        );
        let launch = Launch {
            command: &program.into_os_string(),
            args: &args,
            env: &env,
            cwd: Some(self.folder),
            guard: self.guard,
            path: Some(self.path),
        };
        let (mut process, stdin, stdout) =
            Process::start(&launch, output.journal.clone()).map_err(failed)?;
        // Nobody answers its questions.
        drop(stdin);
        let said = listen(stdout, output.journal.clone(), Source::Stdout);
        let said = AbortOnDropHandle::new(tokio::spawn(said));
        let error = tokio::select! {
            ended = process.status() => match ended {
                Ok(status) if status.success() => None,
                Ok(status) => Some(failed(last_words(output).unwrap_or_else(|| format!("it ended with {status}")))),
                Err(error) => Some(failed(format!("it was lost: {error}"))),
            },
            () = stop.cancelled() => Some(FetchError::Cancelled),
            () = tokio::time::sleep(self.time) => Some(FetchError::Late {
                carrier: carrier.program(),
                seconds: self.time.as_secs(),
            }),
        };
        process.end(GRACE).await;
        let _ = tokio::time::timeout(LAST_WORDS, said).await;
        if let Some(error) = error {
            return Err(error);
        }
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

/// The line that says most about why it failed: the first that is an error by its own word.
fn last_words(output: &Output) -> Option<String> {
    let lines = output.lines();
    let is_error = |line: &&String| {
        let lower = line.to_ascii_lowercase();
        ["npm error ", "npm err! ", "error:", "× "]
            .iter()
            .any(|word| lower.trim_start().starts_with(word))
            // npm says its codes first and what they mean after.
            && !lower.contains(" code ") && !lower.contains(" errno ") && !lower.contains(" syscall ")
    };
    let line = lines.iter().find(is_error).or_else(|| lines.last())?;
    Some(line.trim().chars().take(400).collect())
}

/// Makes the folder, private and with nothing above it that a package manager would take for its project.
async fn prepare(folder: &Path) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    tokio::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).await?;
    tokio::fs::write(folder.join("package.json"), "{\"private\": true}\n").await
}

/// Removes a folder with all that is in it.
async fn remove(folder: &Path) {
    let _ = tokio::fs::remove_dir_all(folder).await;
}
