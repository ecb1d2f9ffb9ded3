//! Packages from npm and PyPI: names and versions, runtimes, installation, and packages that pages import.

mod carrier;
mod dependency;
mod executable;
mod fetch;
mod run;
mod runtime;
mod vendor;

use std::fmt;

pub use carrier::{Carrier, Scripts};
pub use dependency::{BadDependency, Dependency};
pub use fetch::{Fetch, FetchError, Fetched, Output};
pub use runtime::{Runtime, find, probe};
pub use vendor::{Vendor, Vendored};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    Npm,
    Pypi,
}

impl Ecosystem {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
        }
    }
}

/// A package name, with an exact version if there is one. It cannot be taken for a flag, a path, a URL or a range by a
/// package manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    ecosystem: Ecosystem,
    name: String,
    version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPackage {
    #[error("{0:?} is not a package name of {1}")]
    Name(String, &'static str),
    #[error("{0:?} is not an exact version such as 1.2.3")]
    Version(String),
}

impl Package {
    /// Parses a name and a version; `latest` and none mean the newest.
    pub fn parse(
        ecosystem: Ecosystem,
        name: &str,
        version: Option<&str>,
    ) -> Result<Self, BadPackage> {
        let is_name = match ecosystem {
            Ecosystem::Npm => is_npm_name(name),
            Ecosystem::Pypi => is_pypi_name(name),
        };
        let is_version = match ecosystem {
            Ecosystem::Npm => is_npm_version,
            Ecosystem::Pypi => is_pypi_version,
        };
        if !is_name {
            return Err(BadPackage::Name(short(name), ecosystem.as_str()));
        }
        let version = version.filter(|version| !["", "latest"].contains(version));
        if let Some(wrong) = version.filter(|version| !is_version(version)) {
            return Err(BadPackage::Version(short(wrong)));
        }
        Ok(Self {
            ecosystem,
            name: name.to_owned(),
            version: version.map(str::to_owned),
        })
    }

    #[must_use]
    pub fn ecosystem(&self) -> Ecosystem {
        self.ecosystem
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// With this version.
    #[must_use]
    pub fn at(&self, version: &str) -> Self {
        Self {
            version: Some(version.to_owned()),
            ..self.clone()
        }
    }

    /// The command that people use to run it.
    #[must_use]
    pub fn command(&self) -> String {
        let version = self.version.as_ref();
        let pinned = version.map_or_else(
            || self.name.clone(),
            |version| format!("{}@{version}", self.name),
        );
        match self.ecosystem {
            Ecosystem::Npm => format!("npx -y {pinned}"),
            Ecosystem::Pypi => format!("uvx {pinned}"),
        }
    }
}

impl fmt::Display for Package {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.ecosystem.as_str(), self.name)?;
        match &self.version {
            Some(version) => write!(out, "@{version}"),
            None => Ok(()),
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

/// A name with an optional scope. Old packages have capital letters.
fn is_npm_name(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
    };
    let fits = match text.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(text),
    };
    // npm's limit.
    fits && text.len() <= 214
}

/// Three numbers with an optional prerelease or build.
fn is_npm_version(text: &str) -> bool {
    let (text, build) = text.split_once('+').unwrap_or((text, "0"));
    let (numbers, before) = text.split_once('-').unwrap_or((text, "0"));
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let word = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.')
    };
    let numbers: Vec<&str> = numbers.split('.').collect();
    text.len() <= 128
        && build.len() <= 128
        && numbers.len() == 3
        && numbers.into_iter().all(number)
        && word(before)
        && word(build)
}

fn is_pypi_name(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    ends(text.chars().next())
        && ends(text.chars().next_back())
        && text.len() <= 128
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// No range, wildcard or URL can be written with these characters.
fn is_pypi_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.len() <= 128
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.!+".contains(c))
}

/// Python's normalization: `My.Package` is `my-package`.
pub(crate) fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['.', '_'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_of_packages_are_taken() {
        for (ecosystem, name, version, shown) in [
            (
                Ecosystem::Npm,
                "@scope/pkg.x_y",
                Some("1.2.3"),
                "npx -y @scope/pkg.x_y@1.2.3",
            ),
            (
                Ecosystem::Npm,
                "JSONStream",
                Some("1.0.0-rc.1+b5"),
                "npx -y JSONStream@1.0.0-rc.1+b5",
            ),
            (Ecosystem::Npm, "a", Some("latest"), "npx -y a"),
            (
                Ecosystem::Pypi,
                "Mcp_Server.time",
                Some("1!2.0.post1+local"),
                "uvx Mcp_Server.time@1!2.0.post1+local",
            ),
            (Ecosystem::Pypi, "a", None, "uvx a"),
        ] {
            let package = Package::parse(ecosystem, name, version).unwrap();
            assert_eq!(package.command(), shown);
        }
    }

    #[test]
    fn what_a_package_manager_would_understand_otherwise_is_no_package() {
        let npm = "-g --prefix=/ ../x ./x /etc .hidden _x a/b @a @a/ @/b @a/b/c @-a/b @a/-b a@1 npm:x git+ssh://x \
            http://x/y.tgz github:a/b file:x ~ a\\b é";
        for name in npm.split_whitespace().chain(["", "a b", "a\nb", "a\0"]) {
            assert!(
                Package::parse(Ecosystem::Npm, name, None).is_err(),
                "{name:?}"
            );
        }
        assert!(Package::parse(Ecosystem::Npm, &"a".repeat(215), None).is_err());
        for version in [
            "^1.2.3",
            "1.x",
            "1.2",
            ">=1.0.0",
            "1.2.3 || 2.0.0",
            "next",
            "npm:x@1.0.0",
            "-1.2.3",
            "1.2.3-",
            "file:x",
            "1.2.3\n",
        ] {
            assert!(
                Package::parse(Ecosystem::Npm, "a", Some(version)).is_err(),
                "{version:?}"
            );
        }
        let pypi = "-r --index-url=x a[b] a==1 a>1 a;b ./a a/b git+x .a a. _a a@x";
        for name in pypi.split_whitespace().chain(["", "a b", "a\n"]) {
            assert!(
                Package::parse(Ecosystem::Pypi, name, None).is_err(),
                "{name:?}"
            );
        }
        for version in ["1.*", ">1", "==1", "1,2", "v1", "1 ; x", "@ http://x", "-1"] {
            assert!(
                Package::parse(Ecosystem::Pypi, "a", Some(version)).is_err(),
                "{version:?}"
            );
        }
    }
}
