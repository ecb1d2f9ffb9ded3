//! Browser tabs.

use std::{fmt, str::FromStr};

/// Id of a browser tab, chosen by the page's script.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(String);

/// Not a tab id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tab id must be 32 hexadecimal digits")]
pub struct NoTabId;

impl FromStr for TabId {
    type Err = NoTabId;

    fn from_str(text: &str) -> Result<Self, NoTabId> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 32 && text.bytes().all(digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(NoTabId)
    }
}

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
