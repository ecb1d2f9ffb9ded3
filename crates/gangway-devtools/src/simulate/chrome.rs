//! A headless Chromium for one run.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, bail};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use super::{Host, wire::Wire};

/// Names of the executable.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Timeouts of starting and ending.
const START: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(5);

/// Disables what a test does not need: first-run pages, updates, background traffic.
const QUIET: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--window-size=1280,800",
];

/// A running browser; killed on drop.
pub(super) struct Chrome {
    child: Child,
    profile: TempDir,
}

impl Chrome {
    /// Starts the given one, or the installed one.
    pub(super) fn start(named: Option<&Path>, host: &Host) -> anyhow::Result<Self> {
        let program = match named {
            Some(named) => named.to_owned(),
            None => find().with_context(|| {
                let names = NAMES.join(", ");
                format!("no Chromium was found ({names}); set its path with --browser")
            })?,
        };
        let profile = TempDir::with_prefix("gangway-browser-")
            .context("creating a profile folder for the browser")?;
        let mut command = guarded(&program, &host.guard);
        command.args(QUIET);
        let mut folder = std::ffi::OsString::from("--user-data-dir=");
        folder.push(profile.path());
        command.arg(folder);
        if is_root() {
            // It refuses to run as root with a sandbox.
            command.arg("--no-sandbox");
        }
        command.arg("about:blank");
        for name in &host.withheld {
            command.env_remove(name);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        Ok(Self { child, profile })
    }

    pub(super) async fn connect(&mut self) -> anyhow::Result<Wire> {
        // It chooses a port and writes it here.
        let file = self.profile.path().join("DevToolsActivePort");
        let late = Instant::now() + START;
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.trim_end().split_once('\n') {
                let port = port.parse().context("reading the browser's port")?;
                return Wire::open(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), path).await;
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the browser exited immediately ({status})");
            }
            if Instant::now() > late {
                bail!("the browser did not start within {} s", START.as_secs());
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends it with its child processes.
    pub(super) async fn end(mut self) {
        self.kill();
        // Its folder can be removed once no process writes to it.
        timeout(END, self.child.wait()).await.ok();
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.child.id().and_then(|id| i32::try_from(id).ok())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            // The guard ends its child processes.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
            return;
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        self.kill();
    }
}

/// On Unix a guard process ends the browser even if this process is killed.
fn guarded(program: &Path, guard: &[OsString]) -> Command {
    match guard.split_first() {
        Some((first, rest)) if cfg!(unix) => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            #[cfg(unix)]
            command.process_group(0);
            command
        }
        _ => {
            let mut command = Command::new(program);
            command.kill_on_drop(true);
            command
        }
    }
}

fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    return false;
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let end = std::env::consts::EXE_SUFFIX;
    NAMES
        .iter()
        .flat_map(|name| {
            folders
                .iter()
                .map(move |folder| folder.join(format!("{name}{end}")))
        })
        .find(|file| file.is_file())
}
