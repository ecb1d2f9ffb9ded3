//! The least that each result can cost: parts of this program that run on the server's core in place of the server.

mod creates;
mod echo;
#[cfg(feature = "embedded")]
mod engine;
mod feed;
mod held;
#[cfg(feature = "embedded")]
mod llama;
mod proxy;

use std::{io::Write, net::TcpListener, process::Command};

use crate::{
    appends,
    machine::{Measured, on_server_core},
};

/// Runs one of the parts; the parent kills it when it is done.
pub fn run(name: &str, arguments: &[String]) -> anyhow::Result<()> {
    match name {
        "feed" => feed::run(),
        "held" => held::run(),
        "creates" => creates::run(),
        "echo" => echo::run(),
        "proxy" => proxy::run(arguments),
        "appends" => appends::run(arguments),
        #[cfg(feature = "embedded")]
        "llama" => llama::run(arguments),
        #[cfg(feature = "embedded")]
        "engine" => engine::run(arguments),
        _ => anyhow::bail!("there is no part {name:?}"),
    }
}

/// A command that runs a part on the server's core.
pub fn command(name: &str, arguments: &[String]) -> anyhow::Result<Command> {
    let own = std::env::current_exe()?;
    let mut command = on_server_core(&own.to_string_lossy());
    command.arg(format!("--part={name}")).args(arguments);
    Ok(command)
}

/// Starts a part that listens.
pub fn start(name: &str, arguments: &[String]) -> anyhow::Result<Measured> {
    Measured::start(command(name, arguments)?)
}

/// Listens and says where, as the server does.
fn listen() -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!(
        "the limit is listening on http://{}",
        listener.local_addr()?
    );
    std::io::stdout().flush()?;
    Ok(listener)
}

/// A runtime with one thread for one core.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}
