//! Names of relay sessions and study sessions.

use std::{fmt, str::FromStr};

use gangway_core::SessionId;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelayName(String);

/// The id of a study session, such as `s-20260213-001`; also its file name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StudyId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadName(&'static str);

/// Length limit of a relay session's name.
const LONGEST: usize = 64;

impl RelayName {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The chat of this id; such names are for agents that join a chat.
    #[must_use]
    pub fn chat(&self) -> Option<SessionId> {
        self.0.parse().ok()
    }
}

impl From<SessionId> for RelayName {
    fn from(chat: SessionId) -> Self {
        Self(chat.to_string())
    }
}

impl FromStr for RelayName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins && text.len() <= LONGEST && text.chars().all(plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(BadName(
            "sessionId must be 1 to 64 letters, digits, ., _ or -, and begin with a letter or a digit",
        ))
    }
}

impl StudyId {
    /// The nth of a day such as `20260213`.
    #[must_use]
    pub fn nth(day: &str, n: u32) -> Self {
        Self(format!("s-{day}-{n:03}"))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its number within its day.
    #[must_use]
    pub fn number(&self) -> u32 {
        let number = self.0.rsplit('-').next().unwrap_or_default();
        number.parse().unwrap_or_default()
    }
}

impl FromStr for StudyId {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let wrong = BadName("a study session id must look like s-20260213-001");
        let rest = text.strip_prefix("s-").ok_or(wrong.clone())?;
        let (day, number) = rest.split_once('-').ok_or(wrong.clone())?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = day.len() == 8 && (3..=6).contains(&number.len());
        if fits && digits(day) && digits(number) {
            return Ok(Self(text.to_owned()));
        }
        Err(wrong)
    }
}

impl fmt::Display for RelayName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Display for StudyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_lead_anywhere_are_refused() {
        for bad in [
            "",
            "..",
            "../../x",
            "a/b",
            ".a",
            "a b",
            "ä",
            "a\0",
            &"x".repeat(65),
        ] {
            assert!(bad.parse::<RelayName>().is_err(), "{bad:?}");
        }
        for good in ["default", "pilot-01", "P07.2_b"] {
            assert_eq!(good.parse::<RelayName>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "s-2026-1",
            "s-20260213-01",
            "s-20260213-0x1",
            "../s-20260213-001",
            "s-20260213-001.jsonl",
        ] {
            assert!(bad.parse::<StudyId>().is_err(), "{bad:?}");
        }
        assert_eq!("s-20260213-012".parse::<StudyId>().unwrap().number(), 12);
        assert_eq!(StudyId::nth("20260213", 1).as_str(), "s-20260213-001");
    }
}
