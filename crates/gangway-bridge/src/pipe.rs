//! The two pipes to the browser, kept apart from whatever else might be read or printed.

use std::io::{self, BufRead, BufReader, Write};

/// Bytes that are read in one go.
const READ: usize = 64 << 10;

/// What comes from the browser, what goes to it, and what tells that the browser no longer reads.
pub(crate) type Pipes = (Box<dyn BufRead + Send>, Box<dyn Write + Send>, Reader);

/// Takes both. From here on whatever is printed to stdout, by a library for example, goes to stderr.
#[cfg(unix)]
pub(crate) fn take() -> io::Result<Pipes> {
    use std::fs::File;

    use rustix::io::fcntl_dupfd_cloexec;
    // No program that is started from here gets them.
    let from = File::from(fcntl_dupfd_cloexec(io::stdin(), 3)?);
    let to = File::from(fcntl_dupfd_cloexec(io::stdout(), 3)?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    let reader = Reader(to.try_clone()?.into());
    let from = BufReader::with_capacity(READ, from);
    Ok((Box::new(from), Box::new(to), reader))
}

/// The browser's end of the pipe that goes to it.
#[cfg(unix)]
pub(crate) struct Reader(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Reader {
    /// Waits until the browser closes it, also while there is nothing to write.
    pub(crate) async fn closed(self) {
        use tokio::{io::Interest, net::unix::pipe::Sender};
        // Unchecked, since a check would make the pipe non-blocking for its writer too; nothing is written here.
        let Ok(pipe) = Sender::from_owned_fd_unchecked(self.0) else {
            // What cannot be watched, such as a file, is never closed from the other side.
            return std::future::pending().await;
        };
        let _ = pipe.ready(Interest::ERROR).await;
    }
}

/// Elsewhere the next write tells.
#[cfg(not(unix))]
pub(crate) struct Reader;

#[cfg(not(unix))]
impl Reader {
    pub(crate) async fn closed(self) {
        std::future::pending().await
    }
}

/// Takes both.
#[cfg(not(unix))]
pub(crate) fn take() -> io::Result<Pipes> {
    let from = BufReader::with_capacity(READ, io::stdin());
    Ok((Box::new(from), Box::new(io::stdout()), Reader))
}

/// Makes room for as many connections as there may be pages.
#[cfg(unix)]
pub(crate) fn make_room() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Both ends of each connection are here when the server is too.
    const FILES: u64 = 8192;
    let now = getrlimit(Resource::Nofile);
    let most = now.maximum.map_or(FILES, |most| most.min(FILES));
    if now.current.is_some_and(|current| current < most) {
        let more = Rlimit {
            current: Some(most),
            maximum: now.maximum,
        };
        // Where it is refused, fewer pages find room.
        let _ = setrlimit(Resource::Nofile, more);
    }
}

/// There is no such limit elsewhere.
#[cfg(not(unix))]
pub(crate) fn make_room() {}
