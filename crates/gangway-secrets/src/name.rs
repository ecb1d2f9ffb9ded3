//! Names and values of secrets.

use std::{fmt, str::FromStr};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::SecretsError;

/// The longest keys in use are tokens of some kilobytes.
const MAX_VALUE: usize = 16 << 10;

/// The name of a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

impl SecretName {
    /// Parses a name.
    pub fn parse(text: &str) -> Result<Self, SecretsError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if text.is_empty() || text.len() > 64 || !text.chars().all(plain) {
            return Err(SecretsError::BadName(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = SecretsError;

    fn from_str(text: &str) -> Result<Self, SecretsError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for SecretName {
    type Error = SecretsError;

    fn try_from(text: String) -> Result<Self, SecretsError> {
        Self::parse(&text)
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Trims and validates a value.
pub fn parse_value(text: &SecretString) -> Result<SecretString, SecretsError> {
    let value = text.expose_secret().trim();
    if value.is_empty() {
        return Err(SecretsError::BadValue("it is empty"));
    }
    if value.len() > MAX_VALUE {
        return Err(SecretsError::BadValue("it must be at most 16384 bytes"));
    }
    // In a header, a line break would begin another one.
    if value.chars().any(char::is_control) {
        return Err(SecretsError::BadValue(
            "it must not contain control characters such as line breaks",
        ));
    }
    Ok(value.into())
}
