//! Why a file cannot be had.

use std::io::{self, ErrorKind};

use super::FilePath;

/// What went wrong with a file or folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Not a path below the folder.
    #[error("{path:?} is no path in this session's folder: {why}")]
    BadPath {
        /// What was given, cut if it is long.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A link on the way leads out.
    #[error("{path} leads out of this session's folder by a link; only what is inside can be used")]
    Outside {
        /// Where.
        path: FilePath,
    },
    /// There is nothing.
    #[error("{path} is not there; list its folder to see what is")]
    NotFound {
        /// Where.
        path: FilePath,
    },
    /// A folder where a file is wanted.
    #[error("{path} is a folder; name a file in it")]
    NotAFile {
        /// Where.
        path: FilePath,
    },
    /// A file where a folder is wanted.
    #[error("{path} is not a folder, or goes through something that is none")]
    NotAFolder {
        /// Where.
        path: FilePath,
    },
    /// A device, a pipe or a socket.
    #[error("{path} is a device, a pipe or a socket; only files and folders can be used")]
    Special {
        /// Where.
        path: FilePath,
    },
    /// More than is taken.
    #[error("this is larger than the limit of {limit} bytes; make it smaller or write it in parts")]
    TooLarge {
        /// How many bytes are taken.
        limit: u64,
    },
    /// More watches than are kept.
    #[error("no more than {limit} watches are kept at once; end some that are not needed")]
    TooMany {
        /// How many are kept.
        limit: usize,
    },
    /// The session's folder itself cannot be used.
    #[error("this session's folder cannot be used: {0}; make it, or give the session another")]
    NoFolder(String),
    /// Bytes that are no text.
    #[error("this is not UTF-8 text from byte {offset} on; read it as binary")]
    NotText {
        /// Where the first wrong byte is, counted from where the reading began.
        offset: u64,
    },
    /// The system does not allow it.
    #[error("{path} may not be used: its permissions forbid it")]
    Denied {
        /// Where.
        path: FilePath,
    },
    /// No space on the disk.
    #[error("the disk is full, or the space for this user is used up; make room and try again")]
    Full,
    /// Anything else.
    #[error("the file system failed: {0}")]
    Io(String),
}

impl FileError {
    /// The name of this kind of error on the wire.
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
        // Enough to know it by.
        let path = text.chars().take(100).collect();
        Self::BadPath { path, why }
    }

    /// What an error of the system means for this path.
    pub(super) fn at(path: &FilePath) -> impl Fn(io::Error) -> Self {
        let path = path.clone();
        move |error| {
            let path = path.clone();
            match error.kind() {
                // A ring of links leads nowhere either.
                ErrorKind::NotFound => Self::NotFound { path },
                ErrorKind::NotADirectory => Self::NotAFolder { path },
                ErrorKind::IsADirectory => Self::NotAFile { path },
                // The sandbox speaks for itself; the system gives a number.
                ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
                    Self::Outside { path }
                }
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    Self::Denied { path }
                }
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
                ErrorKind::InvalidFilename => {
                    Self::bad_path(path.as_str(), "the system takes no such name")
                }
                _ => match ring_or_special(&error) {
                    Some(true) => Self::NotFound { path },
                    Some(false) => Self::Special { path },
                    None => Self::Io(error.to_string()),
                },
            }
        }
    }
}

/// Links that lead in a ring, or something that cannot be opened as a file.
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
