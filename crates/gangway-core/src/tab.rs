//! Tabs of browsers.

use std::{fmt, str::FromStr};

/// A tab of a browser, by a name that the page's script made up for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(String);

/// Text that names no tab.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tab is named by 32 hexadecimal digits")]
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
