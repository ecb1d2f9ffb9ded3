//! Access rules, declared where a route is defined: who may use it, body size, rate limit.

use std::{fmt, num::NonZeroU32};

use crate::{
    limits::LimitsConfig,
    socket::{BURST, RATE},
};

/// A scope of an API key. A login has every scope, unless it was made with a key that has fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Read sessions, send messages, use applets.
    Chat,
    /// List and use models.
    Models,
    /// List MCP servers and call their tools.
    Tools,
    /// Create, list and end remote agents.
    Agents,
    /// Relay sessions and studies.
    Relay,
    /// List and launch apps.
    Apps,
    Metrics,
    /// Everything: settings, keys, consent, and starting programs.
    Admin,
}

impl Scope {
    /// In the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Chat,
        Self::Models,
        Self::Tools,
        Self::Agents,
        Self::Relay,
        Self::Apps,
        Self::Metrics,
        Self::Admin,
    ];

    /// The name in keys and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Models => "models",
            Self::Tools => "tools",
            Self::Agents => "agents",
            Self::Relay => "relay",
            Self::Apps => "apps",
            Self::Metrics => "metrics",
            Self::Admin => "admin",
        }
    }
}

/// A token that the handler checks, because it knows what the token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Agent,
    /// The one-time ticket of a chat panel, or the panel's token.
    Panel,
    Relay,
    /// The grants of an origin, and the token that its broker got with the first grant.
    Site,
    /// The state of an OAuth login that this server began.
    Oauth,
    /// The secret in the URL of an applet's frame.
    Frame,
}

impl TokenKind {
    fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent token",
            Self::Panel => "panel token",
            Self::Relay => "relay token or scope relay",
            Self::Site => "grants of the page's origin",
            Self::Oauth => "state of the login",
            Self::Frame => "secret in the address",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Public,
    /// A login, or a key with this scope.
    Scope(Scope),
    Token(TokenKind),
}

impl fmt::Display for Access {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Public => "public",
            Self::Scope(scope) => scope.name(),
            Self::Token(kind) => kind.name(),
        })
    }
}

/// The limit on a request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// No body.
    Empty,
    /// A small JSON object from an unauthenticated client.
    Small,
    /// JSON, up to `limits.body_bytes`.
    Json,
    /// A file; the handler sets the limit.
    File,
}

/// The limit of [`Body::Small`].
const SMALL: usize = 4096;

impl Body {
    #[must_use]
    pub fn limit(self, limits: &LimitsConfig) -> usize {
        match self {
            Self::Empty => 0,
            Self::Small => SMALL,
            Self::Json => limits.body_bytes,
            Self::File => usize::MAX,
        }
    }
}

/// The limit on this request's body, in the request's extensions once it passed the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimit(pub usize);

impl fmt::Display for Body {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("none"),
            Self::Small => write!(out, "{SMALL} bytes"),
            Self::Json => out.write_str("`limits.body_bytes`"),
            Self::File => out.write_str("a file"),
        }
    }
}

/// A rate limit per address, in addition to `limits.requests_per_second`, which all routes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// No limit of its own.
    Shared,
    /// A WebSocket: messages above the limit are delayed, then the connection is closed.
    Messages,
    /// Failed logins.
    Logins,
    /// Requests that start or download a program.
    Starts,
}

/// Failed logins per minute.
pub const LOGINS: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// Programs started or downloaded per minute.
pub const STARTS: NonZeroU32 = NonZeroU32::new(300).unwrap();

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => out.write_str("shared"),
            Self::Messages => write!(out, "{RATE} messages/s, {BURST} at once"),
            Self::Logins => write!(out, "{LOGINS} failures/min"),
            Self::Starts => write!(out, "{STARTS}/min"),
        }
    }
}

/// The access rule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub access: Access,
    pub body: Body,
    pub rate: Rate,
    /// A page or file that any site may link to and load.
    pub asset: bool,
    /// Whether pages of `remote_agents.allowed_origins` may use it.
    pub embeds: bool,
    /// Whether the token may be in the URL, for clients that only take a URL.
    pub url_token: bool,
    /// Whether a chat panel may use it for its own session.
    pub panel: bool,
}

pub const fn public() -> Rule {
    rule(Access::Public)
}

/// Anyone may load it, from any site.
pub const fn asset() -> Rule {
    let mut rule = rule(Access::Public);
    rule.asset = true;
    rule
}

/// Needs a login, or a key with this scope.
pub const fn scope(scope: Scope) -> Rule {
    rule(Access::Scope(scope))
}

/// The handler checks a token of its own.
pub const fn token(kind: TokenKind) -> Rule {
    rule(Access::Token(kind))
}

const fn rule(access: Access) -> Rule {
    Rule {
        access,
        body: Body::Empty,
        rate: Rate::Shared,
        asset: false,
        embeds: false,
        url_token: false,
        panel: false,
    }
}

impl Rule {
    pub const fn json(self) -> Self {
        self.body(Body::Json)
    }

    pub const fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    pub const fn rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// Pages that embed agents may use it.
    pub const fn embeds(mut self) -> Self {
        self.embeds = true;
        self
    }

    /// The token may be in the URL.
    pub const fn url_token(mut self) -> Self {
        self.url_token = true;
        self
    }

    /// A chat panel may use it for its own session.
    pub const fn panel(mut self) -> Self {
        self.panel = true;
        self
    }

    /// Loaded as a page or file, from any site.
    pub const fn loaded(mut self) -> Self {
        self.asset = true;
        self
    }
}
