//! The text form of scopes: `chat`, `tools:files/*`, `agents:blog`, `relay.agent:demo`, `admin`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::rights::ToolPattern;
use crate::access::Scope;

/// Per key.
pub const MOST_SCOPES: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayRole {
    /// The agent, which drives the page.
    Agent,
    Host,
}

/// A scope of a key, with its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KeyScope {
    Chat,
    Models,
    Tools(ToolPattern),
    /// Of one project or of all.
    Agents(Option<String>),
    /// In one role or both, in one session or all.
    Relay(Option<RelayRole>, Option<String>),
    Apps,
    Metrics,
    Admin,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a scope; use chat, models, tools[:SERVER/TOOL], agents[:PROJECT], relay[:SESSION], relay.agent[:SESSION], relay.host[:SESSION], apps, metrics or admin"
)]
pub struct NoScope(String);

impl KeyScope {
    /// The scope without its limits.
    #[must_use]
    pub fn scope(&self) -> Scope {
        match self {
            Self::Chat => Scope::Chat,
            Self::Models => Scope::Models,
            Self::Tools(_) => Scope::Tools,
            Self::Agents(_) => Scope::Agents,
            Self::Relay(..) => Scope::Relay,
            Self::Apps => Scope::Apps,
            Self::Metrics => Scope::Metrics,
            Self::Admin => Scope::Admin,
        }
    }
}

impl FromStr for KeyScope {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        let wrong = || NoScope(text.chars().take(200).collect());
        let (name, only) = match text.trim().split_once(':') {
            Some((_, "")) => return Err(wrong()),
            Some((name, only)) => (name, Some(only)),
            None => (text.trim(), None),
        };
        let owned = only.map(str::to_owned);
        Ok(match (name, only) {
            ("chat", None) => Self::Chat,
            ("models", None) => Self::Models,
            ("tools", None) => Self::Tools(ToolPattern::All),
            ("tools", Some(pattern)) => Self::Tools(pattern.parse().map_err(|_| wrong())?),
            ("agents", _) => Self::Agents(owned),
            ("relay", _) => Self::Relay(None, owned),
            ("relay.agent", _) => Self::Relay(Some(RelayRole::Agent), owned),
            ("relay.host", _) => Self::Relay(Some(RelayRole::Host), owned),
            ("apps", None) => Self::Apps,
            ("metrics", None) => Self::Metrics,
            ("admin", None) => Self::Admin,
            _ => return Err(wrong()),
        })
    }
}

impl fmt::Display for KeyScope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.scope().name())?;
        let only = match self {
            Self::Tools(ToolPattern::All) => None,
            Self::Tools(pattern) => Some(pattern.to_string()),
            Self::Agents(only) => only.clone(),
            Self::Relay(role, only) => {
                out.write_str(match role {
                    None => "",
                    Some(RelayRole::Agent) => ".agent",
                    Some(RelayRole::Host) => ".host",
                })?;
                only.clone()
            }
            _ => None,
        };
        only.map_or(Ok(()), |only| write!(out, ":{only}"))
    }
}

impl TryFrom<String> for KeyScope {
    type Error = NoScope;

    fn try_from(text: String) -> Result<Self, NoScope> {
        text.parse()
    }
}

impl From<KeyScope> for String {
    fn from(scope: KeyScope) -> Self {
        scope.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_reads_as_it_is_written() {
        for text in [
            "chat",
            "models",
            "tools",
            "tools:files/*",
            "tools:files/read",
            "agents",
            "agents:blog",
            "relay",
            "relay:demo",
            "relay.agent:demo",
            "relay.host",
            "apps",
            "metrics",
            "admin",
        ] {
            let scope: KeyScope = text.parse().unwrap();
            assert_eq!(scope.to_string(), text);
        }
        for bad in [
            "",
            "Chat",
            "chat:x",
            "tools:",
            "tools:x",
            "relay.boss",
            "admin:all",
        ] {
            assert!(bad.parse::<KeyScope>().is_err(), "{bad:?}");
        }
    }
}
