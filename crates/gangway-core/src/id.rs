//! Ids and names, as types that only `parse` or a counter can create.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of a session; ids sort by creation time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Uuid);

impl SessionId {
    /// A new, unique id.
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id derived from these bytes: equal bytes, equal id. The bytes must be unique.
    #[must_use]
    pub fn made_of(bytes: [u8; 16]) -> Self {
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        Uuid::from_slice(bytes).ok().map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl Default for SessionId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// Not a valid id or name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not {1}")]
pub struct NotAnId(String, &'static str);

impl NotAnId {
    pub(crate) fn new(text: &str, kind: &'static str) -> Self {
        Self(clipped(text), kind)
    }
}

impl FromStr for SessionId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        // Only the hyphenated form, so that each session has a single notation.
        match Uuid::try_parse(text) {
            Ok(id) if text.len() == 36 => Ok(Self(id)),
            _ => Err(NotAnId(clipped(text), "a session id")),
        }
    }
}

/// The id of a turn: its session, and the number of the message that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TurnId {
    /// The session.
    pub session: SessionId,
    /// The number of the message.
    pub seq: u64,
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.session, self.seq)
    }
}

impl FromStr for TurnId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let bad = || NotAnId(clipped(text), "a stream id");
        let (session, number) = text.split_once('.').ok_or_else(bad)?;
        let seq: u64 = number.parse().map_err(|_| bad())?;
        // `1` and `01` must not be two ids of the same turn.
        if seq.to_string() != number {
            return Err(bad());
        }
        Ok(Self {
            session: session.parse().map_err(|_| bad())?,
            seq,
        })
    }
}

/// The name of an applet: `a-z`, digits and hyphens, at most 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

impl Slug {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Slug {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let inner = text.bytes().all(|c| plain(c) || c == b'-');
        let ends = text.bytes().next().is_some_and(plain) && text.bytes().last().is_some_and(plain);
        if inner && ends && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            let kind = "an applet name (a-z, 0-9 and inner hyphens, at most 64 characters)";
            Err(NotAnId(clipped(text), kind))
        }
    }
}

impl TryFrom<String> for Slug {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl From<Slug> for String {
    fn from(slug: Slug) -> Self {
        slug.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of an app, also used as a host label: `a-z`, digits and hyphens, starting with a letter, at most 63
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AppName(String);

impl AppName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AppName {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        if begins && !text.ends_with('-') && text.bytes().all(plain) && text.len() <= 63 {
            Ok(Self(text.to_owned()))
        } else {
            let kind = "an app name (a-z, 0-9 and hyphens, starting with a letter, not ending with a hyphen, at most 63 characters)";
            Err(NotAnId(clipped(text), kind))
        }
    }
}

impl TryFrom<String> for AppName {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl From<AppName> for String {
    fn from(name: AppName) -> Self {
        name.0
    }
}

impl From<AppName> for Slug {
    fn from(name: AppName) -> Self {
        // Every app name is a valid applet name.
        Self(name.0)
    }
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a launch; ids sort by creation time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LaunchId(Uuid);

impl LaunchId {
    /// A new, unique id.
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for LaunchId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for LaunchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l-{}", self.0.simple())
    }
}

impl FromStr for LaunchId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        text.strip_prefix("l-")
            // Only the plain form, so that each launch has a single notation.
            .filter(|id| id.len() == 32 && id.bytes().all(hex))
            .and_then(|id| Uuid::try_parse(id).ok())
            .map(Self)
            .ok_or_else(|| NotAnId(clipped(text), "a launch id"))
    }
}

impl TryFrom<String> for LaunchId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl From<LaunchId> for String {
    fn from(id: LaunchId) -> Self {
        id.to_string()
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}

macro_rules! counted_id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The `n`th id in the turn that message `turn` started.
            #[must_use]
            pub fn nth(turn: u64, n: u32) -> Self {
                Self(format!(concat!($letter, "{}-{}"), turn, n))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(clipped(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

counted_id!(
    /// The id of an agent's message, unique in its session.
    MessageId,
    "m"
);
counted_id!(
    /// The id of a tool call, unique in its session.
    CallId,
    "c"
);
counted_id!(
    /// The id of a question to the user, unique in its session.
    QuestionId,
    "q"
);

/// Prefix of the ids of questions about calls.
const ABOUT_CALL: &str = "qc";

impl QuestionId {
    /// The id of the question whether a call is allowed.
    #[must_use]
    pub fn about(call: &CallId) -> Self {
        Self(format!("q{call}"))
    }

    /// Whether Gangway asks it about a call, so that only a person may answer it.
    #[must_use]
    pub fn is_about_call(&self) -> bool {
        self.0.starts_with(ABOUT_CALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_id_reads_back_as_it_was_written() {
        let turn = TurnId {
            session: SessionId::new(),
            seq: 17,
        };
        assert_eq!(turn.to_string().parse(), Ok(turn));
    }

    #[test]
    fn an_applets_name_can_be_a_folder_and_a_word_in_an_address() {
        let longest = "a".repeat(64);
        for good in ["a", "7", "calculator", "csv-explorer", "a--b", &longest] {
            assert_eq!(good.parse::<Slug>().unwrap().as_str(), good);
        }
        let long = "a".repeat(65);
        for bad in [
            "", "-", "-a", "a-", "A", "a_b", "a b", "a/b", "..", "ä", "a\n", &long,
        ] {
            assert!(bad.parse::<Slug>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_apps_name_can_be_a_label_of_a_host_and_a_slug() {
        let longest = "a".repeat(63);
        for good in ["a", "budget-dashboard", "a7", "a--b", &longest] {
            let name: AppName = good.parse().unwrap();
            assert_eq!(name.as_str(), good);
            assert_eq!(Slug::from(name), good.parse().unwrap());
        }
        let long = "a".repeat(64);
        for bad in [
            "", "-", "-a", "a-", "7", "7a", "A", "a_b", "a b", "a.b", "a/b", "..", "ä", "a\n",
            &long,
        ] {
            assert!(bad.parse::<AppName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn other_spellings_of_an_id_are_refused() {
        let session = SessionId::new().to_string();
        for bad in [
            format!("{session}.01"),
            format!("{session}.+1"),
            session.clone(),
            format!("{session}."),
            ".1".into(),
        ] {
            assert!(bad.parse::<TurnId>().is_err(), "{bad}");
        }
        for bad in [
            session.replace('-', ""),
            format!("{{{session}}}"),
            String::new(),
            "../x".into(),
        ] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
        }
    }
}
