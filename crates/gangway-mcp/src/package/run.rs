//! Runs a package manager in a folder.

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

/// How long a package manager may take to exit after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// How long to wait for its last lines: a child may keep its output open.
const LAST_LINES: Duration = Duration::from_secs(1);

pub(super) struct Run<'a> {
    pub(super) carrier: Carrier,
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) folder: &'a Path,
    /// The search path.
    pub(super) path: &'a OsStr,
    /// As in [`crate::Settings::guard`].
    pub(super) guard: Option<&'a [OsString]>,
    pub(super) time: Duration,
}

impl Run<'_> {
    /// Runs it; `what` is named in errors. Dropping the future kills the process; `stop` also waits for its end.
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
        // Prompts are not answered.
        drop(stdin);
        let message = listen(stdout, output.journal(), Source::Stdout);
        let message = AbortOnDropHandle::new(tokio::spawn(message));
        let ended = tokio::select! {
            ended = process.status() => Ok(ended),
            () = stop.cancelled() => Err(FetchError::Cancelled),
            () = tokio::time::sleep(self.time) => Err(FetchError::Late {
                carrier: carrier.program(),
                seconds: self.time.as_secs(),
            }),
        };
        process.end(GRACE).await;
        let _ = tokio::time::timeout(LAST_LINES, message).await;
        match ended? {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(
                last_error(output).unwrap_or_else(|| format!("it exited with {status}")),
            )),
            Err(error) => Err(failed(format!("it was lost: {error}"))),
        }
    }
}

/// The most useful line: the first error.
fn last_error(output: &Output) -> Option<String> {
    let lines = output.lines();
    let is_error = |line: &&String| {
        let lower = line.to_ascii_lowercase();
        ["npm error ", "npm err! ", "error:", "× "]
            .iter()
            .any(|word| lower.trim_start().starts_with(word))
            // npm prints error codes first and their meaning after.
            && !lower.contains(" code ") && !lower.contains(" errno ") && !lower.contains(" syscall ")
    };
    let line = lines.iter().find(is_error).or_else(|| lines.last())?;
    Some(line.trim().chars().take(400).collect())
}

/// Creates the private folder with its own project file, so that a package manager does not look for one above it.
pub(super) async fn prepare(folder: &Path, project: &serde_json::Value) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    tokio::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).await?;
    tokio::fs::write(folder.join("package.json"), format!("{project}\n")).await
}
