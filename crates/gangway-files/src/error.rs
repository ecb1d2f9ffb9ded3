//! Errors of files and folders.

use std::io::{self, ErrorKind};

use super::FilePath;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("{path:?} is not a valid path in this session's folder: {why}")]
    BadPath {
        /// Truncated if it is long.
        path: String,
        why: &'static str,
    },
    #[error(
        "{path} is a symlink to outside of this session's folder; only files inside can be used"
    )]
    Outside { path: FilePath },
    #[error("{path} not found; list its folder to see the files")]
    NotFound { path: FilePath },
    #[error("{path} is a folder; name a file in it")]
    NotAFile { path: FilePath },
    #[error("{path} is not a folder, or a part of its path is not")]
    NotAFolder { path: FilePath },
    #[error("{path} is a device, a pipe or a socket; only files and folders can be used")]
    Special { path: FilePath },
    #[error("larger than the limit of {limit} bytes; make it smaller or write it in parts")]
    TooLarge { limit: u64 },
    #[error("at most {limit} watches at once; end some that are not needed")]
    TooMany { limit: usize },
    #[error(
        "this session's folder cannot be used: {0}; create it, or choose another folder for the session"
    )]
    NoFolder(String),
    #[error("not UTF-8 text from byte {offset} on; read it as binary")]
    NotText {
        /// The offset of the first invalid byte, from where reading started.
        offset: u64,
    },
    #[error("permission denied for {path}")]
    Denied { path: FilePath },
    #[error("the disk is full, or the quota is exceeded; free some space and try again")]
    Full,
    #[error("the file system failed: {0}")]
    Io(String),
}

impl FileError {
    /// The error code on the wire.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadPath { .. } => "bad_path",
            Self::Outside { .. } => "outside",
            Self::NotFound { .. } => "not_found",
            Self::NotAFile { .. } => "not_a_file",
            Self::NotAFolder { .. } => "not_a_folder",
            Self::Special { .. } => "special_file",
            Self::TooLarge { .. } => "too_large",
            Self::TooMany { .. } => "too_many",
            Self::NoFolder(_) => "no_folder",
            Self::NotText { .. } => "not_text",
            Self::Denied { .. } => "denied",
            Self::Full => "disk_full",
            Self::Io(_) => "io",
        }
    }

    pub(super) fn bad_path(text: &str, why: &'static str) -> Self {
        // Enough to recognize it.
        let path = text.chars().take(100).collect();
        Self::BadPath { path, why }
    }

    /// Maps an I/O error of this path.
    pub(super) fn at(path: &FilePath) -> impl Fn(io::Error) -> Self {
        let path = path.clone();
        move |error| {
            let path = path.clone();
            match error.kind() {
                // Includes symlink loops.
                ErrorKind::NotFound => Self::NotFound { path },
                ErrorKind::NotADirectory => Self::NotAFolder { path },
                ErrorKind::IsADirectory => Self::NotAFile { path },
                // The sandbox's own refusal has no error number.
                ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
                    Self::Outside { path }
                }
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    Self::Denied { path }
                }
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
                ErrorKind::InvalidFilename => Self::bad_path(
                    path.as_str(),
                    "the operating system does not allow this name",
                ),
                _ => match ring_or_special(&error) {
                    Some(true) => Self::NotFound { path },
                    Some(false) => Self::Special { path },
                    None => Self::Io(error.to_string()),
                },
            }
        }
    }
}

/// Whether it is a symlink loop (true) or a special file (false).
#[cfg(unix)]
fn ring_or_special(error: &io::Error) -> Option<bool> {
    use rustix::io::Errno;
    match Errno::from_io_error(error)? {
        Errno::LOOP => Some(true),
        // A socket, and a device without a driver.
        Errno::NXIO | Errno::NODEV => Some(false),
        _ => None,
    }
}

#[cfg(not(unix))]
fn ring_or_special(_error: &io::Error) -> Option<bool> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn errors_of_the_system_become_codes() {
        let sandbox = io::Error::from(ErrorKind::PermissionDenied);
        assert_eq!(FileError::at(&FilePath::root())(sandbox).code(), "outside");
        for (errno, code) in [
            (Errno::NOENT, "not_found"),
            (Errno::LOOP, "not_found"),
            (Errno::NOTDIR, "not_a_folder"),
            (Errno::ISDIR, "not_a_file"),
            (Errno::ACCESS, "denied"),
            (Errno::ROFS, "denied"),
            (Errno::NOSPC, "disk_full"),
            (Errno::DQUOT, "disk_full"),
            (Errno::NAMETOOLONG, "bad_path"),
            (Errno::NXIO, "special_file"),
            (Errno::NODEV, "special_file"),
            (Errno::IO, "io"),
        ] {
            let error = FileError::at(&FilePath::root())(errno.into());
            assert_eq!(error.code(), code, "{errno}");
        }
    }
}
