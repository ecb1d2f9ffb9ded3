//! Reading, listing and metadata.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
};

use bytes::Bytes;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{path, stage};
use crate::{FileError, Folder, Kind, once};

#[tokio::test]
async fn a_file_is_read_whole_and_in_parts_whatever_the_size_of_the_chunks() {
    let stage = stage().await;
    let content: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    fs::write(stage.at("a.bin"), &content).unwrap();
    for max in [1_000, 4_096, 65_536, 1 << 20] {
        assert_eq!(stage.part("a.bin", 0, None, max).await.unwrap(), content);
        let part = stage
            .part("a.bin", 1_234, Some(200_001), max)
            .await
            .unwrap();
        assert_eq!(part, content[1_234..201_235]);
    }
    let end = stage
        .part("a.bin", 299_990, Some(1_000), 100)
        .await
        .unwrap();
    assert_eq!(end, content[299_990..]);
    for (offset, length) in [(300_000, None), (u64::MAX, Some(u64::MAX)), (7, Some(0))] {
        assert_eq!(stage.part("a.bin", offset, length, 100).await.unwrap(), b"");
    }
    assert_eq!(
        stage
            .folder
            .read(&path("a.bin"), 5, None)
            .await
            .unwrap()
            .size,
        300_000
    );
}

#[tokio::test]
async fn pieces_may_get_smaller_and_larger_while_a_file_is_read() {
    let stage = stage().await;
    fs::write(stage.at("a.txt"), "abcdefghij").unwrap();
    let mut read = stage.folder.read(&path("a.txt"), 0, None).await.unwrap();
    let mut pieces = Vec::new();
    for max in [3, 1, 1, 100, 100] {
        pieces.push(read.next(max).await.unwrap());
    }
    let all: Vec<u8> = pieces.into_iter().flatten().flatten().collect();
    assert_eq!(all, b"abcdefghij");
}

#[tokio::test]
async fn a_file_that_gets_shorter_or_longer_while_it_is_read_ends() {
    let stage = stage().await;
    fs::write(stage.at("a.txt"), vec![b'x'; 100_000]).unwrap();
    let mut read = stage.folder.read(&path("a.txt"), 0, None).await.unwrap();
    read.next(10).await.unwrap();
    fs::write(stage.at("a.txt"), "x").unwrap();
    while read.next(1_000).await.unwrap().is_some() {}
    let mut read = stage.folder.read(&path("a.txt"), 0, None).await.unwrap();
    fs::write(stage.at("a.txt"), vec![b'y'; 100_000]).unwrap();
    assert_eq!(read.next(1_000).await.unwrap().unwrap().len(), 1);
    assert_eq!(read.next(1_000).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_no_file_is_refused_at_once() {
    let stage = stage().await;
    fs::create_dir(stage.at("folder")).unwrap();
    mknodat(CWD, stage.at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = UnixListener::bind(stage.at("socket")).unwrap();
    symlink("pipe", stage.at("to-pipe")).unwrap();
    for (name, code) in [
        ("folder", "not_a_file"),
        ("", "not_a_file"),
        ("pipe", "special_file"),
        ("to-pipe", "special_file"),
        ("socket", "special_file"),
        ("missing", "not_found"),
        ("pipe/x", "not_a_folder"),
    ] {
        assert_eq!(stage.read(name).await.unwrap_err().code(), code, "{name}");
        if code != "not_found" {
            let refused = stage.write(name, "x").await.unwrap_err();
            assert_eq!(refused.code(), code, "{name}");
        }
    }
    assert_eq!(
        stage.folder.stat(&path("pipe")).await.unwrap().kind,
        Kind::Other
    );
    let refused = stage.folder.list(&path("pipe"), 10).await.unwrap_err();
    assert_eq!(refused.code(), "not_a_folder");
}

#[tokio::test]
async fn links_are_followed_inside_and_never_out() {
    let stage = stage().await;
    fs::create_dir_all(stage.at("a/b")).unwrap();
    fs::write(stage.at("a/f.txt"), "inside").unwrap();
    symlink("../f.txt", stage.at("a/b/up")).unwrap();
    symlink("a", stage.at("way")).unwrap();
    symlink(stage.outside(), stage.at("out")).unwrap();
    symlink("../outside", stage.at("up")).unwrap();
    symlink("/proc/self/root/etc", stage.at("magic")).unwrap();
    symlink("ring", stage.at("ring")).unwrap();
    symlink("nowhere", stage.at("dangling")).unwrap();
    assert_eq!(stage.read("a/b/up").await.unwrap(), b"inside");
    assert_eq!(stage.read("way/b/up").await.unwrap(), b"inside");
    for name in [
        "out",
        "up",
        "out/secret.txt",
        "up/secret.txt",
        "magic",
        "magic/passwd",
    ] {
        let refused = FileError::Outside { path: path(name) };
        assert_eq!(stage.read(name).await, Err(refused.clone()));
        assert_eq!(stage.folder.stat(&path(name)).await, Err(refused.clone()));
        assert_eq!(
            stage.folder.list(&path(name), 9).await,
            Err(refused.clone())
        );
        assert_eq!(stage.write(name, "x").await, Err(refused));
    }
    assert_eq!(
        stage.write("out/new/x.txt", "x").await.unwrap_err().code(),
        "outside"
    );
    for name in ["ring", "dangling"] {
        assert_eq!(
            stage.read(name).await.unwrap_err().code(),
            "not_found",
            "{name}"
        );
        assert_eq!(
            stage.write(name, "x").await.unwrap_err().code(),
            "not_found",
            "{name}"
        );
    }
    // A symlink that stays inside is followed.
    stage.write("a/b/up", "new").await.unwrap();
    assert_eq!(fs::read(stage.at("a/f.txt")).unwrap(), b"new");
    assert!(
        fs::symlink_metadata(stage.at("a/b/up"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::read(stage.outside().join("secret.txt")).unwrap(),
        b"secret"
    );
    assert_eq!(fs::read_dir(stage.outside()).unwrap().count(), 1);
}

#[tokio::test]
async fn the_folder_itself_may_be_a_link() {
    let stage = stage().await;
    let link = stage.temporary.path().join("link");
    symlink(stage.at(""), &link).unwrap();
    let folder = Folder::open(&link).await.unwrap();
    folder
        .write(&path("x"), Bytes::from_static(b"1"))
        .await
        .unwrap();
    // The handle counts, not the path.
    fs::remove_file(&link).unwrap();
    symlink(stage.outside(), &link).unwrap();
    assert_eq!(folder.stat(&path("x")).await.unwrap().size, 1);
    let gone = Folder::open(&stage.at("missing")).await.err().unwrap();
    assert_eq!(gone.code(), "no_folder");
}

#[tokio::test]
async fn a_listing_is_by_name_with_a_limit_and_without_what_cannot_be_named() {
    let stage = stage().await;
    for name in [
        "b.txt",
        "a.txt",
        "c.txt",
        ".gangway-tmp-1",
        "odd\nname",
        "back\\slash",
    ] {
        fs::write(stage.at(name), name).unwrap();
    }
    fs::create_dir(stage.at("d")).unwrap();
    fs::write(stage.at("").join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
    symlink(stage.outside(), stage.at("e")).unwrap();
    symlink("../inside/b.txt", stage.at("f")).unwrap();
    symlink("b.txt", stage.at("g")).unwrap();
    let listing = stage.folder.list(&path(""), 100).await.unwrap();
    let seen: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| {
            (
                entry.name.as_str(),
                entry.stat.kind.as_str(),
                entry.stat.size,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("a.txt", "file", 5),
            ("b.txt", "file", 5),
            ("c.txt", "file", 5),
            ("d", "folder", 0),
            ("e", "other", 0),
            // A path that leaves and comes back has left.
            ("f", "other", 0),
            ("g", "file", 5),
        ]
    );
    assert_eq!((listing.more, listing.unnamed), (false, 3));
    let few = stage.folder.list(&path(""), 2).await.unwrap();
    let names: Vec<_> = few
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!((names, few.more), (vec!["a.txt", "b.txt"], true));
}

#[tokio::test]
async fn a_link_may_name_its_target_by_an_absolute_path_inside() {
    let stage = stage().await;
    fs::create_dir_all(stage.at("a/b")).unwrap();
    fs::write(stage.at("a/f.txt"), "inside").unwrap();
    symlink("../f.txt", stage.at("a/b/up")).unwrap();
    symlink("../../../outside/secret.txt", stage.at("a/b/out")).unwrap();
    let place = stage.at("").canonicalize().unwrap();
    symlink(place.join("a"), stage.at("way")).unwrap();
    for name in ["way/f.txt", "way/b/up"] {
        assert_eq!(stage.read(name).await.unwrap(), b"inside");
        let (mark, bytes) = once::read(&stage.at(""), &path(name), 6).unwrap();
        assert_eq!((mark.size, bytes.as_slice()), (6, &b"inside"[..]));
    }
    let refused = stage.read("way/b/out").await.unwrap_err();
    assert_eq!(refused.code(), "outside");
    // As many links on the way as Linux follows, and no more.
    let ring = |number| format!("{number:02}");
    for number in 1..41 {
        symlink(place.join(ring(number - 1)), stage.at(&ring(number))).unwrap();
    }
    fs::write(stage.at("00"), "end").unwrap();
    assert_eq!(stage.read("40").await.unwrap(), b"end");
    symlink(place.join("40"), stage.at("41")).unwrap();
    assert_eq!(stage.read("41").await.unwrap_err().code(), "outside");
}

#[tokio::test]
async fn a_file_is_read_at_once_up_to_a_limit_and_its_mark_changes_with_it() {
    let stage = stage().await;
    let (folder, name) = (stage.at(""), path("a.txt"));
    fs::write(stage.at("a.txt"), "12345").unwrap();
    let (mark, bytes) = once::read(&folder, &name, 5).unwrap();
    assert_eq!((mark.size, bytes.as_slice()), (5, &b"12345"[..]));
    let refused = once::read(&folder, &name, 4).unwrap_err();
    assert_eq!(refused, FileError::TooLarge { limit: 4 });
    assert_eq!(once::mark(&folder, &name).unwrap(), mark);
    // Another file of the same size and age in its place is another one.
    fs::write(stage.at("b.txt"), "67890").unwrap();
    let other = fs::File::open(stage.at("b.txt")).unwrap();
    other.set_modified(mark.modified.unwrap()).unwrap();
    fs::rename(stage.at("b.txt"), stage.at("a.txt")).unwrap();
    let replaced = once::mark(&folder, &name).unwrap();
    assert_eq!(
        (replaced.size, replaced.modified),
        (mark.size, mark.modified)
    );
    assert_ne!(replaced, mark);
    fs::create_dir(stage.at("folder")).unwrap();
    symlink(stage.outside(), stage.at("out")).unwrap();
    for (name, code) in [
        ("folder", "not_a_file"),
        ("missing", "not_found"),
        ("out/secret.txt", "outside"),
    ] {
        let read = once::read(&folder, &path(name), 9).unwrap_err();
        let marked = once::mark(&folder, &path(name)).unwrap_err();
        assert_eq!((read.code(), marked.code()), (code, code), "{name}");
    }
    let gone = once::mark(&stage.at("missing"), &name).unwrap_err();
    assert_eq!(gone.code(), "no_folder");
}
