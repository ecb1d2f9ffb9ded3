//! Reads a file in blocks, with backpressure.

use std::{
    fs::File,
    io::{self, Read},
    sync::Arc,
};

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
};

use super::{FileError, FilePath, folder::stopped};

/// The block size: with less, waking threads takes longer than reading.
const BLOCK: u64 = 512 << 10;

/// A file that is being read, up to its size at the start.
pub struct FileRead {
    /// The size of the whole file.
    pub size: u64,
    path: FilePath,
    file: Arc<File>,
    /// Bytes that are still to be read.
    left: u64,
    /// Bytes that were read and not taken yet.
    held: Bytes,
    ahead: Option<JoinHandle<io::Result<Bytes>>>,
    permits: Arc<Semaphore>,
}

impl FileRead {
    pub(super) fn new(
        path: FilePath,
        file: File,
        size: u64,
        left: u64,
        permits: Arc<Semaphore>,
    ) -> Self {
        Self {
            size,
            path,
            file: Arc::new(file),
            left,
            held: Bytes::new(),
            ahead: None,
            permits,
        }
    }

    /// The next bytes, at most `max`; `None` at the end. Reads one block ahead.
    pub async fn next(&mut self, max: usize) -> Result<Option<Bytes>, FileError> {
        if self.held.is_empty() {
            if self.ahead.is_none() && self.left > 0 {
                let permits = self.permits.clone();
                let permit = permits.acquire_owned().await.map_err(|_| stopped())?;
                self.begin(permit);
            }
            if let Some(ahead) = &mut self.ahead {
                let read = ahead.await;
                // Cleared only now, so that this is cancel-safe.
                self.ahead = None;
                let read = read
                    .map_err(|_| stopped())
                    .and_then(|read| read.map_err(FileError::at(&self.path)));
                // Nothing follows an error, and a truncated file ends here.
                if !read.as_ref().is_ok_and(|block| !block.is_empty()) {
                    self.left = 0;
                }
                self.held = read?;
            }
        }
        if self.held.is_empty() {
            return Ok(None);
        }
        // Only if no other work waits.
        if self.ahead.is_none()
            && self.left > 0
            && let Ok(permit) = self.permits.clone().try_acquire_owned()
        {
            self.begin(permit);
        }
        let piece = max.clamp(1, self.held.len());
        Ok(Some(self.held.split_to(piece)))
    }

    fn begin(&mut self, permit: OwnedSemaphorePermit) {
        let (file, wanted) = (self.file.clone(), self.left.min(BLOCK));
        self.left -= wanted;
        self.ahead = Some(tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut block = Vec::with_capacity(wanted as usize);
            (&*file).take(wanted).read_to_end(&mut block)?;
            Ok(Bytes::from(block))
        }));
    }
}
