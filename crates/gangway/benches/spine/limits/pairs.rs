//! A minimal relay of many sessions: forwards messages between two WebSockets without reading them. One
//! thread for all of them, and one write for what came in one read.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
};

use crate::frames::head;

/// Takes two at a time.
pub fn run() -> anyhow::Result<()> {
    let listener = super::listen()?;
    listener.set_nonblocking(true)?;
    super::runtime()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (one, other) = (accept(&listener).await?, accept(&listener).await?);
            let ((received, message), (other_heard, other_said)) =
                (one.into_split(), other.into_split());
            tokio::spawn(pass(received, other_said));
            tokio::spawn(pass(other_heard, message));
        }
    })
}

async fn accept(listener: &TcpListener) -> anyhow::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    super::shake_hands(&stream)?;
    stream.set_nonblocking(true)?;
    Ok(TcpStream::from_std(stream)?)
}

async fn pass(mut from: tcp::OwnedReadHalf, mut to: tcp::OwnedWriteHalf) -> std::io::Result<()> {
    let (mut buffer, mut out) = (Vec::with_capacity(64 << 10), Vec::with_capacity(64 << 10));
    while from.read_buf(&mut buffer).await? > 0 {
        out.clear();
        let mut begin = 0;
        while let Some(length) = whole(&buffer[begin..]) {
            let text = super::unmask(&mut buffer[begin..begin + length]);
            out.extend_from_slice(&head(0x81, text.len()));
            out.extend_from_slice(text);
            begin += length;
        }
        buffer.drain(..begin);
        to.write_all(&out).await?;
    }
    Ok(())
}

/// The length of the first frame, if it is here whole. Messages are short.
fn whole(bytes: &[u8]) -> Option<usize> {
    let length = match bytes {
        [_, length, ..] if length & 0x7f < 126 => 6 + usize::from(length & 0x7f),
        [_, _, high, low, ..] => 8 + usize::from(u16::from_be_bytes([*high, *low])),
        _ => return None,
    };
    (bytes.len() >= length).then_some(length)
}
