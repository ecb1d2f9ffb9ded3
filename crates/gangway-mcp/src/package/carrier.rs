//! Package managers: how each installs a package into its own folder.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{Ecosystem, Package, find};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    Npm,
    Uv,
    Pipx,
}

/// Whether npm install scripts run: code of every dependency, before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    Skip,
    Run,
}

impl Carrier {
    /// The first package manager on this search path for an ecosystem.
    #[must_use]
    pub fn of(ecosystem: Ecosystem, path: &OsStr) -> Option<(Self, PathBuf)> {
        let known: &[Self] = match ecosystem {
            Ecosystem::Npm => &[Self::Npm],
            Ecosystem::Pypi => &[Self::Uv, Self::Pipx],
        };
        known
            .iter()
            .find_map(|carrier| Some((*carrier, find(carrier.program(), path)?)))
    }

    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Uv => "uv",
            Self::Pipx => "pipx",
        }
    }

    /// The arguments. The package follows `--`, so that it cannot be taken for a flag.
    pub(super) fn args(self, package: &Package, folder: &Path, scripts: Scripts) -> Vec<OsString> {
        let wanted = match (self, package.version()) {
            (Self::Npm, Some(version)) => format!("{}@{version}", package.name()),
            (Self::Npm, None) => format!("{}@latest", package.name()),
            (_, Some(version)) => format!("{}=={version}", package.name()),
            (_, None) => package.name().to_owned(),
        };
        let mut words: Vec<OsString> = match self {
            Self::Npm => npm_install(folder, scripts),
            Self::Uv => ["tool", "install", "--no-progress", "--color=never"]
                .map(OsString::from)
                .into(),
            Self::Pipx => vec!["install".into()],
        };
        words.extend(["--".into(), wanted.into()]);
        words
    }

    /// Additions to its environment: the user's settings for it, and the folder.
    pub(super) fn env(self, folder: &Path) -> BTreeMap<OsString, OsString> {
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os()
            .filter(|(name, _)| name.to_str().is_some_and(|name| self.reads(name)))
            .collect();
        let folders: &[(&str, &str)] = match self {
            Self::Npm => &[],
            Self::Uv => &[("UV_TOOL_DIR", "tools"), ("UV_TOOL_BIN_DIR", "bin")],
            Self::Pipx => &[
                ("PIPX_HOME", "pipx"),
                ("PIPX_BIN_DIR", "bin"),
                ("PIPX_MAN_DIR", "man"),
            ],
        };
        for (name, inside) in folders {
            env.insert(name.into(), folder.join(inside).into());
        }
        env
    }

    /// Whether a variable is one of its settings, such as a registry or a proxy.
    fn reads(self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        match self {
            Self::Npm => lower.starts_with("npm_config_"),
            Self::Uv => name.starts_with("UV_"),
            Self::Pipx => name.starts_with("PIP_") || name.starts_with("PIPX_"),
        }
    }
}

pub(super) fn npm_install(folder: &Path, scripts: Scripts) -> Vec<OsString> {
    let words = [
        "install",
        "--location=project",
        "--save-exact",
        "--omit=dev",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--no-progress",
        "--loglevel=http",
    ];
    let mut words: Vec<OsString> = words.map(OsString::from).into();
    // Overrides folders and scripts in its environment.
    words.extend(["--prefix".into(), folder.into()]);
    words.push(match scripts {
        Scripts::Skip => "--ignore-scripts".into(),
        Scripts::Run => "--no-ignore-scripts".into(),
    });
    words
}
