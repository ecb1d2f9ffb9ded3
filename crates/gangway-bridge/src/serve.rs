//! Runs the bridge on stdin and stdout, with the server of the data folder or one that it starts.

use std::{
    ffi::OsString, future::Future, path::PathBuf, process::ExitCode, sync::Arc, time::Duration,
};

use gangway_client::{DataError, DataFolder, ServerNote};
use tokio::runtime::Handle;

use crate::{
    bridge::Bridge,
    install::manifest::{CHROMIUM_ORIGIN, FIREFOX_ID},
    pipe::{self, Pipes},
    server::{Core, ServerOrigin},
    start,
};

/// Minimum and maximum delay before the server is searched again.
const SOON: Duration = Duration::from_millis(500);
const LATER: Duration = Duration::from_secs(5);

/// Polling interval and attempts while a server starts.
const STARTING: Duration = Duration::from_millis(100);
const STARTED: u32 = 200;

/// Whether this was started by a person, or by a browser for our extension: Chromium-based browsers pass its origin,
/// Firefox its manifest and id.
#[must_use]
pub fn is_own_extension(caller: &[OsString]) -> bool {
    let is = |argument: Option<&OsString>, wanted: &str| argument.is_some_and(|a| a == wanted);
    let chromium = |argument: &OsString| argument.to_string_lossy().contains("://");
    match caller.first() {
        None => true,
        Some(origin) if chromium(origin) => origin == CHROMIUM_ORIGIN,
        Some(_) => is(caller.get(1), FIREFOX_ID),
    }
}

pub struct Host<C> {
    data: PathBuf,
    program: OsString,
    check: C,
    pipes: Pipes,
}

impl<C: Fn() -> anyhow::Result<()>> Host<C> {
    /// Takes stdin and stdout: from here on prints go to stderr. If no server runs, `program` is started; `check`
    /// validates its settings.
    pub fn take(data: PathBuf, program: OsString, check: C) -> std::io::Result<Self> {
        let pipes = pipe::take()?;
        pipe::make_room();
        Ok(Self {
            data,
            program,
            check,
            pipes,
        })
    }

    /// Serves until the browser disconnects, or until `stop`.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> anyhow::Result<ExitCode> {
        let (from, to, reader) = self.pipes;
        let finder = Finder {
            data: self.data,
            program: self.program,
            check: self.check,
        };
        let bridge = Bridge::new(to, Handle::current())?;
        let (ended, end) = tokio::sync::oneshot::channel();
        let reading = Arc::clone(&bridge);
        // Blocks in reads, which only the browser ends.
        let thread = std::thread::Builder::new().name("gangway-browser".into());
        thread.spawn(move || {
            let _ = ended.send(reading.read(from));
        })?;
        Ok(tokio::select! {
            end = end => match end {
                Ok(true) => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            },
            () = bridge.closed.cancelled() => ExitCode::SUCCESS,
            () = reader.closed() => ExitCode::SUCCESS,
            () = stop => ExitCode::SUCCESS,
            () = keep(&bridge, &finder) => ExitCode::FAILURE,
        })
    }
}

struct Finder<C> {
    data: PathBuf,
    program: OsString,
    check: C,
}

/// Finds or starts the server, again and again.
async fn keep<C: Fn() -> anyhow::Result<()>>(bridge: &Bridge, finder: &Finder<C>) {
    let mut wait = SOON;
    loop {
        let used = match finder.find().await {
            Ok(note) => use_it(bridge, &note).await,
            Err(error) => {
                tracing::warn!("cannot find or start Gangway: {error:#}");
                Err(format!("{error:#}"))
            }
        };
        match used {
            Ok(()) => wait = SOON,
            Err(why) => bridge.trouble(why),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LATER);
    }
}

async fn use_it(bridge: &Bridge, note: &ServerNote) -> Result<(), String> {
    let attached = match note.for_browser {
        true => ServerOrigin::Own,
        false => ServerOrigin::Server,
    };
    let core = Core::new(note, attached).map_err(|error| error.to_string())?;
    bridge.attach(core).await.map_err(|problem| problem.message)
}

impl<C: Fn() -> anyhow::Result<()>> Finder<C> {
    async fn find(&self) -> anyhow::Result<ServerNote> {
        for _ in 0..STARTED {
            match DataFolder::take(&self.data) {
                Ok(folder) => {
                    drop(folder);
                    // Invalid settings are better reported here, in full.
                    (self.check)()?;
                    return start::start(&self.data, &self.program).await;
                }
                Err(DataError::InUse { server, .. }) => {
                    if let Some(note) = server {
                        return Ok(note);
                    }
                }
                Err(error) => return Err(error.into()),
            }
            // A process holds the folder but has not announced its address yet.
            tokio::time::sleep(STARTING).await;
        }
        anyhow::bail!(
            "another process holds the data folder and has not announced its address; stop that process"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_extension_may_have_a_browser_start_it() {
        let of = |arguments: &[&str]| arguments.iter().map(OsString::from).collect::<Vec<_>>();
        for ours in [
            &[][..],
            &["chrome-extension://njoboigjinompkfkjgolajikglchoefc/"],
            &[
                "chrome-extension://njoboigjinompkfkjgolajikglchoefc/",
                "--parent-window=0",
            ],
            &["/home/a/gangway.bridge.json", "extension@gangway"],
        ] {
            assert!(is_own_extension(&of(ours)), "{ours:?}");
        }
        for other in [
            &["chrome-extension://njoboigjinompkfkjgolajikglchoefc"][..],
            &["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"],
            &["/home/a/gangway.bridge.json", "other@gangway"],
            &[
                "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/",
                "extension@gangway",
            ],
            &["extension@gangway"],
            &["x"],
        ] {
            assert!(!is_own_extension(&of(other)), "{other:?}");
        }
    }
}
