//! Runs the bridge on stdin and stdout, on the Gangway that has the data folder or on one that it starts.

use std::{ffi::OsString, process::ExitCode, sync::Arc, time::Duration};

use gangway_client::{DataError, DataFolder, ServerNote};
use tokio::runtime::Handle;

use super::{
    manifest::{CHROMIUM_ORIGIN, FIREFOX_ID},
    own, pipe,
};
use crate::{
    bridge::{Attached, Bridge, Core},
    cli::{
        Common, block_on,
        serve::{self, ServeArgs},
    },
    config::Config,
};

/// What a browser is told that starts this for somebody else's extension.
const STRANGER: u8 = 2;

/// How soon a server is looked for again, at first and at the most.
const SOON: Duration = Duration::from_millis(500);
const LATER: Duration = Duration::from_secs(5);

/// How often a server that starts is looked at, and how many times.
const STARTING: Duration = Duration::from_millis(100);
const STARTED: u32 = 200;

pub(super) fn run(common: &Common, caller: &[OsString]) -> anyhow::Result<ExitCode> {
    if !is_ours(caller) {
        eprintln!("gangway: this bridge is for Gangway's own extension alone");
        return Ok(ExitCode::from(STRANGER));
    }
    let pipes = pipe::take()?;
    pipe::make_room();
    start_log(common);
    block_on(serve(common.clone(), pipes))
}

/// Whether whoever starts this is a person, or a browser for our extension: Chromium and its kin name its origin,
/// Firefox its manifest and its id.
fn is_ours(caller: &[OsString]) -> bool {
    let is = |argument: Option<&OsString>, wanted: &str| argument.is_some_and(|a| a == wanted);
    let chromium = |argument: &OsString| argument.to_string_lossy().contains("://");
    match caller.first() {
        None => true,
        Some(origin) if chromium(origin) => origin == CHROMIUM_ORIGIN,
        Some(_) => is(caller.get(1), FIREFOX_ID),
    }
}

/// Browsers put what is said here on their console: nothing but what is wrong, unless somebody wants more.
fn start_log(common: &Common) {
    let read =
        || -> anyhow::Result<Config> { ServeArgs::alone(common.clone()).settings(&common.data()?) };
    // Settings that are wrong are told to the person over the bridge.
    let mut config = read().unwrap_or_default();
    config.log.level = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".to_owned());
    if serve::start_log(&config).is_err() {
        config.log.level = "warn".to_owned();
        let _ = serve::start_log(&config);
    }
}

async fn serve(common: Common, (from, to, reader): pipe::Pipes) -> anyhow::Result<ExitCode> {
    let bridge = Bridge::new(to, Handle::current())?;
    let (ended, end) = tokio::sync::oneshot::channel();
    let reading = Arc::clone(&bridge);
    // Waits in reads of its own, which nothing but the browser ends.
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
        () = serve::stop_signal()? => ExitCode::SUCCESS,
        () = keep(&bridge, &common) => ExitCode::FAILURE,
    })
}

/// Finds a Gangway or starts one, again and again.
async fn keep(bridge: &Bridge, common: &Common) {
    let mut wait = SOON;
    loop {
        let used = match find(common).await {
            Ok(note) => use_it(bridge, &note).await,
            Err(error) => {
                tracing::warn!("no Gangway can be used: {error:#}");
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

/// Uses a Gangway until it is gone.
async fn use_it(bridge: &Bridge, note: &ServerNote) -> Result<(), String> {
    let attached = match note.for_browser {
        true => Attached::Own,
        false => Attached::Server,
    };
    let core = Core::new(note, attached).map_err(|error| error.to_string())?;
    bridge.attach(core).await.map_err(|problem| problem.message)
}

/// The Gangway that has the data folder, or one that is started.
async fn find(common: &Common) -> anyhow::Result<ServerNote> {
    let data = common.data()?;
    for _ in 0..STARTED {
        match DataFolder::take(&data) {
            Ok(folder) => {
                drop(folder);
                // What is wrong with them is better told in full, and here.
                ServeArgs::alone(common.clone()).settings(&data)?;
                return own::start(&data).await;
            }
            Err(DataError::InUse { server, .. }) => {
                if let Some(note) = server {
                    return Ok(note);
                }
            }
            Err(error) => return Err(error.into()),
        }
        // Somebody has the folder who has not said yet where he is.
        tokio::time::sleep(STARTING).await;
    }
    anyhow::bail!("somebody has the data folder and does not say where; end that program")
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
            assert!(is_ours(&of(ours)), "{ours:?}");
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
            assert!(!is_ours(&of(other)), "{other:?}");
        }
    }
}
