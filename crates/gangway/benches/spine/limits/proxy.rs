//! A proxy at its barest: bytes are copied both ways.

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};

/// Copies between its own address and the one it is given.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    let upstream = arguments.first().context("no address to copy to")?.clone();
    let listener = super::listen()?;
    listener.set_nonblocking(true)?;
    super::runtime()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (mut near, _) = listener.accept().await?;
            let upstream = upstream.clone();
            tokio::spawn(async move {
                near.set_nodelay(true)?;
                let mut far = TcpStream::connect(&upstream).await?;
                far.set_nodelay(true)?;
                tokio::io::copy_bidirectional(&mut near, &mut far).await
            });
        }
    })
}
