//! Ids and names of keys.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use gangway_core::secret::new_secret;

/// The id of a key: 12 lowercase hexadecimal digits, the same in URLs and in the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(String);

#[derive(Debug, thiserror::Error)]
#[error("a key id has {ID_DIGITS} hexadecimal digits; list the ids with: gangway key list")]
pub struct NoKeyId;

const ID_DIGITS: usize = 12;

impl KeyId {
    pub(super) fn new() -> Self {
        Self(new_secret()[..ID_DIGITS].to_owned())
    }
}

impl FromStr for KeyId {
    type Err = NoKeyId;

    fn from_str(text: &str) -> Result<Self, NoKeyId> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == ID_DIGITS && text.bytes().all(digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(NoKeyId)
    }
}

impl TryFrom<String> for KeyId {
    type Error = NoKeyId;

    fn try_from(text: String) -> Result<Self, NoKeyId> {
        text.parse()
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A label for a key: one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(String);

#[derive(Debug, thiserror::Error)]
#[error("a key name must have 1 to {NAME_CHARS} printable characters")]
pub struct NoKeyName;

const NAME_CHARS: usize = 100;

impl FromStr for KeyName {
    type Err = NoKeyName;

    fn from_str(text: &str) -> Result<Self, NoKeyName> {
        let name = text.trim();
        if name.is_empty()
            || name.chars().count() > NAME_CHARS
            || name.chars().any(char::is_control)
        {
            return Err(NoKeyName);
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_nothing_that_a_url_could_read_otherwise() {
        assert!(KeyId::new().to_string().parse::<KeyId>().is_ok());
        for text in [
            "",
            "../sessions/",
            "0123456789a",
            "0123456789AB",
            "0123456789ab0",
            "01234567 9ab",
        ] {
            assert!(text.parse::<KeyId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_is_one_line_that_can_be_read() {
        assert_eq!(
            " my phone ".parse::<KeyName>().unwrap().to_string(),
            "my phone"
        );
        assert!("é".repeat(100).parse::<KeyName>().is_ok());
        for text in ["", "  ", "two\nlines", "\u{1b}[31mred", &"é".repeat(101)] {
            assert!(text.parse::<KeyName>().is_err(), "{text:?}");
        }
    }
}
