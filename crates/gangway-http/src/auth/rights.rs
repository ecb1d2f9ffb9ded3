//! Tool patterns in the scopes of keys.

use std::{fmt, str::FromStr};

use gangway_core::ToolName;
use serde::{Deserialize, Serialize};

/// Tools by name: `server/tool`, `server/*` or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ToolPattern {
    All,
    Server(String),
    One(ToolName),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tool pattern; use server/tool, server/* or *")]
pub struct NoPattern(String);

impl ToolPattern {
    #[must_use]
    pub fn has(&self, tool: &ToolName) -> bool {
        match self {
            Self::All => true,
            Self::Server(server) => server == tool.server(),
            Self::One(one) => one == tool,
        }
    }
}

/// Which tools of a server a key may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// None: the server is hidden from this key.
    Nothing,
    Some,
    All,
}

impl ToolPattern {
    #[must_use]
    pub fn reach(&self, server: &str) -> Reach {
        match self {
            Self::All => Reach::All,
            Self::Server(own) if own == server => Reach::All,
            Self::One(tool) if tool.server() == server => Reach::Some,
            Self::Server(_) | Self::One(_) => Reach::Nothing,
        }
    }
}

impl FromStr for ToolPattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::All);
        }
        let wrong = || NoPattern(text.chars().take(200).collect());
        let name: ToolName = text.parse().map_err(|_| wrong())?;
        match (name.server(), name.tool()) {
            ("*", _) => Err(wrong()),
            (server, "*") => Ok(Self::Server(server.to_owned())),
            _ => Ok(Self::One(name)),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => out.write_str("*"),
            Self::Server(server) => write!(out, "{server}/*"),
            Self::One(tool) => tool.fmt(out),
        }
    }
}

impl TryFrom<String> for ToolPattern {
    type Error = NoPattern;

    fn try_from(text: String) -> Result<Self, NoPattern> {
        text.parse()
    }
}

impl From<ToolPattern> for String {
    fn from(pattern: ToolPattern) -> Self {
        pattern.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_one_tool_or_a_server_or_all() {
        let tool: ToolName = "files/read".parse().unwrap();
        for (pattern, means) in [
            ("*", true),
            ("files/*", true),
            ("files/read", true),
            ("files/write", false),
            ("file/*", false),
        ] {
            let read: ToolPattern = pattern.parse().unwrap();
            assert_eq!(
                (read.has(&tool), read.to_string()),
                (means, pattern.to_owned())
            );
        }
        for bad in ["", "files", "/", "*/read", "files/"] {
            assert!(bad.parse::<ToolPattern>().is_err(), "{bad:?}");
        }
    }
}
