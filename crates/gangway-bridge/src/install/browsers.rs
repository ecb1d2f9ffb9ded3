//! Where browsers look for native messaging hosts.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;

use super::manifest::{BrowserFamily, HOST};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Browser {
    Firefox,
    Chrome,
    Chromium,
    Edge,
    Brave,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Mac,
    Windows,
}

#[derive(Debug, Clone)]
pub(super) struct BrowserPaths {
    pub(super) system: System,
    pub(super) home: PathBuf,
    /// `XDG_CONFIG_HOME` or its default.
    pub(super) config: PathBuf,
    /// The folders of `PATH`.
    pub(super) programs: Vec<PathBuf>,
}

/// How a host is registered with a browser.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RegistrationTarget {
    /// By a manifest in this folder.
    Folder(PathBuf),
    /// By a registry key with the path of the manifest.
    Registry(String),
}

impl BrowserPaths {
    pub(super) fn of_process() -> anyhow::Result<Self> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let home = home.context("no home directory is set; set HOME")?;
        // The specification ignores relative paths.
        let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = named.filter(|folder| folder.is_absolute());
        Ok(Self {
            system: if cfg!(windows) {
                System::Windows
            } else if cfg!(target_os = "macos") {
                System::Mac
            } else {
                System::Linux
            },
            config: config.unwrap_or_else(|| home.join(".config")),
            programs: std::env::var_os("PATH")
                .map(|path| std::env::split_paths(&path).collect())
                .unwrap_or_default(),
            home,
        })
    }

    fn support(&self) -> PathBuf {
        self.home.join("Library").join("Application Support")
    }
}

fn below(folder: &Path, names: &[&str]) -> PathBuf {
    folder.join(names.iter().collect::<PathBuf>())
}

impl Browser {
    pub(super) const ALL: [Self; 5] = [
        Self::Firefox,
        Self::Chrome,
        Self::Chromium,
        Self::Edge,
        Self::Brave,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Firefox => "firefox",
            Self::Chrome => "chrome",
            Self::Chromium => "chromium",
            Self::Edge => "edge",
            Self::Brave => "brave",
        }
    }

    pub(super) fn kin(self) -> BrowserFamily {
        match self {
            Self::Firefox => BrowserFamily::Firefox,
            _ => BrowserFamily::Chromium,
        }
    }

    /// The browser whose registry location it reads.
    pub(super) fn told_as(self) -> Self {
        match self {
            Self::Brave => Self::Chrome,
            other => other,
        }
    }

    pub(super) fn spot(self, around: &BrowserPaths) -> RegistrationTarget {
        let folder = match (around.system, self) {
            (System::Windows, _) => {
                let vendor = match self.told_as() {
                    Self::Firefox => "Mozilla",
                    Self::Chrome | Self::Brave => r"Google\Chrome",
                    Self::Chromium => "Chromium",
                    Self::Edge => r"Microsoft\Edge",
                };
                let key = format!(r"HKCU\Software\{vendor}\NativeMessagingHosts\{HOST}");
                return RegistrationTarget::Registry(key);
            }
            (System::Linux, Self::Firefox) => {
                return RegistrationTarget::Folder(below(
                    &around.home,
                    &[".mozilla", "native-messaging-hosts"],
                ));
            }
            (System::Mac, Self::Firefox) => below(&around.support(), &["Mozilla"]),
            _ => self.profiles(around).remove(0),
        };
        RegistrationTarget::Folder(folder.join("NativeMessagingHosts"))
    }

    /// Folders of which one exists if the browser was ever used; the first is the main one.
    pub(super) fn profiles(self, around: &BrowserPaths) -> Vec<PathBuf> {
        let (support, config) = (around.support(), &around.config);
        let local = below(&around.home, &["AppData", "Local"]);
        match (around.system, self) {
            (System::Linux, Self::Firefox) => {
                vec![around.home.join(".mozilla"), config.join("mozilla")]
            }
            (System::Linux, Self::Chrome) => vec![config.join("google-chrome")],
            (System::Linux, Self::Chromium) => vec![config.join("chromium")],
            (System::Linux, Self::Edge) => vec![config.join("microsoft-edge")],
            (System::Linux, Self::Brave) => {
                vec![below(config, &["BraveSoftware", "Brave-Browser"])]
            }
            (System::Mac, Self::Firefox) => {
                vec![support.join("Firefox"), support.join("Mozilla")]
            }
            (System::Mac, Self::Chrome) => vec![below(&support, &["Google", "Chrome"])],
            (System::Mac, Self::Chromium) => vec![support.join("Chromium")],
            (System::Mac, Self::Edge) => vec![support.join("Microsoft Edge")],
            (System::Mac, Self::Brave) => {
                vec![below(&support, &["BraveSoftware", "Brave-Browser"])]
            }
            (System::Windows, Self::Firefox) => {
                vec![below(
                    &around.home,
                    &["AppData", "Roaming", "Mozilla", "Firefox"],
                )]
            }
            (System::Windows, Self::Chrome) => vec![below(&local, &["Google", "Chrome"])],
            (System::Windows, Self::Chromium) => vec![local.join("Chromium")],
            (System::Windows, Self::Edge) => vec![below(&local, &["Microsoft", "Edge"])],
            (System::Windows, Self::Brave) => {
                vec![below(&local, &["BraveSoftware", "Brave-Browser"])]
            }
        }
    }

    /// The names of its executable.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Firefox => &["firefox", "firefox-esr"],
            Self::Chrome => &["google-chrome", "google-chrome-stable"],
            Self::Chromium => &["chromium", "chromium-browser"],
            Self::Edge => &["microsoft-edge", "microsoft-edge-stable"],
            Self::Brave => &["brave-browser", "brave-browser-stable", "brave"],
        }
    }

    /// Whether it is installed or was used.
    pub(super) fn is_there(self, around: &BrowserPaths) -> bool {
        let used = self.profiles(around).iter().any(|folder| folder.is_dir());
        let is_program = |folder: &PathBuf| {
            let mut names = self.programs().iter();
            names.any(|name| folder.join(name).is_file())
        };
        used || around.programs.iter().any(is_program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(system: System, home: &str, config: &str) -> Vec<String> {
        let around = BrowserPaths {
            system,
            home: home.into(),
            config: config.into(),
            programs: Vec::new(),
        };
        let shown = |browser: &Browser| match browser.spot(&around) {
            RegistrationTarget::Folder(folder) => folder.display().to_string(),
            RegistrationTarget::Registry(key) => key,
        };
        Browser::ALL.iter().map(shown).collect()
    }

    #[test]
    fn every_browser_is_registered_where_it_looks_on_linux() {
        assert_eq!(
            spots(System::Linux, "/home/a", "/conf"),
            [
                "/home/a/.mozilla/native-messaging-hosts",
                "/conf/google-chrome/NativeMessagingHosts",
                "/conf/chromium/NativeMessagingHosts",
                "/conf/microsoft-edge/NativeMessagingHosts",
                "/conf/BraveSoftware/Brave-Browser/NativeMessagingHosts",
            ]
        );
    }

    #[test]
    fn every_browser_is_registered_where_it_looks_on_macos() {
        let support = "/Users/a/Library/Application Support";
        assert_eq!(
            spots(System::Mac, "/Users/a", "/Users/a/.config"),
            [
                "Mozilla/NativeMessagingHosts",
                "Google/Chrome/NativeMessagingHosts",
                "Chromium/NativeMessagingHosts",
                "Microsoft Edge/NativeMessagingHosts",
                "BraveSoftware/Brave-Browser/NativeMessagingHosts",
            ]
            .map(|place| format!("{support}/{place}"))
        );
    }

    #[test]
    fn every_browser_is_registered_where_it_looks_on_windows() {
        assert_eq!(
            spots(System::Windows, r"C:\Users\a", "x"),
            [
                r"Mozilla\NativeMessagingHosts",
                r"Google\Chrome\NativeMessagingHosts",
                r"Chromium\NativeMessagingHosts",
                r"Microsoft\Edge\NativeMessagingHosts",
                r"Google\Chrome\NativeMessagingHosts",
            ]
            .map(|place| format!(r"HKCU\Software\{place}\gangway.bridge"))
        );
    }
}
