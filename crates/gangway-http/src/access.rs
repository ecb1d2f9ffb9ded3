//! Who may use a route and how much they may send, declared where the route is defined.

use std::{fmt, num::NonZeroU32};

use crate::{
    limits::LimitsConfig,
    socket::{BURST, RATE},
};

/// What a key may be for. A login is for everything, unless a key with less was used to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Sessions: read them, talk in them, use applets.
    Chat,
    /// Models: list them and have them answer.
    Models,
    /// MCP servers and their tools: list and call them.
    Tools,
    /// Remote agents: create, list and end them.
    Agents,
    /// Relay sessions and studies.
    Relay,
    /// Apps: list and launch them.
    Apps,
    /// Read the metrics.
    Metrics,
    /// Everything: settings, keys, consent, and what makes this server start programs.
    Admin,
}

impl Scope {
    /// All of them, in the order in which they are listed.
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

    /// Its name in keys and documents.
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

/// A token that a handler checks itself, since it knows what the token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// The token of one remote agent.
    Agent,
    /// The one-time ticket of a chat panel, or the panel's own token.
    Panel,
    /// The token of one relay session.
    Relay,
    /// What an origin was granted, and the token that its broker got with the first grant.
    Site,
    /// The state of an OAuth login that this server began.
    Oauth,
    /// The secret in the address of an applet's frame.
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

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone who reaches the server.
    Public,
    /// A login, or a key with this scope.
    Scope(Scope),
    /// A token that the handler checks.
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

/// How much of a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// None.
    Empty,
    /// A JSON object of a few fields, from someone who may be nobody.
    Small,
    /// JSON, up to `limits.body_bytes`.
    Json,
    /// A file; the handler knows how large it may be.
    File,
}

/// The most that is read where [`Body::Small`] is taken.
const SMALL: usize = 4096;

impl Body {
    /// The limit in bytes.
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

/// How many bytes of the body of this request are read; in the request's extensions once it passed the guard.
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

/// How often one address may use a route, beside `limits.requests_per_second`, which all routes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// That is all.
    Shared,
    /// A WebSocket: messages are slowed down, and a flood ends it.
    Messages,
    /// Requests that fail to log in.
    Logins,
    /// Requests that start or fetch a program.
    Starts,
}

/// Failed logins a minute.
pub const LOGINS: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// Programs that are started or fetched, a minute.
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

/// Who may use a route, with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Who.
    pub access: Access,
    /// With how large a body.
    pub body: Body,
    /// How often.
    pub rate: Rate,
    /// A page or a file, which any site may link to and load.
    pub asset: bool,
    /// Whether pages of `remote_agents.allowed_origins` may use it.
    pub embeds: bool,
    /// Whether a client that can only be given a URL may put its token there.
    pub url_token: bool,
    /// Whether the panel of a chat may use it for its own session.
    pub panel: bool,
}

/// Anyone may use it.
pub const fn public() -> Rule {
    rule(Access::Public)
}

/// Anyone may load it, from any site.
pub const fn asset() -> Rule {
    let mut rule = rule(Access::Public);
    rule.asset = true;
    rule
}

/// It needs a login, or a key with this scope.
pub const fn scope(scope: Scope) -> Rule {
    rule(Access::Scope(scope))
}

/// Its handler checks a token of its own.
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
    /// It takes JSON.
    pub const fn json(self) -> Self {
        self.body(Body::Json)
    }

    /// It takes this body.
    pub const fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// It is limited in this way.
    pub const fn rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// Pages that embed agents use it too.
    pub const fn embeds(mut self) -> Self {
        self.embeds = true;
        self
    }

    /// Its token may be in the URL.
    pub const fn url_token(mut self) -> Self {
        self.url_token = true;
        self
    }

    /// The panel of a chat uses it too, for its own session.
    pub const fn panel(mut self) -> Self {
        self.panel = true;
        self
    }

    /// It is loaded as a page or a file, from any site.
    pub const fn loaded(mut self) -> Self {
        self.asset = true;
        self
    }
}
