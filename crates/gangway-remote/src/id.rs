//! Agent ids.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use gangway_core::secret::new_secret;

/// 24 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(String);

#[derive(Debug, thiserror::Error)]
#[error("an agent id must have {DIGITS} hexadecimal digits")]
pub struct NoAgentId;

const DIGITS: usize = 24;

impl AgentId {
    #[must_use]
    pub fn random() -> Self {
        Self(new_secret()[..DIGITS].to_owned())
    }

    /// An abbreviation for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..8]
    }

    /// The name of its tmux session, without the dots and colons that are special to tmux.
    #[must_use]
    pub fn session_name(&self, project: &str) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        };
        let project: String = project.chars().map(plain).collect();
        format!("{project}-{}", self.short())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = NoAgentId;

    fn from_str(text: &str) -> Result<Self, NoAgentId> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == DIGITS && text.bytes().all(digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(NoAgentId)
    }
}

impl TryFrom<String> for AgentId {
    type Error = NoAgentId;

    fn try_from(text: String) -> Result<Self, NoAgentId> {
        text.parse()
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tmux_session_is_named_after_the_project_and_the_short_id() {
        let id: AgentId = "0123456789abcdef01234567".parse().unwrap();
        assert_eq!(id.session_name("My shop.v2"), "My-shop-v2-01234567");
        for bad in ["", "../..", "0123456789ABCDEF01234567", "01234567"] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad:?}");
        }
    }
}
