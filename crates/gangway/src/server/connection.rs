//! A connection with its permits, closed so that the client can read the last response.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use gangway_http::metrics::Counted;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::TcpStream,
    runtime::Handle,
    sync::OwnedSemaphorePermit,
};
use tokio_util::task::TaskTracker;

use super::share::Share;

/// How long a client may take to close its side after we closed ours.
const LINGER: Duration = Duration::from_secs(1);

/// A connection with its permits, which are held until it ends, also after an upgrade to a WebSocket.
pub(super) struct HeldConnection {
    stream: Option<TcpStream>,
    place: Option<(OwnedSemaphorePermit, Share, Counted)>,
    tasks: TaskTracker,
}

impl HeldConnection {
    pub(super) fn new(
        stream: TcpStream,
        place: OwnedSemaphorePermit,
        share: Share,
        counted: Counted,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            stream: Some(stream),
            place: Some((place, share, counted)),
            tasks,
        }
    }

    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        let stream = self.stream.as_mut().map(Pin::new);
        stream.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        let (stream, place) = (self.stream.take(), self.place.take());
        let (Some(mut stream), Ok(runtime)) = (stream, Handle::try_current()) else {
            return;
        };
        let linger = async move {
            let _place = place;
            stream.shutdown().await?;
            // Closing with unread data would reset the connection before the client reads the response.
            tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
        };
        self.tasks
            .spawn_on(tokio::time::timeout(LINGER, linger), &runtime);
    }
}

impl AsyncRead for HeldConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(context, buffer)
    }
}

impl AsyncWrite for HeldConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream
            .as_ref()
            .is_some_and(TcpStream::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(context)
    }
}
