//! `gangway serve`: runs the server until it is stopped.

use std::{
    io::{self, ErrorKind, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use gangway_client::{DataError, DataFolder};
use tokio::net::TcpListener;
use tracing_subscriber::{filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt};

use super::{Common, block_on, browser, launch::Launch};
use crate::config::{Config, LogFormat};

/// Polling interval of a locked data folder; timeouts for a command that uses it briefly, and for a server that was
/// asked to end.
const LOOK: Duration = Duration::from_millis(50);
const GLANCE: Duration = Duration::from_secs(1);
const ROOM: Duration = Duration::from_secs(10);

#[derive(Args, Clone)]
pub struct ServeArgs {
    /// The address to listen on [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    #[command(flatten)]
    common: Common,
    /// The config file [default: config.yaml in the data folder, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A folder with apps; may be repeated
    #[arg(long, value_name = "DIR")]
    apps: Vec<PathBuf>,
    /// Open the chat in your browser
    #[arg(long)]
    open: bool,
    /// Print the server's URL as JSON
    #[arg(long)]
    json: bool,
    /// The log format
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
    /// The log level: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Serve a browser: on any port if the usual one is taken, until it was unused for this many seconds
    #[arg(long, value_name = "SECONDS", hide = true, value_parser = seconds)]
    for_browser: Option<Duration>,
}

impl ServeArgs {
    /// `gangway` without a command.
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
            for_browser: None,
        }
    }

    pub(super) fn settings(&self, data: &Path) -> anyhow::Result<Config> {
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
    raise_descriptor_limit();
    block_on(serve(&args, config, data))
}

async fn serve(args: &ServeArgs, config: Config, data: PathBuf) -> anyhow::Result<()> {
    let (open, json) = (args.open, args.json);
    let for_browser = args.for_browser;
    let address = config.address()?;
    let (folder, listener) = match for_browser {
        Some(_) => {
            let folder = take(&data, true).await?;
            (folder, bind_anywhere(address).await?)
        }
        None => settle(address, &data).await?,
    };
    let nameless = !listener.local_addr()?.ip().is_loopback() && config.hosts.is_empty();
    let launch = Launch::new(config, folder, listener, for_browser.is_some()).await?;
    let (url, folder) = (&launch.note.url, &launch.folder);
    let link = launch.server.app().http.login_link();
    let withheld = launch.withheld.iter().map(String::as_str);
    let opened = open && browser::open_login(&link, folder.path(), withheld);
    let mut lines = if json {
        serde_json::json!({ "url": url, "data": folder.path(), "pid": std::process::id(), "login": link })
            .to_string()
    } else {
        format!(
            "Gangway is listening on {url} (data in {})",
            folder.path().display()
        )
    };
    if !opened && !json && for_browser.is_none() {
        lines += &format!(
            "\nOpen {link} to log your browser in. It works once, for ten minutes; `gangway open` makes another."
        );
    }
    if nameless && !json {
        lines += "\nOther machines need a name for this one: add it to `hosts` in config.yaml and restart.";
    }
    // In one write: a reader of the pipe waits for the first line to know the port, and may then close it.
    io::stdout().write_all(format!("{lines}\n").as_bytes())?;
    io::stdout().flush()?;
    if !launch.server.app().http.guard.required() {
        tracing::warn!(
            "authentication is off (`authentication: open-to-this-machine`): every program and every user of this machine can read and change everything here, use your models, and start programs as you"
        );
    }
    let (app, signal) = (Arc::clone(launch.server.app()), stop_signal()?);
    let stop = async {
        match for_browser {
            Some(timeout) => tokio::select! {
                () = signal => {}
                () = app.unneeded(timeout) => {}
            },
            None => signal.await,
        }
    };
    launch.listen(stop).await
}

/// Locks the data folder and binds the address. A running server is asked to end only if this one could take its
/// place.
async fn settle(address: SocketAddr, data: &Path) -> anyhow::Result<(DataFolder, TcpListener)> {
    let bound = match bind(address, data).await {
        Ok(listener) => Some(listener),
        Err(error) => match DataFolder::take(data) {
            // It may be the server that would end.
            Err(DataError::InUse {
                server: Some(note), ..
            }) if note.for_browser => {
                let port = note
                    .url
                    .rsplit(':')
                    .next()
                    .and_then(|port| port.parse().ok());
                if port != Some(address.port()) {
                    return Err(error);
                }
                None
            }
            // Same settings: the locked folder is the real conflict.
            Err(in_use) => return Err(in_use.into()),
            Ok(_) => return Err(error),
        },
    };
    let folder = take(data, false).await?;
    let listener = match bound {
        Some(listener) => listener,
        None => bind(address, data).await?,
    };
    Ok((folder, listener))
}

/// Locks the data folder. Waits for a command that uses it briefly; a Gangway started for a browser ends to make room
/// for one that the user starts.
pub(super) async fn take(data: &Path, for_browser: bool) -> Result<DataFolder, DataError> {
    let (mut waited, mut most) = (Duration::ZERO, GLANCE);
    loop {
        let error = match DataFolder::take(data) {
            Ok(folder) => {
                if most == ROOM {
                    tracing::warn!(
                        "stopped the Gangway that a browser had started; its running turns were interrupted"
                    );
                }
                return Ok(folder);
            }
            Err(error) => error,
        };
        match &error {
            DataError::InUse { server: None, .. } => {}
            DataError::InUse {
                server: Some(note), ..
            } if note.for_browser && !for_browser && end(note.pid) => most = ROOM,
            _ => return Err(error),
        }
        if waited >= most {
            return Err(error);
        }
        tokio::time::sleep(LOOK).await;
        waited += LOOK;
    }
}

/// Raises the descriptor limit to the hard limit: many systems start with 1024.
#[cfg(unix)]
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let raised = Rlimit {
            current: maximum,
            maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "cannot raise the limit on file descriptors");
        }
    }
}

#[cfg(not(unix))]
fn raise_descriptor_limit() {}

#[cfg(unix)]
fn end(pid: u32) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

/// Not supported here.
#[cfg(not(unix))]
fn end(_pid: u32) -> bool {
    false
}

pub(super) fn start_log(config: &Config) -> anyhow::Result<()> {
    // Below info, libraries log message contents; no setting may enable that.
    let quiet = filter_fn(|line| {
        let target = line.target();
        // The MCP library logs messages at info.
        let quiet = target.starts_with("rmcp") && *line.level() > tracing::Level::WARN;
        !quiet && (target.starts_with("gangway") || *line.level() <= tracing::Level::INFO)
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(config.log_filter()?)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_writer(|| super::say::LogOutput(io::stderr()));
    let started = match config.log.format {
        LogFormat::Text => builder.finish().with(quiet).try_init(),
        LogFormat::Json => builder.json().finish().with(quiet).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot set up logging: {error}"))
}

/// Falls back to any port: clients find the server through server.lock.
pub(super) async fn bind_anywhere(address: SocketAddr) -> anyhow::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind("127.0.0.1:0")
            .await
            .context("listening on 127.0.0.1"),
    }
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
            anyhow::bail!(
                "port {port} on {ip} is already in use{}",
                hint.unwrap_or_default()
            )
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

/// One of the next ports, or any.
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

/// Resolves on Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(super) fn stop_signal() -> io::Result<impl Future<Output = ()>> {
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

/// Resolves on Ctrl-C.
#[cfg(not(unix))]
pub(super) fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
