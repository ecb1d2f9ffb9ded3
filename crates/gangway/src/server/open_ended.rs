//! Writes an open-ended response to its connection. An HTTP connection would hold two buffers of 8 KiB for as long as the
//! reader stays, and frame each event again for each reader.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    body::Body,
    http::{header, response},
    response::Response,
};
use bytes::{Buf, Bytes};
use hyper::body::Body as _;
use jiff::{Timestamp, fmt::rfc2822};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a reader may send meanwhile, which is ignored; one that goes on is cut off.
const IGNORED: usize = 16 << 10;

/// Ends the HTTP connection without an answer, since its response is written here.
#[derive(Debug, thiserror::Error)]
#[error("an open-ended response is written without the HTTP connection")]
pub(super) struct Taken;

/// Writes a response until it ends or its reader leaves. Its end is the end of the connection, so that each event is
/// written as it is.
pub(super) async fn write(stream: impl AsyncRead + AsyncWrite + Unpin, response: Response) {
    let (head, body) = response.into_parts();
    let mut writing = Writing {
        stream,
        body,
        unsent: head_of(&head),
        ignored: 0,
    };
    drop(head);
    poll_fn(|context| {
        if writing.poll_write(context).is_ready() {
            return Poll::Ready(());
        }
        writing.poll_left(context)
    })
    .await;
}

struct Writing<S> {
    stream: S,
    body: Body,
    unsent: Bytes,
    ignored: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Writing<S> {
    /// Ready when everything is written, or nothing more can be.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            while !self.unsent.is_empty() {
                let written = Pin::new(&mut self.stream).poll_write(context, &self.unsent);
                match ready!(written) {
                    Ok(written @ 1..) => self.unsent.advance(written),
                    Ok(0) | Err(_) => return Poll::Ready(()),
                }
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => self.unsent = frame.into_data().unwrap_or_default(),
                Some(Err(_)) | None => return Poll::Ready(()),
            }
        }
    }

    /// Ready when the reader has closed its side.
    fn poll_left(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut bytes = [0; 256];
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            self.ignored += buffer.filled().len();
            if read.is_err() || buffer.filled().is_empty() || self.ignored > IGNORED {
                return Poll::Ready(());
            }
        }
    }
}

fn head_of(head: &response::Parts) -> Bytes {
    let mut text = format!("HTTP/1.1 {}\r\n", head.status).into_bytes();
    for (name, value) in &head.headers {
        if *name != header::CONNECTION {
            text.extend_from_slice(name.as_str().as_bytes());
            text.extend_from_slice(b": ");
            text.extend_from_slice(value.as_bytes());
            text.extend_from_slice(b"\r\n");
        }
    }
    if let Ok(now) = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::now())
    {
        text.extend_from_slice(format!("date: {now}\r\n").as_bytes());
    }
    text.extend_from_slice(b"connection: close\r\n\r\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::http::HeaderValue;
    use futures_util::stream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn the_body_follows_the_head_as_it_is_and_ends_with_the_connection() {
        let chunks = ["one", "two"].map(|chunk| Ok::<_, Infallible>(Bytes::from(chunk)));
        let mut response = Response::new(Body::from_stream(stream::iter(chunks)));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        // Smaller than each write.
        let (near, mut far) = duplex(2);
        tokio::spawn(write(near, response));
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ndate: "));
        assert!(head.ends_with(" GMT\r\nconnection: close"), "{head}");
        assert_eq!(body, "onetwo");
    }

    #[tokio::test]
    async fn it_ends_when_its_reader_leaves_or_does_not_stop_sending() {
        for leaves in [true, false] {
            let silent = stream::pending::<Result<Bytes, Infallible>>();
            let response = Response::new(Body::from_stream(silent));
            let (near, mut far) = duplex(64 << 10);
            let writing = tokio::spawn(write(near, response));
            far.write_all(&[b'x'; IGNORED]).await.unwrap();
            let mut head = [0; 17];
            far.read_exact(&mut head).await.unwrap();
            assert_eq!(&head, b"HTTP/1.1 200 OK\r\n");
            assert!(!writing.is_finished());
            let _open = match leaves {
                true => {
                    drop(far);
                    None
                }
                false => {
                    far.write_all(b"x").await.unwrap();
                    Some(far)
                }
            };
            writing.await.unwrap();
        }
    }
}
