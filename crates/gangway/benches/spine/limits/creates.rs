//! Durable creates at their barest: a line is appended and synced together with all that wait, then each is answered.

use std::{fs::File, io::Write};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
};

use crate::wire::{content_length, find};

type Line = (Vec<u8>, oneshot::Sender<()>);

/// As long as our answer to a new session.
const ANSWER: &str = r#"{"sessionId":"0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000","title":null,"cwd":"/as/long/as/a/path/of/ours/0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000","model":null,"agent":"scripted","createdAt":"2026-11-11T11:11:11.111Z","updatedAt":"2026-11-11T11:11:11.111Z","running":false}"#;

/// Answers every request once a line about it is on the disk.
pub fn run() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = File::create(folder.path().join("lines"))?;
    let (lines, waiting) = mpsc::channel(1024);
    std::thread::spawn(move || write(file, waiting));
    let listener = super::listen()?;
    listener.set_nonblocking(true)?;
    super::runtime()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream, lines.clone()));
        }
    })
}

fn write(mut file: File, mut waiting: mpsc::Receiver<Line>) -> std::io::Result<()> {
    while let Some((mut text, reply)) = waiting.blocking_recv() {
        let mut owed = vec![reply];
        while let Ok((more, reply)) = waiting.try_recv() {
            text.extend_from_slice(&more);
            owed.push(reply);
        }
        file.write_all(&text)?;
        file.sync_data()?;
        for reply in owed {
            let _ = reply.send(());
        }
    }
    Ok(())
}

async fn serve(mut stream: TcpStream, lines: mpsc::Sender<Line>) -> anyhow::Result<()> {
    let answer = format!(
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{ANSWER}",
        ANSWER.len()
    );
    let mut buffer = Vec::with_capacity(4 << 10);
    loop {
        let end = loop {
            if let Some(end) = find(&buffer, b"\r\n\r\n") {
                break end + 4;
            }
            anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "the client left");
        };
        let length = content_length(std::str::from_utf8(&buffer[..end])?).unwrap_or(0);
        while buffer.len() < end + length {
            anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "the client left");
        }
        buffer.drain(..end + length);
        let (reply, written) = oneshot::channel();
        let line = format!("{ANSWER}\n").into_bytes();
        lines.send((line, reply)).await?;
        written.await?;
        stream.write_all(answer.as_bytes()).await?;
    }
}
