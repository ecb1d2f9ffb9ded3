//! The two pipes to the browser, kept apart from whatever else might be read or printed.

use std::io::{self, BufRead, BufReader, Write};

/// Bytes that are read in one go.
const READ: usize = 64 << 10;

/// What comes from the browser, and what goes to it.
pub(super) type Pipes = (Box<dyn BufRead + Send>, Box<dyn Write + Send>);

/// Takes both. From here on whatever is printed to stdout, by a library for example, goes to stderr.
#[cfg(unix)]
pub(super) fn take() -> io::Result<Pipes> {
    use std::fs::File;

    use rustix::io::fcntl_dupfd_cloexec;
    // No program that is started from here gets them.
    let from = File::from(fcntl_dupfd_cloexec(io::stdin(), 3)?);
    let to = File::from(fcntl_dupfd_cloexec(io::stdout(), 3)?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    let from = BufReader::with_capacity(READ, from);
    Ok((Box::new(from), Box::new(to)))
}

/// Takes both.
#[cfg(not(unix))]
pub(super) fn take() -> io::Result<Pipes> {
    let from = BufReader::with_capacity(READ, io::stdin());
    Ok((Box::new(from), Box::new(io::stdout())))
}

/// Makes room for as many connections as there may be pages.
#[cfg(unix)]
pub(super) fn make_room() {
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
pub(super) fn make_room() {}
