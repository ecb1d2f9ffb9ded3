//! What pages of one origin may do: the scopes there are, and what was decided about each.

use std::{fmt, str::FromStr, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One thing that a page may be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// Have a model write text.
    #[serde(rename = "model:prompt")]
    ModelPrompt,
    /// Have a model write and call tools.
    #[serde(rename = "model:tools")]
    ModelTools,
    /// See which models there are.
    #[serde(rename = "model:list")]
    ModelList,
    /// See which tools there are.
    #[serde(rename = "mcp:tools.list")]
    ToolsList,
    /// Call tools.
    #[serde(rename = "mcp:tools.call")]
    ToolsCall,
    /// Bring an MCP server along.
    #[serde(rename = "mcp:servers.register")]
    ServersRegister,
    /// Read the page that is open.
    #[serde(rename = "browser:activeTab.read")]
    ActiveTabRead,
    /// Click elements of the page that is open.
    #[serde(rename = "browser:activeTab.click")]
    ActiveTabClick,
    /// Fill in fields of the page that is open.
    #[serde(rename = "browser:activeTab.fill")]
    ActiveTabFill,
    /// Take pictures of the page that is open.
    #[serde(rename = "browser:activeTab.screenshot")]
    ActiveTabScreenshot,
    /// Open a chat beside the page.
    #[serde(rename = "chat:open")]
    ChatOpen,
}

/// A text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no scope {name:?}; there are: {}", Scope::names())]
pub struct NoScope {
    name: String,
}

impl Scope {
    /// All that there are.
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

    /// The name by which pages know it.
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

    /// Whether a list of tools goes with it.
    #[must_use]
    pub fn is_for_tools(self) -> bool {
        matches!(self, Self::ModelTools | Self::ToolsCall)
    }

    /// Whether only a browser with the extension can do it.
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

/// What stands about one scope of one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Grant {
    /// Allowed until it is revoked.
    #[serde(rename = "granted-always")]
    Always,
    /// Allowed for a while.
    #[serde(rename = "granted-once")]
    Once,
    /// Refused until the person says otherwise.
    #[serde(rename = "denied")]
    Denied,
    /// Nothing was said.
    #[serde(rename = "not-granted")]
    NotGranted,
}

impl Grant {
    /// Whether it allows anything.
    #[must_use]
    pub fn allows(self) -> bool {
        matches!(self, Self::Always | Self::Once)
    }

    /// The name by which pages know it.
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

/// How long a grant that is given for good lasts.
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
    /// Until it is revoked.
    #[default]
    #[serde(rename = "never")]
    Never,
}

impl GrantDuration {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("1h", Self::Hour),
        ("1d", Self::Day),
        ("30d", Self::Month),
        ("never", Self::Never),
    ];

    /// When a grant of now ends, if it does.
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
