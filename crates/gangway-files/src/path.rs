//! Relative paths below a session's folder.

use std::{fmt, path::Path, str::FromStr};

use super::FileError;

/// The limit of common file systems.
const NAME: usize = 255;
/// Deep enough for any project, short enough for every system.
const WHOLE: usize = 1024;
/// The prefix of temporary files.
pub(super) const UNFINISHED: &str = ".gangway-tmp-";

/// A normalized path below a session's folder; the empty one is the folder itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FilePath(String);

impl FilePath {
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// With slashes between the names and no leading slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name; `None` for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The parent folder; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let end = self.0.rfind('/').unwrap_or(0);
        (!self.is_root()).then(|| Self(self.0[..end].to_owned()))
    }

    /// Whether this is that folder or below it.
    #[must_use]
    pub fn is_in(&self, folder: &Self) -> bool {
        match self.0.strip_prefix(&folder.0) {
            Some(rest) => folder.is_root() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    pub fn join(&self, name: &str) -> Result<Self, FileError> {
        match self.is_root() {
            true => name.parse(),
            false => format!("{}/{name}", self.0).parse(),
        }
    }

    /// Replaces the prefix `from` by `to`.
    pub(super) fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(&from.0)?.trim_start_matches('/');
        match rest {
            "" => Some(to.clone()),
            rest => to.join(rest).ok(),
        }
    }

    /// `.` for the root.
    pub(super) fn as_path(&self) -> &Path {
        match self.is_root() {
            true => Path::new("."),
            false => Path::new(&self.0),
        }
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_root() {
            true => ".",
            false => &self.0,
        })
    }
}

impl FromStr for FilePath {
    type Err = FileError;

    fn from_str(text: &str) -> Result<Self, FileError> {
        let refused = |why| Err(FileError::bad_path(text, why));
        if text.len() > WHOLE {
            return refused("it is longer than 1024 bytes");
        }
        if text.chars().any(char::is_control) {
            return refused("it contains a control character");
        }
        if text.contains('\\') {
            return refused("it contains a backslash; use / between names");
        }
        if text.starts_with('/') {
            return refused(
                "it is absolute; use a path relative to the folder, without a leading slash",
            );
        }
        let mut names = Vec::new();
        for name in text.split('/') {
            match name {
                // `a//b`, `a/` and `a/./b` are normalized.
                "" | "." => continue,
                ".." => return refused("it contains `..`; a path cannot leave the folder"),
                _ => {}
            }
            if name.len() > NAME {
                return refused("one of its names is longer than 255 bytes");
            }
            if is_unfinished(name) {
                return refused("names that begin with .gangway-tmp- are reserved");
            }
            names.push(name);
        }
        let drive = names.first().is_some_and(|name| {
            name.as_bytes().get(1) == Some(&b':') && name.as_bytes()[0].is_ascii_alphabetic()
        });
        if drive {
            return refused("it begins with a drive letter");
        }
        Ok(Self(names.join("/")))
    }
}

/// Whether a name is that of a temporary file, ignoring case.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.get(..UNFINISHED.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(UNFINISHED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_meant() {
        for (text, target) in [
            ("", ""),
            (".", ""),
            ("a.txt", "a.txt"),
            ("a//b/./c/", "a/b/c"),
            ("…/ä ö/%2e%2e", "…/ä ö/%2e%2e"),
            ("...", "..."),
            ("..a/b..", "..a/b.."),
            ("~/x", "~/x"),
            ("x/C:", "x/C:"),
        ] {
            assert_eq!(text.parse::<FilePath>().unwrap().as_str(), target, "{text}");
        }
    }

    #[test]
    fn what_leads_elsewhere_or_cannot_be_a_name_is_refused() {
        let long = "x".repeat(256);
        let deep = "x/".repeat(513);
        for text in [
            "..",
            "../a",
            "/",
            "/..",
            "/a.txt",
            "/etc/passwd",
            "a/../b",
            "a/..",
            "./..",
            "//host/share",
            "///",
            "\\\\host\\share",
            "a\\..\\b",
            "C:",
            "c:/windows",
            "/C:/windows",
            "a\0b",
            "a\nb",
            "a\u{7f}",
            "a\u{85}b",
            ".gangway-tmp-1",
            "a/.GANGWAY-tmp-1/b",
            &long,
            &deep,
        ] {
            let refused = text.parse::<FilePath>().unwrap_err();
            assert_eq!(refused.code(), "bad_path", "{text:?}");
        }
    }

    #[test]
    fn whatever_is_put_together_goes_down_or_is_refused() {
        const PARTS: [&str; 24] = [
            "..",
            ".",
            "/",
            "//",
            "\\",
            "a",
            "b.txt",
            "\0",
            "\n",
            "C:",
            "~",
            "%2e",
            " ",
            "ä",
            "\u{202e}",
            "...",
            "/../",
            "/./",
            "\u{ff0e}\u{ff0e}",
            "\u{2215}",
            ".gangway-tmp-",
            "*",
            "\u{feff}",
            "-",
        ];
        let mut state = 1u64;
        let mut chance = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..50_000 {
            let text: String = (0..chance(9)).map(|_| PARTS[chance(PARTS.len())]).collect();
            let Ok(path) = text.parse::<FilePath>() else {
                refused += 1;
                continue;
            };
            taken += 1;
            let system = path.as_path();
            assert!(system.is_relative(), "{text:?}");
            let mut components = system.components();
            assert!(
                components.all(|c| matches!(c, std::path::Component::Normal(_)) || path.is_root()),
                "{text:?}"
            );
            assert_eq!(path.as_str().parse::<FilePath>().unwrap(), path, "{text:?}");
            assert_eq!(
                path.to_string().parse::<FilePath>().unwrap(),
                path,
                "{text:?}"
            );
        }
        assert!(taken > 5_000 && refused > 5_000, "{taken} {refused}");
    }

    #[test]
    fn being_in_a_folder_goes_by_whole_names() {
        let path = |text: &str| text.parse::<FilePath>().unwrap();
        assert!(
            path("a/b").is_in(&path("a"))
                && path("a").is_in(&path("a"))
                && path("a").is_in(&path(""))
        );
        assert!(!path("ab").is_in(&path("a")) && !path("a").is_in(&path("a/b")));
        assert_eq!(
            path("a/b/c").moved(&path("a/b"), &path("x")),
            Some(path("x/c"))
        );
        assert_eq!(
            path("a").moved(&path(""), &path("x/y")),
            Some(path("x/y/a"))
        );
        assert_eq!(path("a/b").parent(), Some(path("a")));
        assert_eq!(
            (path("a").parent(), path("").parent()),
            (Some(path("")), None)
        );
        assert_eq!((path("a/b").name(), path("").name()), (Some("b"), None));
    }
}
