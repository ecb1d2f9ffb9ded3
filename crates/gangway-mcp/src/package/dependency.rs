//! An npm package that the pages of an app import, with a version range.

use super::{is_npm_name, is_npm_version, short};

/// Bytes of a range.
const LONGEST: usize = 256;

/// An npm package and a version range. URLs, paths, repositories and aliases are refused: npm would download or link
/// whatever they name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    name: String,
    range: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDependency {
    #[error("{0:?} is not an npm package name")]
    Name(String),
    /// It is not from the registry.
    #[error(
        "{name} is {range:?}, which is {what}: it could bring in anything, so only versions from the npm registry are fetched; write a range such as ^1.2.0"
    )]
    Elsewhere {
        name: String,
        range: String,
        what: &'static str,
    },
    #[error("{name} is {range:?}, which is not a version range; use one such as ^1.2.0")]
    Range { name: String, range: String },
}

impl Dependency {
    /// Parses a name and a range; empty and `latest` mean the newest version.
    pub fn parse(name: &str, range: &str) -> Result<Self, BadDependency> {
        if !is_npm_name(name) {
            return Err(BadDependency::Name(short(name)));
        }
        let range = match range.trim() {
            "" | "latest" => "*",
            range => range,
        };
        let name = name.to_owned();
        if let Some(what) = elsewhere(range) {
            let range = short(range);
            return Err(BadDependency::Elsewhere { name, range, what });
        }
        if !is_range(range) {
            let range = short(range);
            return Err(BadDependency::Range { name, range });
        }
        let range = range.to_owned();
        Ok(Self { name, range })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn range(&self) -> &str {
        &self.range
    }
}

/// The kind of source, for ranges that npm would not get from the registry.
fn elsewhere(range: &str) -> Option<&'static str> {
    let lower = range.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let ends = |words: &[&str]| words.iter().any(|word| lower.ends_with(word));
    if starts(&["npm:"]) {
        Some("an alias of another package")
    } else if starts(&["git", "bitbucket:", "gist:"]) || ends(&[".git"]) {
        Some("a git repository")
    } else if lower.contains("://") {
        Some("a URL")
    } else if starts(&["file:", "link:", "workspace:", "portal:", ".", "/", "~/"])
        || ends(&[".tgz", ".tar", ".tar.gz"])
    {
        Some("a path")
    } else if lower.contains('/') {
        // `owner/name` is short for a GitHub repository.
        Some("a git repository")
    } else {
        None
    }
}

/// Comparator sets joined by `||`, in npm's syntax.
fn is_range(text: &str) -> bool {
    let plain = text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    plain && text.len() <= LONGEST && text.split("||").all(is_set)
}

fn is_set(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [from, "-", to] = words[..] {
        return is_partial(from) && is_partial(to);
    }
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let operators = [">=", "<=", "~>", ">", "<", "=", "^", "~"];
        let rest = operators.iter().find_map(|one| word.strip_prefix(one));
        let version = match rest {
            // A space may follow the operator.
            Some("") => words.next(),
            Some(rest) => Some(rest),
            None => Some(word),
        };
        if !version.is_some_and(is_partial) {
            return false;
        }
    }
    true
}

/// A version or a prefix of one.
fn is_partial(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let any = |part: &str| matches!(part, "x" | "X" | "*");
    let parts: Vec<&str> = text.split('.').collect();
    let partial = parts.len() <= 3 && parts.into_iter().all(|part| number(part) || any(part));
    partial || is_npm_version(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_any_range_of_versions_is_a_dependency() {
        for range in [
            "",
            "latest",
            "*",
            "7",
            "^7.9.0",
            "~1.2",
            "1.x",
            "v1.2.3",
            "=1.2.3-rc.1+b5",
            ">=1 <2",
            ">= 1.0.0 < 2.0.0",
            "1.2.3 - 2.3",
            "^1.0.0 || ^2.0.0||3",
        ] {
            let read = Dependency::parse("@scope/pkg.x", range);
            assert!(read.is_ok(), "{read:?}");
        }
        let newest = Dependency::parse("d3", "latest").unwrap();
        assert_eq!((newest.name(), newest.range()), ("d3", "*"));
    }

    #[test]
    fn what_npm_would_fetch_or_link_from_elsewhere_is_refused_with_the_reason() {
        for (range, reason) in [
            ("git+ssh://git@example.org/x.git", "a git repository"),
            ("github:a/b", "a git repository"),
            ("a/b#v1", "a git repository"),
            ("git@example.org:a.git", "a git repository"),
            ("https://example.org/x.tgz", "a URL"),
            ("http://127.0.0.1:1/x", "a URL"),
            ("file:../x", "a path"),
            ("link:../x", "a path"),
            ("workspace:*", "a path"),
            ("../x", "a path"),
            ("/etc", "a path"),
            ("~/x", "a path"),
            ("1.2.3-x.tgz", "a path"),
            ("npm:other@1", "an alias"),
            ("next", "not a version range"),
            ("(a map)", "not a version range"),
            ("1.2.3.4", "not a version range"),
            ("^", "not a version range"),
            ("^1 --global", "not a version range"),
            ("1\n2", "not a version range"),
            ("1.2.3-é", "not a version range"),
        ] {
            let error = Dependency::parse("a", range).unwrap_err().to_string();
            assert!(error.contains(reason), "{range:?}: {error}");
        }
        for name in ["", "../x", "-g", "a b", "__proto__", "npm:x", "@a"] {
            let error = Dependency::parse(name, "1").unwrap_err();
            assert_eq!(error, BadDependency::Name(name.to_owned()));
        }
    }
}
