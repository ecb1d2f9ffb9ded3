//! One run of a package manager in a folder of its own, watched to its end.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{Carrier, FetchError, Output};
use crate::{
    journal::Source,
    process::{Launch, Process, listen},
};

/// How long a package manager may take to end after it was told to.
const GRACE: Duration = Duration::from_millis(500);

/// How long its last lines are waited for: a child of it may hold on to its output.
const LAST_LINES: Duration = Duration::from_secs(1);

/// A package manager, and what to call it with.
pub(super) struct Run<'a> {
    pub(super) carrier: Carrier,
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) folder: &'a Path,
    /// Where programs are looked for.
    pub(super) path: &'a OsStr,
    /// As in [`crate::Settings::guard`].
    pub(super) guard: Option<&'a [OsString]>,
    /// How long it may take.
    pub(super) time: Duration,
}

impl Run<'_> {
    /// Runs it; `what` is what it installs, for errors. Dropping this ends the process; `stop` does, and waits for its end.
    pub(super) async fn finish(
        self,
        what: &str,
        output: &Output,
        stop: &CancellationToken,
    ) -> Result<(), FetchError> {
        let carrier = self.carrier;
        let failed = |reason: String| FetchError::Failed {
            carrier: carrier.program(),
            package: what.to_owned(),
            reason,
        };
        let launch = Launch {
            command: &self.program.into_os_string(),
            args: &self.args,
            env: &carrier.env(self.folder),
            cwd: Some(self.folder),
            guard: self.guard,
            path: Some(self.path),
        };
        let (mut process, stdin, stdout) =
            Process::start(&launch, output.journal()).map_err(failed)?;
        // Nobody answers its questions.
        drop(stdin);
        let said = listen(stdout, output.journal(), Source::Stdout);
        let said = AbortOnDropHandle::new(tokio::spawn(said));
        let ended = tokio::select! {
            ended = process.status() => Ok(ended),
            () = stop.cancelled() => Err(FetchError::Cancelled),
            () = tokio::time::sleep(self.time) => Err(FetchError::Late {
                carrier: carrier.program(),
                seconds: self.time.as_secs(),
            }),
        };
        process.end(GRACE).await;
        let _ = tokio::time::timeout(LAST_LINES, said).await;
        match ended? {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(
                last_error(output).unwrap_or_else(|| format!("it ended with {status}")),
            )),
            Err(error) => Err(failed(format!("it was lost: {error}"))),
        }
    }
}

/// The line that says most about why it failed: the first that is an error by its own word.
fn last_error(output: &Output) -> Option<String> {
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

/// Makes the folder, private and with a project of its own, so that a package manager looks for none above it.
pub(super) async fn prepare(folder: &Path, project: &serde_json::Value) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    tokio::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).await?;
    tokio::fs::write(folder.join("package.json"), format!("{project}\n")).await
}
