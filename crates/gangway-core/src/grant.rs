//! Scopes of origins, and the stored grants.

use std::{fmt, str::FromStr, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One permission of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// Let a model write text.
    #[serde(rename = "model:prompt")]
    ModelPrompt,
    /// Let a model write text and call tools.
    #[serde(rename = "model:tools")]
    ModelTools,
    /// List models.
    #[serde(rename = "model:list")]
    ModelList,
    /// List tools.
    #[serde(rename = "mcp:tools.list")]
    ToolsList,
    /// Call tools.
    #[serde(rename = "mcp:tools.call")]
    ToolsCall,
    /// Provide an MCP server.
    #[serde(rename = "mcp:servers.register")]
    ServersRegister,
    /// Read the active tab.
    #[serde(rename = "browser:activeTab.read")]
    ActiveTabRead,
    /// Click elements in the active tab.
    #[serde(rename = "browser:activeTab.click")]
    ActiveTabClick,
    /// Fill in fields in the active tab.
    #[serde(rename = "browser:activeTab.fill")]
    ActiveTabFill,
    /// Take screenshots of the active tab.
    #[serde(rename = "browser:activeTab.screenshot")]
    ActiveTabScreenshot,
    /// Open a chat beside the page.
    #[serde(rename = "chat:open")]
    ChatOpen,
}

/// Not the name of a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope {name:?}; use one of: {}", Scope::names())]
pub struct NoScope {
    name: String,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 11] = [
        Self::ModelPrompt,
        Self::ModelTools,
        Self::ModelList,
        Self::ToolsList,
        Self::ToolsCall,
        Self::ServersRegister,
        Self::ActiveTabRead,
        Self::ActiveTabClick,
        Self::ActiveTabFill,
        Self::ActiveTabScreenshot,
        Self::ChatOpen,
    ];

    /// Its name for pages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ModelPrompt => "model:prompt",
            Self::ModelTools => "model:tools",
            Self::ModelList => "model:list",
            Self::ToolsList => "mcp:tools.list",
            Self::ToolsCall => "mcp:tools.call",
            Self::ServersRegister => "mcp:servers.register",
            Self::ActiveTabRead => "browser:activeTab.read",
            Self::ActiveTabClick => "browser:activeTab.click",
            Self::ActiveTabFill => "browser:activeTab.fill",
            Self::ActiveTabScreenshot => "browser:activeTab.screenshot",
            Self::ChatOpen => "chat:open",
        }
    }

    /// Whether the grant names tools.
    #[must_use]
    pub fn is_for_tools(self) -> bool {
        matches!(self, Self::ModelTools | Self::ToolsCall)
    }

    /// Whether it needs the browser extension.
    #[must_use]
    pub fn needs_extension(self) -> bool {
        matches!(
            self,
            Self::ActiveTabClick | Self::ActiveTabFill | Self::ActiveTabScreenshot
        )
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl FromStr for Scope {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        let named = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        named.ok_or_else(|| NoScope {
            name: text.chars().take(80).collect(),
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The grant of one scope for one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Grant {
    /// Allowed until revoked.
    #[serde(rename = "granted-always")]
    Always,
    /// Allowed until then.
    #[serde(rename = "granted-once")]
    Once,
    /// Denied until the user changes it.
    #[serde(rename = "denied")]
    Denied,
    /// Not decided.
    #[serde(rename = "not-granted")]
    NotGranted,
}

impl Grant {
    /// Whether it allows the scope.
    #[must_use]
    pub fn allows(self) -> bool {
        matches!(self, Self::Always | Self::Once)
    }

    /// Its name for pages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "granted-always",
            Self::Once => "granted-once",
            Self::Denied => "denied",
            Self::NotGranted => "not-granted",
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How long "always allow" lasts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrantDuration {
    /// One hour.
    #[serde(rename = "1h")]
    Hour,
    /// One day.
    #[serde(rename = "1d")]
    Day,
    /// 30 days.
    #[serde(rename = "30d")]
    Month,
    /// Until revoked.
    #[default]
    #[serde(rename = "never")]
    Never,
}

impl GrantDuration {
    /// All durations with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("1h", Self::Hour),
        ("1d", Self::Day),
        ("30d", Self::Month),
        ("never", Self::Never),
    ];

    /// When a grant that is given now expires, if ever.
    #[must_use]
    pub fn end(self, now: Timestamp) -> Option<Timestamp> {
        let hours = match self {
            Self::Hour => 1,
            Self::Day => 24,
            Self::Month => 30 * 24,
            Self::Never => return None,
        };
        now.checked_add(Duration::from_secs(hours * 60 * 60)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_and_grants_are_written_as_pages_know_them() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse::<Scope>().unwrap(), scope);
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        }
        for grant in [Grant::Always, Grant::Once, Grant::Denied, Grant::NotGranted] {
            assert_eq!(serde_json::to_value(grant).unwrap(), grant.as_str());
        }
        let unknown = "model:all".parse::<Scope>().unwrap_err().to_string();
        assert!(unknown.contains("\"model:all\"") && unknown.contains("browser:activeTab.read"));
        assert!("MODEL:PROMPT".parse::<Scope>().is_err());
    }
}
