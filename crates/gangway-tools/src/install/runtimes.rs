//! The package runtimes of this machine, and how to install missing ones.

use std::{ffi::OsString, path::PathBuf};

use futures_util::future::join_all;
use gangway_mcp::package::{Ecosystem, probe};

use crate::{
    Tools,
    catalog::wire::{RuntimeInfo, RuntimeList},
};

/// The programs, what each runs, and how to install it.
const KNOWN: [(&str, &str, &str); 3] = [
    (
        "npx",
        "npm packages",
        "install Node.js from https://nodejs.org; npx comes with it",
    ),
    (
        "uvx",
        "Python packages",
        "install uv from https://docs.astral.sh/uv; uvx comes with it",
    ),
    (
        "pipx",
        "Python packages, if uvx is missing",
        "not needed with uvx; otherwise install it from https://pipx.pypa.io",
    ),
];

impl Tools {
    /// The package runtimes of this machine.
    pub async fn runtimes(&self) -> RuntimeList {
        let look = |(name, purpose, hint): (&str, &str, &str)| {
            let (name, purpose, hint) = (name.to_owned(), purpose.to_owned(), hint.to_owned());
            async move {
                let found = probe(&name, &self.path).await;
                let problem = found.as_ref().err().cloned();
                let found = found.ok();
                RuntimeInfo {
                    name,
                    found: found.is_some(),
                    version: found.as_ref().map(|runtime| runtime.version.clone()),
                    path: found.map(|runtime| runtime.path.display().to_string()),
                    purpose,
                    hint: problem.map(|problem| format!("{problem}: {hint}")),
                }
            }
        };
        RuntimeList {
            runtimes: join_all(KNOWN.map(look)).await,
        }
    }
}

/// The hint if no runtime for this kind of package was found.
pub(crate) fn missing(ecosystem: Ecosystem) -> String {
    let (name, hint) = match ecosystem {
        Ecosystem::Npm => (KNOWN[0].0, KNOWN[0].2),
        Ecosystem::Pypi => (KNOWN[1].0, KNOWN[1].2),
    };
    format!("{name} not found: {hint}")
}

/// The search path for programs: the configured folders first.
pub fn search_path(folders: &[PathBuf]) -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().cloned().chain(std::env::split_paths(&own));
    // A folder with a colon in its name cannot be part of a path.
    std::env::join_paths(all).unwrap_or(own)
}
