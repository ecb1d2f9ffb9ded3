//! Folders that nobody else can look into.

use std::{fs::DirBuilder, io, path::Path};

/// Makes a folder that only its owner can look into.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
