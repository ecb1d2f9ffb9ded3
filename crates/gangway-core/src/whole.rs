//! Small files that are there whole or not at all, readable by their owner alone.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Writes a file beside its place, brings it to the disk, and moves it there.
///
/// Two writers of one file at the same time are told apart by nothing; who has such files takes a lock.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    // What a crash left behind may belong to a link or be readable by others; it is made anew.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = std::fs::remove_file(&new);
        return Err(error);
    }
    std::fs::rename(&new, path)?;
    sync_folder_of(path)
}

/// Reads a small file. Anything but a file, a pipe for example, could wait for ever and is refused.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() || about.len() > most {
        let words = format!("this is no file of at most {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, words));
    }
    std::fs::read(path)
}

/// Brings it to the disk that a file was moved to its place.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and a rename is brought to the disk by the system.
    if cfg!(unix)
        && let Some(folder) = path.parent()
    {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        reason = "a test that cannot go on should say where"
    )]

    #[test]
    fn a_file_is_replaced_whole_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::fs::write(folder.path().join("a.json.new"), "left by a crash").unwrap();
        for text in ["one", "two"] {
            super::write(&file, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
