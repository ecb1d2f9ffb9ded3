//! A file over a WebSocket at its barest: one thread, one buffer to read into, one to write from.

use std::{
    fs::File,
    io::{Read, Write},
    net::TcpStream,
};

use crate::frames::head;

/// As much of a file in a message as in ours.
const PIECE: usize = 128 << 10;

/// Bytes before a large message.
const HEAD: usize = 10;

const READY: &[u8] = b"{\"type\":\"ready\"}";

/// Any message has the file sent; one that says so, as binary messages, each announced by a text.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [path] = arguments else {
        anyhow::bail!("wants a file");
    };
    for stream in super::listen()?.incoming() {
        let mut stream = stream?;
        stream.set_nodelay(true)?;
        super::shake_hands(&stream)?;
        stream.write_all(&head(0x81, READY.len()))?;
        stream.write_all(READY)?;
        let mut asked = [0; 4096];
        let read = stream.read(&mut asked)?;
        let asked = String::from_utf8_lossy(super::unmask(&mut asked[..read])).into_owned();
        let _ = match asked.contains(r#""binary":true"#) {
            true => send_bytes(path, &mut stream),
            false => send_text(path, &mut stream),
        };
    }
    Ok(())
}

fn send_text(path: &str, stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut piece = vec![0; PIECE];
    let mut frame = Vec::new();
    // The beginning of a character that the next piece ends.
    let mut carried = 0;
    loop {
        let read = file.read(&mut piece[carried..])?;
        let here = carried + read;
        let whole = match std::str::from_utf8(&piece[..here]) {
            Ok(all) => all.len(),
            Err(wrong) => wrong.valid_up_to(),
        };
        // Room for the longest head, which is known last.
        frame.clear();
        frame.resize(HEAD, 0);
        frame.extend_from_slice(br#"{"type":"fileContent","id":1,"path":"large.txt","chunk":""#);
        escape(&piece[..whole], &mut frame);
        write!(frame, r#"","size":{size},"done":{}}}"#, read == 0)?;
        let head = head(0x81, frame.len() - HEAD);
        let begin = HEAD - head.len();
        frame[begin..HEAD].copy_from_slice(&head);
        stream.write_all(&frame[begin..])?;
        if read == 0 {
            return Ok(());
        }
        piece.copy_within(whole..here, 0);
        carried = here - whole;
    }
}

/// A text inside of quotes, as JSON has it: runs that need nothing are copied whole.
fn escape(bytes: &[u8], text: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest
        .iter()
        .position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'))
    {
        text.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\t' => text.extend_from_slice(b"\\t"),
            other @ (b'"' | b'\\') => text.extend_from_slice(&[b'\\', other]),
            other => text.extend_from_slice(format!("\\u{other:04x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    text.extend_from_slice(rest);
}

fn send_bytes(path: &str, stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut frame = vec![0; PIECE + 512];
    loop {
        // The piece is read to where it will be sent from, behind what announces it.
        let read = file.read(&mut frame[512..])?;
        let text = format!(
            r#"{{"type":"fileContent","id":1,"path":"large.txt","bytes":{read},"size":{size},"done":{}}}"#,
            read == 0
        );
        let mut before = head(0x81, text.len());
        before.extend_from_slice(text.as_bytes());
        if read > 0 {
            before.extend_from_slice(&head(0x82, read));
        }
        let begin = 512 - before.len();
        frame[begin..512].copy_from_slice(&before);
        stream.write_all(&frame[begin..512 + read])?;
        if read == 0 {
            return Ok(());
        }
    }
}
