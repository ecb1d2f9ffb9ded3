//! The least that each result can cost: parts of this program that run on the server's core in place of the server.

mod answers;
mod creates;
mod echo;
mod engine;
mod feed;
mod file;
mod held;
mod native;
mod pairs;
mod proxy;
mod relay;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    time::Instant,
};

use crate::{
    appends,
    machine::{Measured, on_server_core},
};

/// Runs one of the parts; the parent kills it when it is done.
pub fn run(name: &str, arguments: &[String]) -> anyhow::Result<()> {
    match name {
        "spin" => spin_here(),
        "feed" => feed::run(),
        "held" => held::run(),
        "creates" => creates::run(),
        "echo" => echo::run(),
        "answers" => answers::run(),
        "native" => native::run(),
        "relay" => relay::run(),
        "pairs" => pairs::run(),
        "file" => file::run(arguments),
        "proxy" => proxy::run(arguments),
        "appends" => appends::run(arguments),
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

/// Milliseconds that a fixed amount of work takes on the server's core, the shortest of many so that nothing came between.
pub fn spin() -> anyhow::Result<f64> {
    let output = command("spin", &[])?.output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn spin_here() -> anyhow::Result<()> {
    let mut words = vec![0_u64; 1 << 20];
    let mut shortest = f64::MAX;
    for _ in 0..20 {
        let begin = Instant::now();
        let mut state = 1_u64;
        for word in &mut words {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(*word | 1);
            *word = state;
        }
        shortest = shortest.min(begin.elapsed().as_secs_f64() * 1e3);
    }
    anyhow::ensure!(words.iter().any(|word| *word != 0), "nothing was done");
    println!("{shortest}");
    Ok(())
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

/// Takes the handshake of a WebSocket from this program's own driver, whose key is always the same.
fn shake_hands(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut request = [0; 4096];
    let mut read = 0;
    while !request[..read].ends_with(b"\r\n\r\n") {
        read += stream.read(&mut request[read..])?;
    }
    stream.write_all(
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
          Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    )
}

/// What a client's short message says, which came whole.
fn unmask(frame: &mut [u8]) -> &[u8] {
    let begin = match frame {
        [_, length, ..] if *length & 0x7f == 126 => 4,
        _ => 2,
    };
    let Some((mask, text)) = frame
        .get_mut(begin..)
        .and_then(|rest| rest.split_first_chunk_mut::<4>())
    else {
        return &[];
    };
    for (byte, mask) in text.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    text
}
