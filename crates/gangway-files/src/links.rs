//! Links that name their target by an absolute path inside the folder. The sandbox refuses every absolute target, so such a link is
//! spelled out as names from the folder; what those lead to is again up to the sandbox.

use std::{
    collections::VecDeque,
    path::{Component, Path, PathBuf},
};

use cap_std::fs::Dir;

use super::{FileError, FilePath};

/// Links on the way of one path, as on Linux.
const LINKS: usize = 40;

/// Does something with a path, and again with the path behind its links where those alone were the obstacle.
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
    match spelled_out(dir, place, path) {
        Some(real) if real != *path => work(&real),
        _ => Err(outside),
    }
}

/// The path without links; none where one leads out of the folder at `place`.
fn spelled_out(dir: &Dir, place: &Path, path: &FilePath) -> Option<FilePath> {
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
