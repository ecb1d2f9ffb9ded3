//! Origins of pages.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The longest origin: a host name has at most 253 bytes.
const MOST_BYTES: usize = 300;

/// An origin as browsers serialize it: scheme, host and port, in canonical form only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin(String);

/// A text that is not an origin to which anything can be granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an origin; use a form like https://shop.example or https://shop.example:8443, without a path"
)]
pub struct NoOrigin(String);

impl Origin {
    /// The origin as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether its pages are authenticated: HTTPS, or this machine.
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
        // The parser would accept all of these, so that one origin had many notations.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_normalized() {
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
            // Browsers also treat it as another origin than the one without the dot.
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
}
