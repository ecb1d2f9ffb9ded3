//! SHA-256 of files.

use std::{fmt::Write, io, path::Path};

use ring::digest::{Context, SHA256};

use super::WeightsError;

pub(super) struct Sha256(Context);

impl Sha256 {
    pub(super) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// As 64 hexadecimal digits.
    pub(super) fn finish(self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0.finish().as_ref() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Hashes a file; `read` is called with the progress, and cancels by returning false.
pub(super) fn of_file(path: &Path, read: impl Fn(u64) -> bool) -> Result<String, WeightsError> {
    let mut file = std::fs::File::open(path).map_err(WeightsError::io(path))?;
    copy(&mut file, &mut io::sink(), read).map_err(WeightsError::io(path))
}

/// Copies and hashes; `copied` is called with the progress, and cancels by returning false.
pub(super) fn copy(
    from: &mut impl io::Read,
    to: &mut impl io::Write,
    copied: impl Fn(u64) -> bool,
) -> io::Result<String> {
    let (mut hash, mut so_far) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(hash.finish()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        so_far += read as u64;
        if !copied(so_far) {
            return Err(io::Error::other("cancelled"));
        }
    }
}

/// In lower or upper case.
pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
