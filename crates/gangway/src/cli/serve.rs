//! `gangway serve`: runs the server until it is told to stop.

use std::{
    ffi::OsString,
    io::{self, ErrorKind, Write},
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use gangway_core::Store;
use tokio::net::TcpListener;
use tracing_subscriber::{filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt};

use super::{Common, block_on, browser};
use crate::{
    auth::new_secret,
    config::{Config, LogFormat},
    data::{DataFolder, ServerNote},
    models::ModelAccess,
    server::Server,
};

/// How to serve.
#[derive(Args, Clone)]
pub struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    common: Common,
    /// The config file [default: config.yaml in the data folder, if there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A folder with apps; can be given more than once
    #[arg(long, value_name = "DIR")]
    apps: Vec<PathBuf>,
    /// Open the chat in your browser
    #[arg(long)]
    open: bool,
    /// Print where the server is as JSON
    #[arg(long)]
    json: bool,
    /// How log lines look
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
    /// What is worth a log line: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
}

impl ServeArgs {
    /// What `gangway` without a command means.
    pub(super) fn alone(common: Common) -> Self {
        Self {
            listen: None,
            common,
            config: None,
            apps: Vec::new(),
            open: true,
            json: false,
            log_format: None,
            log_level: None,
        }
    }

    fn settings(&self, data: &Path) -> anyhow::Result<Config> {
        let usual = data.join("config.yaml");
        let file = self
            .config
            .clone()
            .or_else(|| usual.exists().then_some(usual));
        let config = file.map_or_else(|| Ok(Config::default()), |file| Config::read(&file))?;
        let mut config = config.with_environment(|name| std::env::var(name).ok())?;
        if let Some(listen) = &self.listen {
            config.listen.clone_from(listen);
        }
        config.apps.extend(self.apps.iter().cloned());
        config.log.format = self.log_format.unwrap_or(config.log.format);
        if let Some(level) = &self.log_level {
            config.log.level.clone_from(level);
        }
        config.check()?;
        Ok(config)
    }
}

pub(super) fn run(args: ServeArgs) -> anyhow::Result<()> {
    let data = args.common.data()?;
    let config = args.settings(&data)?;
    start_log(&config)?;
    block_on(serve(config, data, args.open, args.json))
}

async fn serve(config: Config, data: PathBuf, open: bool, json: bool) -> anyhow::Result<()> {
    let mut folder = DataFolder::take(&data)?;
    let listener = bind(config.address()?, &data).await?;
    let address = listener.local_addr()?;
    let nameless = !address.ip().is_loopback() && config.hosts.is_empty();
    let url = format!("http://{}", reachable(address));
    let token = new_secret();
    let store = Store::open(folder.path())?;
    let mut access = ModelAccess::read(&config, |name| std::env::var(name).ok())?;
    access.trial = trial();
    let keys: Vec<String> = access.withheld().map(str::to_owned).collect();
    let server = Server::new(config, folder.path(), store, access, address, &token).await?;
    folder
        .announce(&ServerNote {
            pid: std::process::id(),
            url: url.clone(),
            token,
        })
        .context("writing server.lock")?;
    // A reader of a pipe waits for this line to know the port.
    let line = if json {
        serde_json::json!({ "url": url, "data": folder.path(), "pid": std::process::id() })
            .to_string()
    } else {
        format!(
            "Gangway is listening on {url} (data in {})",
            folder.path().display()
        )
    };
    writeln!(io::stdout(), "{line}")?;
    io::stdout().flush()?;
    if nameless && !json {
        println!(
            "Others need a name for this machine: put it under `hosts` in config.yaml, and start again."
        );
    }
    if open && !browser::open(&url, keys.iter().map(String::as_str)) && !json {
        println!("Open {url} in your browser.");
    }
    server.listen(listener, stop_signal()?).await?;
    Ok(())
}

/// How this program is started to try weights.
#[cfg(feature = "embedded")]
fn trial() -> Option<Vec<OsString>> {
    // By this name it is found even after another version was installed in its place.
    let linux = Path::new("/proc/self/exe");
    let program = if linux.exists() {
        linux.to_owned()
    } else {
        std::env::current_exe().ok()?
    };
    Some(vec![program.into(), super::TRY_WEIGHTS.into()])
}

#[cfg(not(feature = "embedded"))]
fn trial() -> Option<Vec<OsString>> {
    None
}

fn start_log(config: &Config) -> anyhow::Result<()> {
    // Below info, libraries write down what passes through them, conversations included; no setting may ask for that.
    let quiet = filter_fn(|line| {
        line.target().starts_with("gangway") || *line.level() <= tracing::Level::INFO
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(config.log_filter()?)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_writer(io::stderr);
    let started = match config.log.format {
        LogFormat::Text => builder.finish().with(quiet).try_init(),
        LogFormat::Json => builder.json().finish().with(quiet).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log could not be started: {error}"))
}

async fn bind(address: SocketAddr, data: &Path) -> anyhow::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let free = free_port(address).await;
            let hint = free.map(|free| {
                let data = data.display();
                format!(
                    "; {} is free: gangway serve --listen {free} --data {data}",
                    free.port()
                )
            });
            let (port, ip) = (address.port(), address.ip());
            anyhow::bail!("port {port} of {ip} is taken{}", hint.unwrap_or_default())
        }
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
            anyhow::bail!(
                "{} is not an address of this machine; use 127.0.0.1, or 0.0.0.0 for all of them",
                address.ip()
            )
        }
        Err(error) => Err(error).with_context(|| format!("listening on {address}")),
    }
}

/// One of the ports after a taken one, or any.
async fn free_port(taken: SocketAddr) -> Option<SocketAddr> {
    let near = (1..=20).filter_map(|step| taken.port().checked_add(step));
    for port in near.chain([0]) {
        let candidate = SocketAddr::new(taken.ip(), port);
        if let Ok(listener) = TcpListener::bind(candidate).await {
            return listener.local_addr().ok();
        }
    }
    None
}

/// An address that a client on this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::from([127, 0, 0, 1]), address.port())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]), address.port())
        }
        _ => address,
    }
}

/// Done at ctrl-c or when the system asks the process to end.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Done at ctrl-c.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
