//! Watches on real folders, with each backend.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cap_std::{ambient_authority, fs::Dir};

use super::{Backend, Change, ChangeEvent, Watch, Watches};
use crate::{FileError, FilePath, Limits};
use ChangeEvent::{Changed, Created, Removed};

/// Far more than any change takes on a busy machine.
const LONG: Duration = Duration::from_secs(30);

const BOTH: [Backend; 2] = [Backend::Inotify, Backend::Notify];

/// A folder and files outside of it.
struct Stage {
    _temporary: tempfile::TempDir,
    inside: PathBuf,
    outside: PathBuf,
    watches: Watches,
}

fn stage_with(backend: Backend, limits: Limits) -> Stage {
    let temporary = tempfile::tempdir().unwrap();
    let base = temporary.path().canonicalize().unwrap();
    let (inside, outside) = (base.join("inside"), base.join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    let dir = Dir::open_ambient_dir(&inside, ambient_authority()).unwrap();
    let mut watches = Watches::new(Arc::new(dir), inside.clone(), limits);
    watches.backend = backend;
    Stage {
        _temporary: temporary,
        inside,
        outside,
        watches,
    }
}

fn stage(backend: Backend) -> Stage {
    stage_with(backend, Limits::default())
}

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

impl Stage {
    async fn watch(&self, text: &str) -> Watch {
        self.watches.add(path(text)).await.unwrap()
    }

    fn at(&self, text: &str) -> PathBuf {
        self.inside.join(text)
    }

    fn write(&self, text: &str, content: &str) {
        fs::write(self.at(text), content).unwrap();
    }
}

async fn next(watch: &mut Watch) -> (String, ChangeEvent) {
    let Change { path, event } = tokio::time::timeout(LONG, watch.next())
        .await
        .expect("a change is reported")
        .expect("the watch goes on");
    (path.as_str().to_owned(), event)
}

/// All changes up to one of this path.
async fn until(watch: &mut Watch, last: &str) -> Vec<(String, ChangeEvent)> {
    let mut lines = Vec::new();
    loop {
        lines.push(next(watch).await);
        if lines.last().unwrap().0 == last {
            return lines;
        }
    }
}

fn told(changes: &[(&str, ChangeEvent)]) -> Vec<(String, ChangeEvent)> {
    let owned = |(path, event): &(&str, ChangeEvent)| ((*path).to_owned(), *event);
    changes.iter().map(owned).collect()
}

#[tokio::test]
async fn what_comes_changes_and_goes_in_a_folder_and_below_is_reported() {
    for backend in BOTH {
        let stage = stage(backend);
        fs::create_dir_all(stage.at("a/b")).unwrap();
        stage.write("a/b/old.txt", "1");
        let mut watch = stage.watch("").await;
        assert!(!watch.is_partial());
        stage.write("new.txt", "1");
        assert_eq!(next(&mut watch).await, ("new.txt".into(), Created));
        stage.write("a/b/old.txt", "2");
        until(&mut watch, "a/b/old.txt").await;
        fs::remove_file(stage.at("a/b/old.txt")).unwrap();
        until_removed(&mut watch, "a/b/old.txt").await;
        fs::create_dir_all(stage.at("c/d")).unwrap();
        stage.write("c/d/deep.txt", "1");
        let new = until(&mut watch, "c/d/deep.txt").await;
        assert!(new.iter().any(|change| *change == ("c".into(), Created)));
        stage.write("c/d/deeper.txt", "1");
        until(&mut watch, "c/d/deeper.txt").await;
        fs::remove_dir_all(stage.at("c")).unwrap();
        let gone = until_removed(&mut watch, "c/d/deeper.txt").await;
        assert!(gone.contains(&("c/d/deep.txt".into(), Removed)), "{gone:?}");
    }
}

async fn until_removed(watch: &mut Watch, last: &str) -> Vec<(String, ChangeEvent)> {
    let mut seen = Vec::new();
    loop {
        seen.push(next(watch).await);
        if *seen.last().unwrap() == (last.to_owned(), Removed) {
            return seen;
        }
    }
}

#[tokio::test]
async fn a_burst_is_one_change() {
    let stage = stage(Backend::Inotify);
    stage.write("a.txt", "0");
    let mut watch = stage.watch("").await;
    for round in 0..100 {
        stage.write("a.txt", &round.to_string());
    }
    stage.write("z.txt", "");
    let all = until(&mut watch, "z.txt").await;
    assert_eq!(all, told(&[("a.txt", Changed), ("z.txt", Created)]));
}

#[tokio::test]
async fn a_file_that_came_and_went_meanwhile_is_not_reported() {
    let stage = stage(Backend::Inotify);
    let mut watch = stage.watch("").await;
    stage.write("a.txt", "0");
    fs::remove_file(stage.at("a.txt")).unwrap();
    stage.write("z.txt", "");
    assert_eq!(
        until(&mut watch, "z.txt").await,
        told(&[("z.txt", Created)])
    );
}

#[tokio::test]
async fn editors_that_replace_a_file_are_seen_as_one_change_and_stay_watched() {
    let stage = stage(Backend::Inotify);
    stage.write("a.txt", "0");
    let mut file = stage.watch("a.txt").await;
    let mut folder = stage.watch("").await;
    for round in 0..3 {
        // Some editors write a temporary file and rename it.
        stage.write("a.txt.new", &round.to_string());
        fs::rename(stage.at("a.txt.new"), stage.at("a.txt")).unwrap();
        assert_eq!(next(&mut file).await, ("a.txt".into(), Changed));
        assert_eq!(next(&mut folder).await, ("a.txt".into(), Changed));
        // Others rename the old one and write a new one.
        fs::rename(stage.at("a.txt"), stage.at("a.txt~")).unwrap();
        stage.write("a.txt", "new");
        fs::remove_file(stage.at("a.txt~")).unwrap();
        assert_eq!(next(&mut file).await, ("a.txt".into(), Changed));
        assert_eq!(next(&mut folder).await, ("a.txt".into(), Changed));
    }
}

#[tokio::test]
async fn a_file_can_be_watched_before_it_is_there_and_after_it_is_gone() {
    for backend in BOTH {
        let stage = stage(backend);
        let mut watch = stage.watch("a/b/c.txt").await;
        for _ in 0..3 {
            fs::create_dir_all(stage.at("a/b")).unwrap();
            stage.write("a/b/other.txt", "");
            stage.write("a/b/c.txt", "1");
            assert_eq!(next(&mut watch).await, ("a/b/c.txt".into(), Created));
            fs::remove_dir_all(stage.at("a")).unwrap();
            until_removed(&mut watch, "a/b/c.txt").await;
        }
    }
}

#[tokio::test]
async fn a_folder_that_moves_is_watched_where_it_is_now() {
    for backend in BOTH {
        let stage = stage(backend);
        fs::create_dir_all(stage.at("a/b")).unwrap();
        stage.write("a/b/f.txt", "1");
        let mut watch = stage.watch("").await;
        fs::rename(stage.at("a"), stage.at("x")).unwrap();
        let seen = until(&mut watch, "x/b/f.txt").await;
        for change in [("a", Removed), ("a/b/f.txt", Removed), ("x", Created)] {
            assert!(seen.contains(&told(&[change])[0]), "{change:?} {seen:?}");
        }
        stage.write("x/b/f.txt", "2");
        until(&mut watch, "x/b/f.txt").await;
    }
}

#[tokio::test]
async fn what_a_link_leads_out_to_is_not_watched() {
    for backend in BOTH {
        let stage = stage(backend);
        fs::create_dir(stage.outside.join("deep")).unwrap();
        symlink(&stage.outside, stage.at("link")).unwrap();
        let mut watch = stage.watch("").await;
        for text in ["link", "link/deep", "link/new.txt"] {
            let refused = stage.watches.add(path(text)).await.unwrap_err();
            assert_eq!(refused, FileError::Outside { path: path(text) });
        }
        fs::write(stage.outside.join("secret.txt"), "1").unwrap();
        fs::write(stage.outside.join("deep/secret.txt"), "1").unwrap();
        symlink(&stage.outside, stage.at("second")).unwrap();
        fs::write(stage.outside.join("deep/more.txt"), "1").unwrap();
        stage.write("z.txt", "");
        let all = until(&mut watch, "z.txt").await;
        assert!(!all.iter().any(|(path, _)| path.contains('/')), "{all:?}");
    }
}

#[tokio::test]
async fn what_is_watched_through_a_link_inside_is_reported_with_the_requested_path() {
    let stage = stage(Backend::Inotify);
    fs::create_dir_all(stage.at("real/b")).unwrap();
    symlink("real", stage.at("link")).unwrap();
    let mut watch = stage.watch("link/b").await;
    stage.write("real/b/f.txt", "1");
    assert_eq!(next(&mut watch).await, ("link/b/f.txt".into(), Created));
}

#[tokio::test]
async fn a_reader_that_falls_behind_must_rescan_everything() {
    let few = Limits {
        waiting: 10,
        ..Limits::default()
    };
    let stage = stage_with(Backend::Inotify, few);
    fs::create_dir(stage.at("a")).unwrap();
    let mut slow = stage.watch("a").await;
    let mut other = stage.watch("z.txt").await;
    for number in 0..100 {
        stage.write(&format!("a/{number:03}"), "");
    }
    stage.write("z.txt", "");
    assert_eq!(next(&mut other).await, ("z.txt".into(), Created));
    let first = next(&mut slow).await;
    assert_eq!(first, ("a".into(), Changed));
    let mut rest = 0;
    while slow.queue.waiting_now() > 0 {
        next(&mut slow).await;
        rest += 1;
    }
    assert!(rest < 10, "{rest}");
}

#[tokio::test]
async fn when_the_kernel_loses_changes_everyone_must_rescan() {
    let stage = stage(Backend::Inotify);
    fs::create_dir(stage.at("quiet")).unwrap();
    stage.write("here", "");
    let mut quiet = stage.watch("quiet").await;
    let queued = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let queued: usize = queued.trim().parse().unwrap();
    // Two events each; nothing is read meanwhile, since this runs on the only thread.
    for round in 0..=queued / 2 {
        let (from, to) = match round % 2 {
            0 => ("here", "there"),
            _ => ("there", "here"),
        };
        fs::rename(stage.at(from), stage.at(to)).unwrap();
    }
    // This event is lost, and so is the folder in it.
    fs::create_dir(stage.at("quiet/new")).unwrap();
    stage.write("quiet/new/f.txt", "");
    let all = until(&mut quiet, "quiet/new/f.txt").await;
    assert_eq!(all[0], ("quiet".into(), Changed));
    stage.write("quiet/new/g.txt", "");
    until(&mut quiet, "quiet/new/g.txt").await;
}

#[tokio::test]
async fn nothing_is_watched_when_the_last_watch_is_gone_and_a_new_one_begins_again() {
    for backend in BOTH {
        let stage = stage(backend);
        for round in 0..3 {
            let watch = stage.watch("").await;
            let second = stage.watch("a.txt").await;
            let task = watch.orders.clone();
            drop(watch);
            assert!(!task.is_closed());
            drop(second);
            tokio::time::timeout(LONG, task.closed()).await.unwrap();
            let mut watch = stage.watch("").await;
            stage.write(&format!("{round}.txt"), "");
            assert_eq!(next(&mut watch).await.1, Created);
        }
    }
}

#[tokio::test]
async fn watches_and_watched_folders_are_limited() {
    let few = Limits {
        watches: 2,
        watched_folders: 3,
        ..Limits::default()
    };
    let stage = stage_with(Backend::Inotify, few);
    for name in ["a", "b", "c", "d/e/f"] {
        fs::create_dir_all(stage.at(name)).unwrap();
    }
    let watch = stage.watch("").await;
    assert!(watch.is_partial());
    // A path that is watched explicitly is always covered.
    let mut deep = stage.watch("d/e/f/x.txt").await;
    stage.write("d/e/f/x.txt", "");
    assert_eq!(next(&mut deep).await, ("d/e/f/x.txt".into(), Created));
    let refused = stage.watches.add(path("c")).await.unwrap_err();
    assert_eq!(refused, FileError::TooMany { limit: 2 });
    drop(watch);
    let third = stage.watch("c").await;
    assert!(!third.is_partial());
}

#[tokio::test]
async fn a_watch_continues_when_another_one_ends() {
    let stage = stage(Backend::Inotify);
    fs::create_dir_all(stage.at("a/b")).unwrap();
    let mut stored = stage.watch("a/b").await;
    let ended = stage.watch("").await;
    let queue = Arc::downgrade(&ended.queue);
    drop(ended);
    while queue.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
    stage.write("a/b/f.txt", "1");
    assert_eq!(next(&mut stored).await, ("a/b/f.txt".into(), Created));
}

#[tokio::test]
async fn a_name_that_no_path_can_hold_is_reported_as_a_change_of_its_folder() {
    let stage = stage(Backend::Inotify);
    fs::create_dir(stage.at("a")).unwrap();
    let mut watch = stage.watch("a").await;
    fs::write(stage.at("a").join(Path::new("odd\\name")), "").unwrap();
    assert_eq!(next(&mut watch).await, ("a".into(), Changed));
    let bytes = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff\xfe");
    fs::write(stage.at("a").join(bytes), "").unwrap();
    assert_eq!(next(&mut watch).await, ("a".into(), Changed));
}

#[test]
fn changes_of_one_path_are_put_together() {
    use super::queue::together;
    assert_eq!(together(None, Created), Some(Created));
    assert_eq!(together(Some(Created), Changed), Some(Created));
    assert_eq!(together(Some(Created), Removed), None);
    assert_eq!(together(Some(Removed), Created), Some(Changed));
    assert_eq!(together(Some(Changed), Removed), Some(Removed));
}
