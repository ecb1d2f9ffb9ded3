//! Finds runtimes of packages on this machine.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{io::AsyncReadExt, process::Command};

use crate::process::is_passed_on;

/// The timeout for a version, also on a busy machine.
const PROBE: Duration = Duration::from_secs(10);

/// Bytes of output that are read.
const ANSWER: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    pub path: PathBuf,
    pub version: String,
}

/// Finds a program on a search path such as `PATH`.
#[must_use]
pub fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        // Relative folders depend on the current folder.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Finds a program and its version, or returns why it does not work.
pub async fn probe(name: &str, path: &OsStr) -> Result<Runtime, String> {
    let Some(found) = find(name, path) else {
        return Err(format!("{name} is not installed"));
    };
    let asked = tokio::time::timeout(PROBE, version(&found, path.to_owned())).await;
    let version = asked.map_err(|_| format!("{} does not respond", found.display()))??;
    Ok(Runtime {
        path: found,
        version,
    })
}

async fn version(program: &Path, path: OsString) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{} does not run: {error}", program.display());
    let mut child = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)))
        .env("PATH", path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let mut texts = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout
            .take(ANSWER)
            .read_to_end(&mut texts)
            .await
            .map_err(failed)?;
    }
    let status = child.wait().await.map_err(failed)?;
    let texts = String::from_utf8_lossy(&texts);
    // Some print their name first.
    let version = texts
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    match version.filter(|_| status.success()) {
        Some(version) => Ok(version.chars().take(40).collect()),
        None => Err(format!("{} does not work ({status})", program.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, name: &str, text: &str) {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[tokio::test]
    async fn a_program_is_found_where_it_is_and_says_its_version() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "good", "#!/bin/sh\necho good 1.2.3 '(x)'\n");
        program(folder.path(), "bad", "#!/bin/sh\necho 1.0; exit 3\n");
        program(folder.path(), "mute", "#!/bin/sh\ntrue\n");
        std::fs::write(folder.path().join("plain"), "#!/bin/sh\n").unwrap();
        let path = folder.path().as_os_str();
        let good = probe("good", path).await.unwrap();
        assert_eq!(good.version, "1.2.3");
        assert_eq!(good.path, folder.path().join("good"));
        for name in ["bad", "mute", "plain", "none"] {
            assert!(probe(name, path).await.is_err(), "{name}");
        }
        assert_eq!(find("Cargo.toml", OsStr::new(".")), None);
    }

    #[tokio::test]
    async fn a_program_that_does_not_answer_times_out() {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "slow", "#!/bin/sh\nexec /bin/sleep 600\n");
        tokio::time::pause();
        let error = probe("slow", folder.path().as_os_str()).await.unwrap_err();
        assert!(error.contains("does not respond"), "{error}");
    }
}
