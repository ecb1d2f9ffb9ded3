//! `gangway secrets`.

use std::{
    io::Write,
    path::Path,
    process::{Output, Stdio},
};

use serde_json::Value;

use super::{fails, ok};
use crate::support::Gangway;

/// Runs a command with this on its standard input.
fn piped(data: &Path, arguments: &[&str], text: &[u8]) -> Output {
    let mut command = Gangway::command(data);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(text);
    child.wait_with_output().unwrap()
}

#[test]
fn a_secret_is_kept_listed_by_name_alone_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    assert!(ok(data, &["secrets", "list"]).contains("no secrets"));
    let set = piped(data, &["secrets", "set", "OPENAI_API_KEY"], b"sk-hidden\n");
    assert!(set.status.success(), "{set:?}");
    let json = ok(data, &["secrets", "list", "--json"]);
    let list: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(list["secrets"][0]["name"], "OPENAI_API_KEY");
    let lines = ok(data, &["secrets", "list"]);
    assert!(lines.contains("OPENAI_API_KEY"), "{lines}");
    for message in [&json, &lines, &format!("{set:?}")] {
        assert!(!message.contains("hidden"), "{message}");
    }
    ok(data, &["secrets", "remove", "OPENAI_API_KEY"]);
    let text = fails(data, &["secrets", "remove", "OPENAI_API_KEY"]);
    assert!(text.contains("gangway secrets list"), "{text}");
}

#[test]
fn a_secret_on_the_command_line_is_refused_without_repeating_it() {
    let data = tempfile::tempdir().unwrap();
    let message = fails(data.path(), &["secrets", "set", "A", "sk-hidden"]);
    assert!(
        message.contains("not accepted as arguments") && !message.contains("hidden"),
        "{message}"
    );
    assert!(ok(data.path(), &["secrets", "list"]).contains("no secrets"));
}

#[test]
fn what_cannot_be_a_secret_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let long = vec![b'x'; 16_385];
    let endless = vec![b'x'; 1 << 20];
    for (name, value, message) in [
        ("A", &b" \n"[..], "is empty"),
        ("A", b"two\nlines", "control characters"),
        ("A", &long, "16384"),
        ("A", &endless, "16384"),
        ("A", b"\xff\xfe", "not UTF-8 text"),
        ("a b", b"x", "1 to 64"),
        ("", b"x", "1 to 64"),
        ("../a", b"x", "1 to 64"),
    ] {
        let output = piped(data.path(), &["secrets", "set", name], value);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(message), "{text}");
    }
}

#[test]
fn the_setting_says_where_secrets_are_kept() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("config.yaml");
    std::fs::write(file, "secrets: keyring\n").unwrap();
    let mut command = Gangway::command(data.path());
    // A bus without services.
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus");
    let output = command.args(["secrets", "list"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    if cfg!(target_os = "linux") {
        let mut child = Gangway::command(data.path());
        child.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus");
        child.args(["secrets", "set", "A"]).stdin(Stdio::piped());
        let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"hidden").unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.contains("secrets: file") && !message.contains("hidden"),
            "{message}"
        );
    }
    let text = Gangway::command(data.path())
        .args(["secrets", "list"])
        .env("GANGWAY_SECRETS", "drawer")
        .output()
        .unwrap();
    let text = String::from_utf8(text.stderr).unwrap();
    assert!(text.contains("GANGWAY_SECRETS"), "{text}");
}
