//! Opens a page in the user's browser.

use std::{
    ffi::OsStr,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Asks the desktop to open a page; false without a desktop. `withheld` names environment variables that the browser
/// must not get, such as API keys.
pub fn open<'a>(page: impl AsRef<OsStr>, withheld: impl Iterator<Item = &'a str>) -> bool {
    // Without a desktop, xdg-open may start a text browser in the middle of our output.
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if OPENER == "xdg-open" && !desktop {
        return false;
    }
    let mut command = Command::new(OPENER);
    command
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for name in withheld {
        command.env_remove(name);
    }
    command.spawn().is_ok()
}

/// The same for a login link: opens a file that only its owner can read, since all users of the machine can see the
/// arguments of processes.
pub fn open_login<'a>(url: &str, data: &Path, withheld: impl Iterator<Item = &'a str>) -> bool {
    forward(url, &place(data)).is_ok_and(|page| open(page, withheld))
}

/// Snap browsers cannot read hidden folders.
fn place(data: &Path) -> PathBuf {
    let home = std::env::home_dir().filter(|_| Path::new("/snap/bin").is_dir());
    home.unwrap_or_else(|| data.to_owned())
}

fn forward(url: &str, folder: &Path) -> std::io::Result<PathBuf> {
    let path = folder.join("gangway-open.html");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // An existing file may belong to another user, or be readable by others.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let page = format!(
        "<!doctype html><title>Gangway</title><meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">Open Gangway</a>\n"
    );
    options.open(&path)?.write_all(page.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_page_with_the_link_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("gangway-open.html"), "old").unwrap();
        let page = forward("http://127.0.0.1:3000/#login=abc", folder.path()).unwrap();
        let mode = std::fs::metadata(&page).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(page).unwrap();
        assert!(text.contains("http://127.0.0.1:3000/#login=abc"));
    }
}
