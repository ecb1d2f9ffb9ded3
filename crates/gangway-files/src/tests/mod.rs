//! A folder on a real disk, with symlinks to outside.

mod reading;
mod writing;

use std::{fs, path::PathBuf};

use bytes::Bytes;

use super::*;

struct Stage {
    temporary: tempfile::TempDir,
    folder: Folder,
}

async fn stage() -> Stage {
    stage_with(Limits::default()).await
}

async fn stage_with(limits: Limits) -> Stage {
    let temporary = tempfile::tempdir().unwrap();
    for name in ["inside", "outside"] {
        fs::create_dir(temporary.path().join(name)).unwrap();
    }
    fs::write(temporary.path().join("outside/secret.txt"), "secret").unwrap();
    let inside = temporary.path().join("inside");
    let folder = Folder::open_with(&inside, limits).await.unwrap();
    Stage { temporary, folder }
}

impl Stage {
    fn at(&self, name: &str) -> PathBuf {
        self.temporary.path().join("inside").join(name)
    }

    fn outside(&self) -> PathBuf {
        self.temporary.path().join("outside")
    }

    async fn read(&self, name: &str) -> Result<Vec<u8>, FileError> {
        self.part(name, 0, None, 64 << 10).await
    }

    async fn part(
        &self,
        name: &str,
        offset: u64,
        length: Option<u64>,
        max: usize,
    ) -> Result<Vec<u8>, FileError> {
        let mut read = self.folder.read(&path(name), offset, length).await?;
        let mut all = Vec::new();
        while let Some(piece) = read.next(max).await? {
            assert!(!piece.is_empty() && piece.len() <= max);
            all.extend_from_slice(&piece);
        }
        assert_eq!(read.next(max).await, Ok(None));
        Ok(all)
    }

    async fn write(&self, name: &str, content: &'static str) -> Result<Stat, FileError> {
        let content = Bytes::from_static(content.as_bytes());
        self.folder.write(&path(name), content).await
    }

    async fn names(&self, name: &str) -> Vec<String> {
        let listing = self.folder.list(&path(name), 100).await.unwrap();
        listing
            .entries
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }
}

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}
