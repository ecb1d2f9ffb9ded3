//! P16: files stay inside.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use gangway_files::{FileError, FilePath, Folder, Kind};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

use super::spellings::spellings;

/// A small number by default, the full one when the whole promise is checked.
fn scale<T>(small: T, full: T) -> T {
    if std::env::var_os("GANGWAY_FULL").is_some() {
        full
    } else {
        small
    }
}

/// The content of every file outside, and of none inside.
const SECRET: &str = "outside of the folder";
/// Far more than any of this takes; anything longer hangs.
const LONG: Duration = Duration::from_secs(60);

/// A session's folder full of traps, and files outside of it.
struct Place {
    _temporary: tempfile::TempDir,
    inside: PathBuf,
    outside: PathBuf,
    folder: Folder,
    _socket: UnixListener,
}

impl Place {
    async fn set() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let (inside, outside) = (base.join("inside"), base.join("outside"));
        fs::create_dir_all(inside.join("a/b/c")).unwrap();
        fs::create_dir_all(outside.join("deep")).unwrap();
        fs::write(inside.join("a/f.txt"), "inside").unwrap();
        for name in ["secret.txt", "deep/secret.txt", "f.txt"] {
            fs::write(outside.join(name), SECRET).unwrap();
        }
        let links = [
            ("out", outside.clone()),
            ("out-file", outside.join("secret.txt")),
            ("up", "../outside".into()),
            ("a/up", "../../outside".into()),
            ("a/b/up", "../../../outside/secret.txt".into()),
            ("chain", "a/up".into()),
            ("chain2", "chain/deep".into()),
            ("back", "../inside/../outside".into()),
            ("root", "/".into()),
            ("self", "/proc/self/cwd".into()),
            ("fd", "/proc/self/fd".into()),
            ("proc", "/proc/self/root".into()),
            ("zero", "/dev/zero".into()),
            ("null", "/dev/null".into()),
            ("tty", "/dev/tty".into()),
            ("environ", "/proc/self/environ".into()),
            ("ring", "ring2".into()),
            ("ring2", "ring".into()),
            ("dangling", "../outside/new.txt".into()),
            ("dot", ".".into()),
            ("fine", "a/f.txt".into()),
        ];
        for (name, target) in links {
            symlink(target, inside.join(name)).unwrap();
        }
        mknodat(CWD, inside.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        symlink("pipe", inside.join("to-pipe")).unwrap();
        let socket = UnixListener::bind(inside.join("socket")).unwrap();
        fs::write(inside.join("closed"), "x").unwrap();
        fs::set_permissions(inside.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        let odd = std::ffi::OsStr::from_bytes(b"odd\xff\xfe");
        fs::write(inside.join(odd), "x").unwrap();
        let folder = Folder::open(&inside).await.unwrap();
        Self {
            _temporary: temporary,
            inside,
            outside,
            folder,
            _socket: socket,
        }
    }

    /// The content of everything outside.
    fn around(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut seen = BTreeMap::new();
        let mut folders = vec![self.outside.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => folders.push(entry.path()),
                    false => drop(seen.insert(entry.path(), fs::read(entry.path()).unwrap())),
                }
            }
        }
        seen
    }
}

/// With a timeout.
async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(LONG, work).await;
    done.unwrap_or_else(|_| panic!("{what} hangs"))
}

async fn read(folder: &Folder, path: &FilePath) -> Result<String, FileError> {
    let mut read = folder.read(path, 0, None).await?;
    let mut all = Vec::new();
    while let Some(piece) = read.next(64 << 10).await? {
        all.extend_from_slice(&piece);
        assert!(all.len() < 1 << 20, "{path} has no end");
    }
    Ok(String::from_utf8_lossy(&all).into_owned())
}

#[tokio::test]
async fn p16_no_path_leads_out_and_none_hangs() {
    let place = Place::set().await;
    let before = place.around();
    let paths = spellings(place.inside.parent().unwrap());
    assert!(paths.len() >= 200, "{}", paths.len());
    let (mut refused, mut inside) = (0, 0);
    for text in &paths {
        let Ok(path) = text.parse::<FilePath>() else {
            refused += 1;
            continue;
        };
        let folder = &place.folder;
        let seen = soon(text, read(folder, &path)).await;
        assert!(
            !seen.as_ref().is_ok_and(|seen| seen.contains(SECRET)),
            "{text:?}"
        );
        let known = ["inside", "x", ""];
        assert!(
            seen.as_ref().is_err() || known.contains(&seen.as_deref().unwrap()),
            "{text:?}"
        );
        let listed = soon(text, folder.list(&path, 100)).await;
        let names = listed.map(|listing| listing.entries).unwrap_or_default();
        assert!(
            !names.iter().any(|entry| entry.name == "secret.txt"),
            "{text:?}"
        );
        let stat = soon(text, folder.stat(&path)).await;
        assert!(
            !stat.is_ok_and(|stat| stat.size == SECRET.len() as u64),
            "{text:?}"
        );
        let watch = soon(text, folder.watch(path.clone())).await;
        drop(watch);
        // Files without content are written elsewhere, so that the traps stay.
        if seen.is_err() {
            let written = soon(text, folder.write(&path, Bytes::from_static(b"x"))).await;
            inside += usize::from(written.is_ok());
        }
    }
    assert_eq!(place.around(), before, "nothing outside is touched");
    assert!(refused > 20 && inside > 5, "{refused} {inside}");
    let fine = "fine".parse().unwrap();
    assert_eq!(read(&place.folder, &fine).await.unwrap(), "inside");
}

#[tokio::test]
async fn p16_what_is_made_of_parts_by_chance_leads_nowhere_else() {
    let place = Place::set().await;
    let before = place.around();
    let mut chance: StdRng = StdRng::seed_from_u64(16);
    const PARTS: [&str; 28] = [
        "..",
        ".",
        "/",
        "//",
        "\\",
        "a",
        "b",
        "c",
        "up",
        "out",
        "chain",
        "dot",
        "root",
        "proc",
        "fd",
        "0",
        "outside",
        "secret.txt",
        "f.txt",
        "pipe",
        "etc/passwd",
        "\0",
        "%2e",
        "~",
        " ",
        "\u{ff0e}",
        "self",
        "ring",
    ];
    let mut looked = 0;
    for _ in 0..scale(2_000, 50_000) {
        let parts = chance.random_range(1..8);
        let mut text = String::new();
        for _ in 0..parts {
            text += PARTS[chance.random_range(0..PARTS.len())];
            if chance.random_bool(0.6) {
                text.push('/');
            }
        }
        let Ok(path) = text.parse::<FilePath>() else {
            continue;
        };
        let seen = soon(&text, read(&place.folder, &path)).await;
        assert!(!seen.is_ok_and(|seen| seen != "inside"), "{text:?}");
        let stat = soon(&text, place.folder.stat(&path)).await;
        assert!(
            !stat.is_ok_and(|stat| stat.size == SECRET.len() as u64),
            "{text:?}"
        );
        looked += 1;
    }
    assert_eq!(place.around(), before);
    assert!(looked > 100, "{looked}");
}

/// Swaps pairs of names until it is stopped; returns how often.
fn swap(stop: Arc<AtomicBool>, pairs: Vec<(PathBuf, PathBuf)>) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let mut swapped = 0;
        while !stop.load(Ordering::Relaxed) {
            for (one, other) in &pairs {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            }
            swapped += 1;
        }
        swapped
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p16_no_link_that_is_swapped_under_the_reader_leads_out() {
    let place = Place::set().await;
    let (inside, outside) = (&place.inside, &place.outside);
    // Each of these is alternately a file or folder, a symlink to outside, and a pipe.
    fs::create_dir_all(inside.join("folder/deep")).unwrap();
    fs::write(inside.join("folder/f.txt"), "inside").unwrap();
    fs::write(inside.join("folder/secret.txt"), "inside").unwrap();
    fs::write(inside.join("file"), "inside").unwrap();
    fs::write(inside.join("maybe-pipe"), "inside").unwrap();
    symlink(outside, inside.join("folder-out")).unwrap();
    symlink(outside.join("secret.txt"), inside.join("file-out")).unwrap();
    mknodat(CWD, inside.join("pipe-in"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let before = place.around();
    let mut watch = place.folder.watch(FilePath::root()).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let pair = |one: &str, other: &str| (inside.join(one), inside.join(other));
    let swapper = swap(
        stop.clone(),
        vec![
            pair("folder", "folder-out"),
            pair("file", "file-out"),
            pair("maybe-pipe", "pipe-in"),
        ],
    );

    let rounds = scale(300, 10_000);
    let (read_inside, kept_out) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |seen: Result<String, FileError>, what: &str| match seen {
        Ok(seen) => {
            assert_eq!(seen, "inside", "{what}");
            read_inside.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => {
            let codes = [
                "outside",
                "special_file",
                "not_found",
                "not_a_file",
                "not_a_folder",
            ];
            assert!(codes.contains(&error.code()), "{what}: {error}");
            kept_out.fetch_add(1, Ordering::Relaxed);
        }
    };
    for round in 0..rounds {
        for name in [
            "folder/secret.txt",
            "file",
            "maybe-pipe",
            "folder-out/f.txt",
            "file-out",
            "pipe-in",
        ] {
            let path = name.parse().unwrap();
            count(soon(name, read(&place.folder, &path)).await, name);
        }
        for name in ["folder", "folder-out"] {
            let path = name.parse().unwrap();
            if let Ok(listing) = soon(name, place.folder.list(&path, 100)).await {
                let secret = listing
                    .entries
                    .iter()
                    .find(|entry| entry.name == "secret.txt");
                assert!(
                    secret.is_none_or(|entry| entry.stat.size != SECRET.len() as u64),
                    "{name}"
                );
            }
            let stat = soon(name, place.folder.stat(&path)).await;
            assert!(stat.is_err() || stat.unwrap().kind == Kind::Folder);
        }
        if round % 10 == 0 {
            for name in [
                "folder/f.txt",
                "folder/new/x.txt",
                "folder-out/deep/y.txt",
                "file",
                "maybe-pipe",
            ] {
                let path = name.parse().unwrap();
                // Refused or inside; checked at the end.
                let _ = soon(
                    name,
                    place.folder.write(&path, Bytes::from_static(b"inside")),
                )
                .await;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    let swapped = swapper.join().unwrap();
    assert_eq!(place.around(), before, "nothing outside is touched");
    assert!(swapped > rounds / 10, "{swapped}");
    let (read_inside, kept_out) = (read_inside.into_inner(), kept_out.into_inner());
    assert!(read_inside > 0 && kept_out > 0, "{read_inside} {kept_out}");

    // The watch still works, and reports nothing from outside.
    let mut seen = Vec::new();
    for (marker, names) in [
        ("zzz1", &[][..]),
        ("zzz2", &["secret.txt", "f.txt", "deep/secret.txt", "told"]),
    ] {
        seen.clear();
        for name in names {
            fs::write(outside.join(name), "other").unwrap();
        }
        fs::write(inside.join(marker), "").unwrap();
        while seen.last().is_none_or(|last| last != marker) {
            let change = soon("the watch", watch.next()).await.unwrap();
            seen.push(change.path.as_str().to_owned());
        }
    }
    // The first one may be reported twice.
    seen.retain(|path| path != "zzz1");
    assert_eq!(seen, ["zzz2"]);
}
