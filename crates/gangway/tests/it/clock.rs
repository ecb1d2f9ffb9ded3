//! A clock that is wrong.

use crate::support::Gangway;

#[cfg(target_os = "linux")]
#[test]
fn a_clock_before_1970_is_refused_at_the_start() {
    let library = std::fs::read_dir("/usr/lib")
        .unwrap()
        .flatten()
        .map(|entry| entry.path().join("faketime/libfaketimeMT.so.1"))
        .find(|path| path.exists())
        .expect("libfaketime is missing: run `scripts/setup.sh faketime`");
    let folder = tempfile::tempdir().unwrap();
    let mut command = Gangway::command(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("LD_PRELOAD", library)
        .env("FAKETIME", "1969-06-01 00:00:00")
        .env("DONT_FAKE_MONOTONIC", "1");
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("system clock is before 1970"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
}
