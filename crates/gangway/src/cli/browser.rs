//! Opens a page in the person's browser.

use std::process::{Command, Stdio};

const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Asks the desktop to open a page; false when there is no desktop to ask.
pub fn open(url: &str) -> bool {
    let mut command = Command::new(OPENER);
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().is_ok()
}
