//! The pipes to the browser, separated from anything else that is read or printed.

use std::io::{self, BufRead, BufReader, Write};

/// Read buffer size.
const READ: usize = 64 << 10;

/// Input, output, and a watcher for the end of the output's reader.
pub(crate) type Pipes = (Box<dyn BufRead + Send>, Box<dyn Write + Send>, Reader);

/// Takes both. From here on prints to stdout, by a library for example, go to stderr.
#[cfg(unix)]
pub(crate) fn take() -> io::Result<Pipes> {
    use std::fs::File;

    use rustix::io::fcntl_dupfd_cloexec;
    // Not inherited by child processes.
    let from = File::from(fcntl_dupfd_cloexec(io::stdin(), 3)?);
    let to = File::from(fcntl_dupfd_cloexec(io::stdout(), 3)?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    let reader = Reader(to.try_clone()?.into());
    let from = BufReader::with_capacity(READ, from);
    Ok((Box::new(from), Box::new(to), reader))
}

/// Watches the reading end of the output pipe.
#[cfg(unix)]
pub(crate) struct Reader(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Reader {
    /// Waits until the browser closes it, even if nothing is written.
    pub(crate) async fn closed(self) {
        use tokio::{io::Interest, net::unix::pipe::Sender};
        // Unchecked, since a check would make the pipe non-blocking for its writer too; nothing is written here.
        let Ok(pipe) = Sender::from_owned_fd_unchecked(self.0) else {
            // A regular file, for example, is never closed by the other side.
            return std::future::pending().await;
        };
        let _ = pipe.ready(Interest::ERROR).await;
    }
}

/// On other systems the next write fails.
#[cfg(not(unix))]
pub(crate) struct Reader;

#[cfg(not(unix))]
impl Reader {
    pub(crate) async fn closed(self) {
        std::future::pending().await
    }
}

#[cfg(not(unix))]
pub(crate) fn take() -> io::Result<Pipes> {
    let from = BufReader::with_capacity(READ, io::stdin());
    Ok((Box::new(from), Box::new(io::stdout()), Reader))
}

/// Raises the descriptor limit for the maximum number of pages.
#[cfg(unix)]
pub(crate) fn make_room() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Both ends of each connection are here if the server is too.
    const FILES: u64 = 8192;
    let now = getrlimit(Resource::Nofile);
    let most = now.maximum.map_or(FILES, |most| most.min(FILES));
    if now.current.is_some_and(|current| current < most) {
        let more = Rlimit {
            current: Some(most),
            maximum: now.maximum,
        };
        // If refused, fewer pages can connect.
        let _ = setrlimit(Resource::Nofile, more);
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn make_room() {}
