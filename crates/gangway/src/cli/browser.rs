//! Opens a page in the person's browser.

use std::process::{Command, Stdio};

const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Asks the desktop to open a page; false when there is no desktop to ask. `withheld` names variables that the browser
/// has no use for: keys.
pub fn open<'a>(url: &str, withheld: impl Iterator<Item = &'a str>) -> bool {
    // Without a desktop xdg-open may try a browser for terminals, in the middle of our own output.
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if OPENER == "xdg-open" && !desktop {
        return false;
    }
    let mut command = Command::new(OPENER);
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for name in withheld {
        command.env_remove(name);
    }
    command.spawn().is_ok()
}
