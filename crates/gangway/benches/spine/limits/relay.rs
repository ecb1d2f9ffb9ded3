//! A minimal relay: forwards messages between two WebSockets. One thread for each, blocked in reads.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use crate::frames::head;

/// Takes two at a time.
pub fn run() -> anyhow::Result<()> {
    let listener = super::listen()?;
    let mut waiting: Option<TcpStream> = None;
    for stream in listener.incoming() {
        let stream = stream?;
        stream.set_nodelay(true)?;
        super::shake_hands(&stream)?;
        match waiting.take() {
            None => waiting = Some(stream),
            Some(other) => {
                let (near, far) = (stream.try_clone()?, other.try_clone()?);
                std::thread::spawn(move || pass(near, far));
                std::thread::spawn(move || pass(other, stream));
            }
        }
    }
    Ok(())
}

/// Messages are short and come whole, one at a time.
fn pass(mut from: TcpStream, mut to: TcpStream) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let read = from.read(&mut buffer)?;
        let text = super::unmask(&mut buffer[..read]);
        let mut frame = head(0x81, text.len());
        frame.extend_from_slice(text);
        if read == 0 {
            return Ok(());
        }
        to.write_all(&frame)?;
    }
}
