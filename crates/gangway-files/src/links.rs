//! Symlinks with an absolute target inside the folder. The sandbox refuses every absolute target, so the path is
//! resolved to one relative to the folder, which the sandbox checks again.

use std::{
    collections::VecDeque,
    path::{Component, Path, PathBuf},
};

use cap_std::fs::Dir;

use super::{FileError, FilePath};

/// The limit of Linux.
const LINKS: usize = 40;

/// Tries a path, and if a symlink was the obstacle, the resolved path.
pub(super) fn through<T>(
    dir: &Dir,
    place: &Path,
    path: &FilePath,
    work: impl Fn(&FilePath) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let outside = match work(path) {
        Err(outside @ FileError::Outside { .. }) => outside,
        other => return other,
    };
    match resolve_links(dir, place, path) {
        Some(real) if real != *path => work(&real),
        _ => Err(outside),
    }
}

/// The path without symlinks; `None` where one leads outside of the folder at `place`.
fn resolve_links(dir: &Dir, place: &Path, path: &FilePath) -> Option<FilePath> {
    let mut done = PathBuf::new();
    let mut rest: VecDeque<PathBuf> = path.as_str().split('/').map(PathBuf::from).collect();
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == Path::new("..") {
            if !done.pop() {
                return None;
            }
            continue;
        }
        done.push(&name);
        let is_link = dir
            .symlink_metadata(&done)
            .is_ok_and(|there| there.is_symlink());
        if !is_link {
            continue;
        }
        links += 1;
        if links > LINKS {
            return None;
        }
        let target = dir.read_link_contents(&done).ok()?;
        done.pop();
        let target = match target.is_absolute() {
            true => {
                done = PathBuf::new();
                target.strip_prefix(place).ok()?.to_owned()
            }
            false => target,
        };
        for part in target.components().rev() {
            match part {
                Component::CurDir => {}
                Component::Normal(_) | Component::ParentDir => {
                    rest.push_front(part.as_os_str().into());
                }
                Component::Prefix(_) | Component::RootDir => return None,
            }
        }
    }
    done.to_str()?.parse().ok()
}
