//! inotify. A folder is added by its open handle, not by its path: what was opened is watched.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    sync::Arc,
};

use cap_std::fs::Dir;
use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};
use tokio::io::unix::AsyncFd;

use super::Raw;
use crate::FilePath;

/// Some hundreds of events at a time.
const BUFFER: usize = 16 << 10;

pub(in crate::watch) struct Watcher {
    kernel: Arc<OwnedFd>,
    numbers: HashMap<FilePath, i32>,
    folders: HashMap<i32, FilePath>,
}

pub(in crate::watch) struct Hints {
    kernel: AsyncFd<Arc<OwnedFd>>,
}

pub(super) fn start() -> io::Result<(Watcher, Hints)> {
    let kernel = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
    #[expect(
        deprecated,
        reason = "its successor is unsafe for handles that may be closed; this one is owned and stays open"
    )]
    let ready = AsyncFd::new(kernel.clone())?;
    let hints = Hints { kernel: ready };
    let watcher = Watcher {
        kernel,
        numbers: HashMap::new(),
        folders: HashMap::new(),
    };
    Ok((watcher, hints))
}

impl Watcher {
    pub(super) fn add(&mut self, path: &FilePath, folder: &Dir) -> io::Result<()> {
        let changes = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::EXCL_UNLINK
            | WatchFlags::ONLYDIR;
        let handle = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let number = inotify::add_watch(&self.kernel, handle, changes)?;
        // A folder that was moved keeps its watch descriptor.
        if let Some(before) = self.folders.insert(number, path.clone()) {
            self.numbers.remove(&before);
        }
        self.numbers.insert(path.clone(), number);
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &FilePath) {
        if let Some(number) = self.numbers.remove(path) {
            self.folders.remove(&number);
            // The watch of a removed folder is already gone.
            let _ = inotify::remove_watch(&self.kernel, number);
        }
    }

    pub(super) fn locate(
        &self,
        number: i32,
        name: Option<OsString>,
    ) -> Option<(FilePath, Option<String>)> {
        let folder = self.folders.get(&number)?.clone();
        Some((folder, name?.into_string().ok()))
    }
}

impl Hints {
    pub(super) async fn next(&mut self) -> io::Result<Vec<Raw>> {
        loop {
            let mut ready = self.kernel.readable().await?;
            let raws = ready.try_io(|kernel| read(kernel.get_ref()));
            match raws {
                Ok(raws) => return raws,
                Err(_nothing_yet) => {}
            }
        }
    }
}

/// Reads one buffer of events.
fn read(kernel: &OwnedFd) -> io::Result<Vec<Raw>> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut events = inotify::Reader::new(kernel, &mut buffer);
    let mut raws = Vec::new();
    loop {
        match events.next() {
            Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                raws.push(Raw::Lost);
            }
            Ok(event) => {
                let name = event.file_name();
                let name = name.map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
                raws.push(Raw::In(event.wd(), name));
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if events.is_buffer_empty() {
            return Ok(raws);
        }
    }
}
