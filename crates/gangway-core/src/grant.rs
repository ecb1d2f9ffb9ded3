//! What pages of one origin may do: the origin, the scopes there are, and what was said about each.

use std::{fmt, str::FromStr, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The longest origin: a host name has 253 bytes at the most.
const MOST_BYTES: usize = 300;

/// Where a page comes from, as browsers write it: scheme, host and port, and no other spelling of the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin(String);

/// A text that is no origin which can be given anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the origin of a page; write it like https://shop.example, with a port if it has one and with no path"
)]
pub struct NoOrigin(String);

impl Origin {
    /// The origin as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether its pages come over a connection that nobody on the network can speak on: HTTPS, or this machine.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        let Ok(url) = Url::parse(&self.0) else {
            return false;
        };
        url.scheme() == "https"
            || match url.host() {
                Some(Host::Domain(name)) => {
                    let name = name.strip_suffix('.').unwrap_or(name);
                    name == "localhost" || name.ends_with(".localhost")
                }
                Some(Host::Ipv4(address)) => address.is_loopback(),
                Some(Host::Ipv6(address)) => address.is_loopback(),
                None => false,
            }
    }
}

impl FromStr for Origin {
    type Err = NoOrigin;

    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        let wrong = || NoOrigin(text.chars().take(80).collect());
        if text.len() > MOST_BYTES {
            return Err(wrong());
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let host = rest.strip_suffix('/').unwrap_or(rest);
        // The parser would forgive all of these, and then an origin had many spellings.
        let stray = |c: char| {
            c.is_control()
                || c.is_whitespace()
                || matches!(
                    c,
                    '/' | '\\' | '?' | '#' | '@' | '%' | '*' | ';' | ',' | '\'' | '"'
                )
        };
        let web = ["http", "https"]
            .iter()
            .any(|s| scheme.eq_ignore_ascii_case(s));
        if !web || host.is_empty() || host.ends_with(':') || host.contains(stray) {
            return Err(wrong());
        }
        let url = Url::parse(&format!("{scheme}://{host}")).map_err(|_| wrong())?;
        let origin = url.origin().ascii_serialization();
        if origin.len() > MOST_BYTES {
            return Err(wrong());
        }
        Ok(Self(origin))
    }
}

impl TryFrom<String> for Origin {
    type Error = NoOrigin;

    fn try_from(text: String) -> Result<Self, NoOrigin> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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
    fn an_origin_has_one_spelling_however_it_is_written() {
        for (written, origin) in [
            ("HTTP://Shop.Example:80/", "http://shop.example"),
            ("https://shop.example:443", "https://shop.example"),
            ("https://shop.example:8443", "https://shop.example:8443"),
            ("http://shop.example:443", "http://shop.example:443"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            (
                "https://XN--BCHER-KVA.example",
                "https://xn--bcher-kva.example",
            ),
            ("http://[0:0::1]:3000", "http://[::1]:3000"),
            ("http://127.1:8080", "http://127.0.0.1:8080"),
            // Another origin than the one without the dot, for browsers too.
            ("https://shop.example.", "https://shop.example."),
        ] {
            let read: Origin = written.parse().unwrap();
            assert_eq!(read.as_str(), origin);
            assert_eq!(origin.parse::<Origin>().unwrap(), read);
        }
    }

    #[test]
    fn pages_over_http_are_authenticated_on_this_machine_alone() {
        for origin in [
            "https://shop.example",
            "https://192.168.1.5",
            "http://localhost:3000",
            "http://app.localhost",
            "http://localhost.",
            "http://127.0.0.1:8080",
            "http://127.200.0.1",
            "http://[::1]:3000",
        ] {
            assert!(
                origin.parse::<Origin>().unwrap().is_authenticated(),
                "{origin}"
            );
        }
        for origin in [
            "http://shop.example",
            "http://192.168.1.5",
            "http://10.0.0.1:3000",
            "http://[fe80::1]",
            "http://[::ffff:10.0.0.1]",
            "http://0.0.0.0",
            "http://localhost.example",
            "http://notlocalhost",
            "http://127.0.0.1.example",
        ] {
            assert!(
                !origin.parse::<Origin>().unwrap().is_authenticated(),
                "{origin}"
            );
        }
    }

    #[test]
    fn what_is_no_web_origin_is_refused() {
        for text in [
            "",
            "null",
            "file://",
            "file:///etc/passwd",
            "about:blank",
            "data:text/html,hi",
            "blob:https://shop.example/1234",
            "blob://shop.example",
            "chrome-extension://abcdef",
            "ws://shop.example",
            "//shop.example",
            "shop.example",
            "https:shop.example",
            "https://",
            "https:///",
            "https:///shop.example",
            "https://shop.example/path",
            "https://shop.example//",
            "https://shop.example?x",
            "https://shop.example#x",
            "https://shop.example\\@evil.example",
            "https://user@shop.example",
            "https://user:pass@shop.example",
            "https://sh%6fp.example",
            "https://shop.example:",
            "https://shop.example:99999",
            "https://shop.example:8x",
            " https://shop.example",
            "https://shop.example ",
            "https://shop.\texample",
            "https://shop.example\n",
            "https://[::1",
            "https://a b",
            "https://shop.example, https://evil.example",
        ] {
            assert!(text.parse::<Origin>().is_err(), "{text:?}");
        }
        let long = format!("https://{}.example", "a.".repeat(150));
        assert!(long.parse::<Origin>().is_err());
    }

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
