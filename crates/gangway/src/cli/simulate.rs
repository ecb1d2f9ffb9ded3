//! `gangway simulate`: a simulated agent for app authors, on its own server.

use std::{net::Ipv4Addr, path::PathBuf, process::ExitCode};

use anyhow::Context;
use gangway_client::ServerNote;
use gangway_core::{Store, secret::new_secret};
use gangway_devtools::simulate::{self, Host, Outcome, SimulateArgs, Simulation};
use gangway_providers::ModelAccess;
use gangway_tools::GUARD;
use gangway_weblets::ACTIONS;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

use super::{Common, app::named_apps, block_on, program, serve::stop_signal};
use crate::{config::Config, server::Server};

pub(super) fn run(args: SimulateArgs) -> ExitCode {
    let outcome = block_on(simulate(&args));
    simulate::report(&args, &outcome)
}

async fn simulate(args: &SimulateArgs) -> anyhow::Result<Outcome> {
    // Only settings are read there; a run has its own data folder.
    let data = std::env::var_os("GANGWAY_DATA").map(PathBuf::from);
    let simulation = Simulation::read(args, &ACTIONS, || named_apps(&Common { data }, &[]))?;
    let mut config = Config {
        apps: simulation.folders.clone(),
        default_agent: "demo".into(),
        ..Config::default()
    };
    // Nothing of the user's own is part of a run.
    config.models.detect = false;
    config.tools.catalog_url = "off".into();
    let known = ModelAccess::read(&config.model_settings(), |name| std::env::var(name).ok())?;
    let withheld = known.withheld().map(str::to_owned).collect();
    let data = TempDir::with_prefix("gangway-simulate-").context("creating a data folder")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.context("listening on 127.0.0.1")?;
    let address = listener.local_addr()?;
    let note = ServerNote {
        pid: std::process::id(),
        url: format!("http://{address}"),
        token: new_secret(),
        for_browser: false,
    };
    let (store, access) = (Store::open(data.path())?, ModelAccess::default());
    let server = Server::new(config, data.path(), store, access, address, &note.token).await?;
    let stop = stop_signal()?;
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        let ended = async {
            let _ = ended.await;
        };
        if let Err(error) = server.listen(listener, ended).await {
            tracing::error!(%error, "the server failed");
        }
    });
    let guard = program().map(|own| vec![own, GUARD.into(), "--".into()]);
    let host = Host {
        note,
        withheld,
        guard: guard.unwrap_or_default(),
    };
    let outcome = simulation.run(host, stop).await;
    let _ = end.send(());
    serving.await.ok();
    outcome
}
