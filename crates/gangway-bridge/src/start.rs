//! Starts a Gangway if none runs: as its own process, since browsers terminate the bridge at any time, and work of
//! pages must continue.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io,
    path::Path,
    process::Stdio,
    time::Duration,
};

use anyhow::Context;
use tokio::process::{Child, Command};

use gangway_client::ServerNote;
use gangway_files::make_private_folder;

/// Seconds until it exits without clients: a little longer than a page's visit waits for a reconnect.
const IDLE_SECONDS: &str = "35";

/// Polling interval and attempts.
const LOOK: Duration = Duration::from_millis(25);
const LOOKS: u32 = 800;

/// Starts it and waits until it has announced its address.
pub(crate) async fn start(data: &Path, program: &OsStr) -> anyhow::Result<ServerNote> {
    let folder = data.join("bridge");
    make_private_folder(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let log = folder.join("server.log");
    let message = log_file(&log).with_context(|| format!("writing {}", log.display()))?;
    let mut command = Command::new(program);
    command
        .args([
            "serve",
            "--for-browser",
            IDLE_SECONDS,
            "--log-level",
            "warn",
        ])
        .arg("--data")
        .arg(data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // Not ours: it must outlive this process.
        .stderr(message);
    let mut child = apart(&mut command).context("starting Gangway")?;
    for _ in 0..LOOKS {
        let ended = child.try_wait()?.is_some();
        // Another bridge may have been faster.
        if let Some(note) = ServerNote::read(data)
            && (Some(note.pid) == child.id() || ended)
        {
            return Ok(note);
        }
        anyhow::ensure!(!ended, "{}", last_output(&log));
        tokio::time::sleep(LOOK).await;
    }
    anyhow::bail!(
        "Gangway was started but did not announce its address; see {}",
        log.display()
    )
}

fn log_file(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The last line of its log.
fn last_output(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let message = last.unwrap_or("Gangway exited immediately after it was started");
    message
        .trim_start_matches("gangway: ")
        .chars()
        .take(500)
        .collect()
}

/// Starts it in its own session, so that no signal to us or the browser's terminal reaches it.
#[cfg(unix)]
fn apart(command: &mut Command) -> io::Result<Child> {
    // The name in process lists.
    command.arg0("gangway");
    command.process_group(0).spawn()
}

/// Starts it outside of the job that a browser terminates with us, if allowed.
#[cfg(windows)]
fn apart(command: &mut Command) -> io::Result<Child> {
    const NO_WINDOW_AND_OWN_GROUP: u32 = 0x0800_0000 | 0x0000_0200;
    const OUT_OF_THE_JOB: u32 = 0x0100_0000;
    command.creation_flags(NO_WINDOW_AND_OWN_GROUP | OUT_OF_THE_JOB);
    command.spawn().or_else(|_| {
        command.creation_flags(NO_WINDOW_AND_OWN_GROUP);
        command.spawn()
    })
}
