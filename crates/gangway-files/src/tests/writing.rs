//! Writing.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{path, stage, stage_with};
use crate::{Change, ChangeEvent, FileError, Folder, Kind, Limits, make_private_folder};

#[tokio::test]
async fn a_write_makes_folders_and_leaves_nothing_else_behind() {
    let stage = stage().await;
    let stat = stage.write("a/b/c.txt", "hello").await.unwrap();
    assert_eq!((stat.kind, stat.size), (Kind::File, 5));
    assert_eq!(stat, stage.folder.stat(&path("a/b/c.txt")).await.unwrap());
    stage.write("a/b/c.txt", "").await.unwrap();
    assert_eq!(fs::read(stage.at("a/b/c.txt")).unwrap(), b"");
    assert_eq!(fs::read_dir(stage.at("a/b")).unwrap().count(), 1);
    let refused = stage.write("a/b/c.txt/d", "x").await.unwrap_err();
    assert_eq!(refused.code(), "not_a_folder");
}

#[tokio::test]
async fn a_write_keeps_who_may_read_and_respects_what_is_read_only() {
    let stage = stage().await;
    for (mode, stored) in [(0o600, 0o600), (0o755, 0o755), (0o4750, 0o750)] {
        fs::write(stage.at("a"), "old").unwrap();
        fs::set_permissions(stage.at("a"), fs::Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(stage.at("a")).unwrap();
        stage.write("a", "new").await.unwrap();
        let after = fs::metadata(stage.at("a")).unwrap();
        assert_eq!(after.mode() & 0o7777, stored);
        assert_ne!(after.ino(), before.ino(), "it is another file in its place");
    }
    fs::set_permissions(stage.at("a"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(stage.write("a", "no").await.unwrap_err().code(), "denied");
    assert_eq!(fs::read(stage.at("a")).unwrap(), b"new");
}

#[tokio::test]
async fn more_than_the_limit_is_not_written() {
    let small = Limits {
        write: 4,
        ..Limits::default()
    };
    let stage = stage_with(small).await;
    stage.write("a", "1234").await.unwrap();
    let refused = stage.write("a", "12345").await.unwrap_err();
    assert_eq!(refused, FileError::TooLarge { limit: 4 });
    assert_eq!(stage.read("a").await.unwrap(), b"1234");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_writes_at_the_same_time_one_is_there_whole_and_readers_see_no_half() {
    let stage = stage().await;
    let content = |n: usize| Bytes::from(vec![b'a' + n as u8; 100_000 + n]);
    stage.folder.write(&path("x/f"), content(0)).await.unwrap();
    let writers: Vec<_> = (0..16)
        .map(|n| {
            let folder = stage.folder.clone();
            tokio::spawn(async move { folder.write(&path("x/f"), content(n)).await.unwrap() })
        })
        .collect();
    for _ in 0..20 {
        let seen = stage.read("x/f").await.unwrap();
        assert_eq!(seen, content(usize::from(seen[0] - b'a')));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let seen = stage.read("x/f").await.unwrap();
    assert_eq!(seen, content(usize::from(seen[0] - b'a')));
    assert_eq!(fs::read_dir(stage.at("x")).unwrap().count(), 1);
}

#[tokio::test]
async fn what_a_crash_left_of_writes_is_removed_and_what_is_in_use_is_not() {
    let stage = stage().await;
    fs::create_dir_all(stage.at("a/b")).unwrap();
    let old = SystemTime::now() - Duration::from_secs(3600);
    let left = [
        "a/b/.gangway-tmp-left",
        ".gangway-tmp-locked",
        ".gangway-tmp-fresh",
    ];
    let files: Vec<_> = left
        .iter()
        .map(|name| fs::File::create(stage.at(name)).unwrap())
        .collect();
    files[0].set_modified(old).unwrap();
    files[1].set_modified(old).unwrap();
    files[1].lock().unwrap();
    fs::write(stage.outside().join(".gangway-tmp-x"), "").unwrap();
    symlink(stage.outside(), stage.at("out")).unwrap();
    mknodat(
        CWD,
        stage.at(".gangway-tmp-pipe"),
        FileType::Fifo,
        Mode::RWXU,
        0,
    )
    .unwrap();
    let folder = Folder::open(&stage.at("")).await.unwrap();
    let there = left.map(|name| stage.at(name).exists());
    assert_eq!(there, [false, true, true]);
    assert!(stage.outside().join(".gangway-tmp-x").exists());
    assert_eq!(stage.names("").await, ["a", "out"]);
    // A file too deep for the first sweep is removed when its folder is listed.
    let late = fs::File::create(stage.at("a/.gangway-tmp-late")).unwrap();
    late.set_modified(old).unwrap();
    folder.list(&path("a"), 10).await.unwrap();
    assert!(!stage.at("a/.gangway-tmp-late").exists());
}

#[tokio::test]
async fn a_write_is_one_change_for_those_who_watch() {
    let stage = stage().await;
    let mut watch = stage.folder.watch(path("")).await.unwrap();
    stage.write("a.txt", "1").await.unwrap();
    let message = tokio::time::timeout(Duration::from_secs(30), watch.next());
    let change = Change {
        path: path("a.txt"),
        event: ChangeEvent::Created,
    };
    assert_eq!(message.await.unwrap(), Some(change));
}

#[tokio::test]
async fn nothing_is_written_below_a_link_that_leads_nowhere() {
    let stage = stage().await;
    symlink("nowhere", stage.at("dangling")).unwrap();
    let refused = stage.write("dangling/x.txt", "x").await.unwrap_err();
    assert_eq!(refused.code(), "not_a_folder");
    assert_eq!(stage.names("").await, ["dangling"]);
}

#[tokio::test]
async fn what_a_crash_left_is_searched_in_a_limited_number_of_folders_when_a_folder_is_opened() {
    let stage = stage().await;
    let old = SystemTime::now() - Duration::from_secs(3600);
    let left = |number| stage.at(&format!("{number}/.gangway-tmp-left"));
    for number in 0..300 {
        fs::create_dir(stage.at(&number.to_string())).unwrap();
        let file = fs::File::create(left(number)).unwrap();
        file.set_modified(old).unwrap();
    }
    Folder::open(&stage.at("")).await.unwrap();
    // The folder itself is one of 256.
    assert_eq!((0..300).filter(|number| left(*number).exists()).count(), 45);
}

#[test]
fn a_private_folder_is_open_to_its_owner_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("a/b");
    make_private_folder(&folder).unwrap();
    for folder in [&folder, &temporary.path().join("a")] {
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
    }
}
