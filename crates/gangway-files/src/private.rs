//! Private folders.

use std::{fs::DirBuilder, io, path::Path};

/// Creates a folder with access for its owner only.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
