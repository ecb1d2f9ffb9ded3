//! The launcher script: a manifest cannot have arguments, so a small script passes them.

use std::{
    fs::DirBuilder,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde::Serialize;

use super::browsers::System;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Ok,
    Missing,
    OtherBinary,
}

pub(super) struct Starter {
    pub(super) path: PathBuf,
    script: String,
}

impl Starter {
    pub(super) fn new(data: &Path, program: &Path, system: System) -> anyhow::Result<Self> {
        // A manifest is JSON, so paths must be UTF-8.
        let text = |path: &Path| -> anyhow::Result<String> {
            let text = path.to_str().map(str::to_owned);
            text.with_context(|| format!("{} is not valid UTF-8", path.display()))
        };
        let (program, folder) = (text(program)?, text(data)?);
        let bridge = data.join("bridge");
        Ok(match system {
            System::Windows => Self {
                path: bridge.join("gangway-bridge.bat"),
                script: batch(&program, &folder),
            },
            _ => Self {
                path: bridge.join("gangway-bridge"),
                script: format!(
                    "#!/bin/sh\nexec {} bridge --data {} -- \"$@\"\n",
                    quoted(&program),
                    quoted(&folder),
                ),
            },
        })
    }

    /// Created if needed.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub(super) fn write(&self) -> anyhow::Result<()> {
        write_whole(&self.path, self.script.as_bytes(), 0o700)
    }

    pub(super) fn state(&self) -> State {
        match std::fs::read_to_string(&self.path) {
            Ok(script) if script == self.script => State::Ok,
            Ok(_) => State::OtherBinary,
            Err(_) => State::Missing,
        }
    }

    /// Why the launcher cannot be started.
    pub(super) fn problem(&self) -> Option<String> {
        let shown = self.path.display();
        match std::fs::metadata(&self.path) {
            Err(_) => Some(format!("{shown} does not exist")),
            Ok(about) if !about.is_file() => Some(format!("{shown} is not a file")),
            Ok(about) if !is_executable(&about) => Some(format!("{shown} is not executable")),
            Ok(_) => self.program_problem(),
        }
    }

    /// Why the program of the launcher, which may differ from this one, cannot be started.
    fn program_problem(&self) -> Option<String> {
        let shown = self.path.display();
        let script = std::fs::read_to_string(&self.path).unwrap_or_default();
        let Some(program) = program_in(&script) else {
            return Some(format!("{shown} was not written by Gangway"));
        };
        let usable = std::fs::metadata(&program).is_ok_and(|p| p.is_file() && is_executable(&p));
        (!usable).then(|| format!("{program}, which {shown} starts, is missing or not executable"))
    }
}

fn batch(program: &str, folder: &str) -> String {
    // A backslash before the closing quote would escape it.
    let dot = if folder.ends_with('\\') { "." } else { "" };
    // Otherwise the text is decoded with another code page.
    let unicode = match program.is_ascii() && folder.is_ascii() {
        true => "",
        false => "chcp 65001 >nul\r\n",
    };
    let (program, folder) = (program.replace('%', "%%"), folder.replace('%', "%%"));
    format!("@echo off\r\n{unicode}\"{program}\" bridge --data \"{folder}{dot}\" -- %*\r\n")
}

/// The program that one of our launchers starts.
fn program_in(script: &str) -> Option<String> {
    if let Some(rest) = script.strip_prefix("#!/bin/sh\nexec '") {
        let (word, _) = rest.split_once("' bridge --data '")?;
        return Some(word.replace(r"'\''", "'"));
    }
    let (_, rest) = script.strip_prefix("@echo off")?.split_once('"')?;
    let (word, _) = rest.split_once("\" bridge --data \"")?;
    Some(word.replace("%%", "%"))
}

#[cfg(unix)]
fn is_executable(about: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_about: &std::fs::Metadata) -> bool {
    true
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Atomic write; links are not followed.
pub(super) fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let message = || format!("writing {}", path.display());
    let folder = path.parent().with_context(message)?;
    for one in [folder, path] {
        if one.is_symlink() {
            let shown = one.display();
            bail!("{shown} is a symbolic link, which is not followed; remove it");
        }
    }
    let mut make = DirBuilder::new();
    make.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
    make.create(folder).with_context(message)?;
    let mut file = tempfile::Builder::new();
    file.prefix(".gangway-");
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = file.tempfile_in(folder).with_context(message)?;
    file.write_all(bytes).with_context(message)?;
    file.as_file().sync_all().with_context(message)?;
    file.persist(path).with_context(message)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        reason = "a test that cannot go on should say where"
    )]
    use super::*;

    #[test]
    fn nothing_in_a_path_ends_its_word() {
        let (data, program) = (Path::new("/d/it's $HOME"), Path::new("/p/a \"b\"`c`\\"));
        let starter = Starter::new(data, program, System::Linux).unwrap();
        let script =
            "#!/bin/sh\nexec '/p/a \"b\"`c`\\' bridge --data '/d/it'\\''s $HOME' -- \"$@\"\n";
        assert_eq!(starter.script, script);
        assert_eq!(program_in(script).as_deref(), program.to_str());
        assert!(starter.path.ends_with("bridge/gangway-bridge"));
    }

    #[test]
    fn a_batch_file_takes_percents_as_they_are() {
        let (data, program) = (Path::new(r"C:\a b\100%"), Path::new(r"C:\p\gangway.exe"));
        let starter = Starter::new(data, program, System::Windows).unwrap();
        let script =
            "@echo off\r\n\"C:\\p\\gangway.exe\" bridge --data \"C:\\a b\\100%%\" -- %*\r\n";
        assert_eq!(starter.script, script);
        assert_eq!(program_in(script).as_deref(), program.to_str());
        assert_eq!(
            batch(r"C:\é.exe", r"D:\"),
            "@echo off\r\nchcp 65001 >nul\r\n\"C:\\é.exe\" bridge --data \"D:\\.\" -- %*\r\n"
        );
    }
}
