//! The Windows registry, through reg.exe.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

fn to_set(key: &str, file: &str) -> Vec<String> {
    ["add", key, "/ve", "/t", "REG_SZ", "/d", file, "/f"]
        .map(str::to_owned)
        .to_vec()
}

fn to_remove(key: &str) -> Vec<String> {
    ["delete", key, "/f"].map(str::to_owned).to_vec()
}

fn to_read(key: &str) -> Vec<String> {
    ["query", key, "/ve"].map(str::to_owned).to_vec()
}

/// Parses the path from the output. The label of the default value is localized.
fn named(shown: &str) -> Option<String> {
    let value = |line: &str| Some(line.split_once("REG_SZ")?.1.trim().to_owned());
    shown.lines().find_map(value).filter(|v| !v.is_empty())
}

fn run(arguments: &[String]) -> anyhow::Result<std::process::Output> {
    let mut command = Command::new("reg.exe");
    command.args(arguments).stdin(Stdio::null());
    command.output().context("running reg.exe")
}

pub(super) fn set(key: &str, file: &str) -> anyhow::Result<()> {
    let done = run(&to_set(key, file))?;
    let message = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    ensure!(done.status.success(), "cannot write {key}: {message}");
    Ok(())
}

pub(super) fn remove(key: &str) -> anyhow::Result<()> {
    let done = run(&to_remove(key))?;
    let message = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    ensure!(done.status.success(), "cannot remove {key}: {message}");
    Ok(())
}

pub(super) fn read(key: &str) -> anyhow::Result<Option<String>> {
    let done = run(&to_read(key))?;
    Ok(named(&String::from_utf8_lossy(&done.stdout)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_gets_each_word_for_itself() {
        let key = r"HKCU\Software\Mozilla\NativeMessagingHosts\gangway.bridge";
        let file = r"C:\Users\a b\.gangway\bridge\gangway.bridge.firefox.json";
        assert_eq!(
            to_set(key, file),
            ["add", key, "/ve", "/t", "REG_SZ", "/d", file, "/f"]
        );
        assert_eq!(to_remove(key), ["delete", key, "/f"]);
        assert_eq!(to_read(key), ["query", key, "/ve"]);
    }

    #[test]
    fn the_file_is_found_in_any_language() {
        let shown = "\r\nHKEY_CURRENT_USER\\Software\\X\r\n    (Standard)    REG_SZ    C:\\a b\\c.json\r\n\r\n";
        assert_eq!(named(shown).as_deref(), Some(r"C:\a b\c.json"));
        assert_eq!(named("ERROR: not found"), None);
    }
}
