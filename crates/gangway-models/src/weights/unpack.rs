//! Extracts one file from a zip archive, without trusting the archive.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use zip::{ZipArchive, result::ZipError};

use super::{Pin, WeightsError, digest};

/// Writes an entry to a file and syncs it; `written` is called with the progress, and cancels by returning false.
pub(super) fn unpack(
    archive: &Path,
    entry: &str,
    pin: &Pin,
    to: &Path,
    written: impl Fn(u64) -> bool,
) -> Result<(), WeightsError> {
    let bad = |reason: String| WeightsError::BadArchive {
        what: entry.to_owned(),
        reason,
    };
    let file = File::open(archive).map_err(WeightsError::io(archive))?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(|e| bad(e.to_string()))?;
    let source = match archive.by_name(entry) {
        Err(ZipError::FileNotFound) => return Err(bad("the archive does not contain it".into())),
        source => source.map_err(|e| bad(e.to_string()))?,
    };
    let wrong = |found: String| WeightsError::WrongSize {
        what: entry.to_owned(),
        expected: pin.bytes,
        found,
    };
    if source.size() != pin.bytes {
        return Err(wrong(format!("the archive says {}", source.size())));
    }
    let failed = WeightsError::io(to);
    let mut target = File::create(to).map_err(&failed)?;
    // Reads at most one byte too many: an archive can unpack to any size.
    let mut source = Unpacked(source.take(pin.bytes + 1));
    let copied = digest::copy(&mut source, &mut target, |so_far| {
        so_far <= pin.bytes && written(so_far)
    });
    let length = target.metadata().map_err(&failed)?.len();
    if length > pin.bytes {
        return Err(wrong("the archive has more".into()));
    }
    let found = match copied {
        Err(error) if error.get_ref().is_some_and(|inner| inner.is::<Damaged>()) => {
            return Err(bad(error.to_string()));
        }
        copied => copied.map_err(&failed)?,
    };
    if length < pin.bytes {
        return Err(wrong(format!("the archive has {length}")));
    }
    if found != pin.sha256 {
        return Err(WeightsError::WrongHash {
            what: entry.to_owned(),
            found,
            expected: pin.sha256.clone(),
        });
    }
    target.sync_all().map_err(&failed)
}

/// Tells errors of the entry from those of the written file.
struct Unpacked<R>(R);

#[derive(Debug, thiserror::Error)]
#[error("it is damaged: {0}")]
struct Damaged(io::Error);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0
            .read(buffer)
            .map_err(|error| io::Error::other(Damaged(error)))
    }
}
