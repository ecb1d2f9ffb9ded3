//! A feed at its barest: one thread, shared bytes, one write for each reader and token.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

/// As long as a token of ours on the wire.
const TOKEN: &[u8] = b"id: 1234\nevent: assistant.message_delta\ndata: {\"seq\":1234,\"at\":\"2026-11-11T11:11:11.111Z\",\
\"type\":\"assistant.message_delta\",\"streamId\":\"0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000.12\",\"messageId\":\"12.1\",\"delta\":\"word \"}\n\n";

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// `GET /feed` reads it, `GET /go/COUNT/MICROSECONDS` has that many tokens said at that pace.
pub fn run() -> anyhow::Result<()> {
    let listener = super::listen()?;
    let mut readers: Vec<TcpStream> = Vec::new();
    for stream in listener.incoming() {
        let mut stream = stream?;
        stream.set_nodelay(true)?;
        let path = read_request(&stream)?;
        let mut message = path.trim_start_matches("/go/").split('/');
        if path == "/feed" {
            stream.write_all(HEAD)?;
            readers.push(stream);
        } else if let (Some(Ok(count)), Some(Ok(pace))) = (
            message.next().map(str::parse::<u32>),
            message.next().map(str::parse::<u64>),
        ) {
            stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")?;
            say(&mut readers, count, Duration::from_micros(pace))?;
        }
    }
    Ok(())
}

fn say(readers: &mut [TcpStream], count: u32, pace: Duration) -> anyhow::Result<()> {
    let begin = Instant::now();
    for token in 0..count {
        if let Some(wait) = (begin + pace * token).checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        for reader in &mut *readers {
            reader.write_all(TOKEN)?;
        }
    }
    Ok(())
}

fn read_request(stream: &TcpStream) -> anyhow::Result<String> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    Ok(first.split(' ').nth(1).unwrap_or_default().to_owned())
}
