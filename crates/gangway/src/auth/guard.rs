//! What every request passes before it reaches a door: host, origin, size, rate, key.

use std::{
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    time::Instant,
};

use axum::{
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
};
use gangway_core::ToolName;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use subtle::ConstantTimeEq;

use super::{
    host_name::host,
    key::hash,
    login::{self, By},
    name::KeyId,
    paths::{below, check_near, comes_across, in_words_of_agents, is_open, is_remote, takes_files},
    rights::Reach,
};
use crate::{
    config::Config,
    error::ApiError,
    extract::{is_json, not_json},
    server::App,
};

/// Headers in a request at the most: several times what browsers and proxies send.
const HEADERS: usize = 100;

/// The key that let a request in, where one was needed or sent.
#[derive(Debug, Clone)]
pub struct Admitted(pub Option<KeyId>);

impl Admitted {
    /// Whether this tool may be seen and called.
    #[must_use]
    pub fn allows(&self, app: &App, tool: &ToolName) -> bool {
        self.0.as_ref().is_none_or(|key| app.keys.allows(key, tool))
    }

    /// How much of a server it has.
    #[must_use]
    pub fn reach(&self, app: &App, server: &str) -> Reach {
        let key = self.0.as_ref();
        key.map_or(Reach::All, |key| app.keys.reach(key, server))
    }

    /// A name under which calls are counted.
    #[must_use]
    pub fn caller(&self) -> String {
        match &self.0 {
            Some(key) => format!("key:{key}"),
            None => "local".to_owned(),
        }
    }
}

/// A word for the metrics, and what to answer.
pub(super) type Refusal = (&'static str, ApiError);

/// What the guard decides by.
pub struct Guard {
    hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    /// Origins of others, whose pages may read answers too.
    pub(super) guests: Vec<String>,
    /// Origins whose pages may show agents of ours and talk to them.
    pub(super) embedders: Vec<String>,
    /// Whether even the nearest client needs a key.
    pub(super) keys_required: bool,
    header_bytes: usize,
    rates: DefaultKeyedRateLimiter<IpAddr>,
    /// Lets commands of the same user in, from the note in the data folder.
    local_token_hash: String,
}

impl Guard {
    /// Rules for a server at this address.
    #[must_use]
    pub fn new(config: &Config, address: SocketAddr, local_token: &str) -> Self {
        let port = address.port();
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".into(), "[::1]".into()];
        if !address.ip().is_unspecified() && !address.ip().is_loopback() {
            hosts.push(host_of(address.ip()));
        }
        let mut origins: Vec<_> = hosts
            .iter()
            .map(|host| format!("http://{host}:{port}"))
            .collect();
        for host in &config.hosts {
            hosts.push(host.to_lowercase());
            origins.extend([
                format!("https://{host}"),
                format!("http://{host}"),
                format!("http://{host}:{port}"),
                format!("https://{host}:{port}"),
            ]);
        }
        let named = |list: &[String]| -> Vec<String> {
            let origins = list.iter();
            origins
                .map(|origin| origin.trim_end_matches('/').to_lowercase())
                .collect()
        };
        let guests = named(&config.allowed_origins);
        origins.extend(guests.iter().cloned());
        let origins = origins.iter().map(|origin| origin.to_lowercase()).collect();
        let positive = |n: u32| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(positive(config.limits.requests_per_second))
            .allow_burst(positive(config.limits.request_burst));
        Self {
            hosts,
            origins,
            guests,
            embedders: named(&config.remote_agents.allowed_origins),
            keys_required: !address.ip().is_loopback() || !config.hosts.is_empty(),
            header_bytes: config.limits.header_bytes,
            rates: RateLimiter::keyed(quota),
            local_token_hash: hash(local_token),
        }
    }

    /// Whether every client needs a key.
    #[must_use]
    pub fn keys_required(&self) -> bool {
        self.keys_required
    }

    /// Forgets addresses that have been quiet, so that the table stays small.
    pub fn sweep(&self) {
        self.rates.retain_recent();
    }

    pub(super) fn check(
        &self,
        app: &App,
        request: &Request,
        peer: IpAddr,
    ) -> Result<Admitted, Refusal> {
        let headers = request.headers();
        let path = request.uri().path();
        self.check_headers(headers)?;
        if let Some(host) = host(headers)
            && request.uri().authority().is_none()
            && app.addresses.is_ours(&host)
        {
            return self.check_app(app, request, &host, peer);
        }
        self.check_host(request)?;
        let is_api = ["/api", "/v1", "/mcp", "/ws", "/agent", "/metrics"]
            .iter()
            .any(|root| below(root, path));
        let origins: Vec<_> = headers
            .get_all(header::ORIGIN)
            .iter()
            .map(|v| String::from_utf8_lossy(v.as_bytes()).to_lowercase())
            .collect();
        // Two of them are a way to say one name and mean another.
        let embeds = is_remote(path) && origins.iter().all(|o| self.embedders.contains(o));
        let ours = origins.iter().all(|o| self.origins.contains(o));
        let foreign = origins.len() > 1 || !(ours || embeds);
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
        let upgrades = headers.contains_key(header::UPGRADE);
        if foreign && (is_api || changes || upgrades) {
            return Err((
                "origin",
                forbidden(
                    "origin_not_allowed",
                    "pages of this origin may not use this server; add it to allowed_origins if you trust it",
                ),
            ));
        }
        let across = comes_across(headers);
        // A page of an allowed origin says so; anything else that comes from another site is not meant well.
        if across && origins.is_empty() && (is_api || changes || upgrades) {
            return Err((
                "cross_site",
                forbidden(
                    "cross_site_request",
                    "requests from other sites are refused",
                ),
            ));
        }
        let typed = headers.contains_key(header::CONTENT_TYPE) && !is_json(headers);
        if is_api && changes && typed && !takes_files(path) {
            // Also where no body is read: a form of another site always names a type, and never this one.
            return Err(("content_type", not_json()));
        }
        self.check_rate(peer)?;
        if is_api && !is_open(path) && request.method() != Method::OPTIONS {
            // Who makes keys shows one, even where nothing else needs any: a key outlives every other leave.
            // So does who makes this server start programs.
            let keys = ["/api/keys", "/api/login/codes", "/api/relay/tokens"]
                .iter()
                .any(|root| below(root, path));
            let programs = ["/api/mcp", "/api/projects", "/api/personas"]
                .iter()
                .any(|root| below(root, path))
                && !below("/api/mcp/questions", path);
            let unexplained = changes && origins.is_empty();
            // So does who decides what pages may do, unless a page of ours says so: else a page could have somebody's
            // tool fetch its own permission.
            let guest = origins.iter().any(|origin| self.guests.contains(origin));
            let decides = below("/api/permissions", path) && changes && (unexplained || guest);
            // Agents are made and ended by whoever has a key, as soon as there is one; and always when the page of
            // another site asks.
            let keyed = is_remote(path) && (!ours || guest || !app.keys.list().is_empty());
            let always = keys || (changes && programs) || decides || keyed;
            let admitted = self.check_key(app, headers, always, unexplained);
            let admitted = admitted.and_then(|admitted| self.check_reach(app, admitted, path));
            return admitted.map_err(|refusal| match is_remote(path) {
                true => in_words_of_agents(refusal),
                false => refusal,
            });
        }
        Ok(Admitted(None))
    }

    pub(super) fn check_rate(&self, peer: IpAddr) -> Result<(), Refusal> {
        if self.rates.check_key(&peer).is_ok() {
            return Ok(());
        }
        let message = "too many requests from this address; slow down";
        let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
        Err(("rate", error.retry_after(1)))
    }

    fn check_headers(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let size: usize = headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if size > self.header_bytes || headers.len() > HEADERS {
            let most = self.header_bytes;
            let message =
                format!("the headers are larger than {most} bytes or more than {HEADERS}");
            return Err((
                "headers",
                ApiError::new(
                    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                    "headers_too_large",
                    message,
                ),
            ));
        }
        Ok(())
    }

    fn check_host(&self, request: &Request) -> Result<(), Refusal> {
        let host = host(request.headers());
        // Another one in the request line is a way to say one name and mean another, too.
        if request.uri().authority().is_none()
            && host.is_some_and(|host| self.hosts.contains(&host))
        {
            return Ok(());
        }
        let message = "this server does not answer to that host name; if it is yours, add it to `hosts` in config.yaml and start again";
        Err((
            "host",
            ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", message),
        ))
    }

    fn check_key(
        &self,
        app: &App,
        headers: &HeaderMap,
        always: bool,
        unexplained_change: bool,
    ) -> Result<Admitted, Refusal> {
        let unauthorized = |code: &str, message: &str| {
            (
                "key",
                ApiError::new(StatusCode::UNAUTHORIZED, code, message),
            )
        };
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            let bearer = value.to_str().ok().and_then(|v| {
                v.strip_prefix("Bearer ")
                    .or_else(|| v.strip_prefix("bearer "))
            });
            let key = bearer.map(str::trim).unwrap_or_default();
            let unknown = || unauthorized("invalid_key", "this API key is not known");
            return self.admit(app, key).ok_or_else(unknown);
        }
        if let Some(key) = offered_key(headers) {
            let unknown = || unauthorized("invalid_key", "this API key is not known");
            return self.admit(app, key).ok_or_else(unknown);
        }
        if !self.keys_required && !always {
            return check_near(headers).map(|()| Admitted(None));
        }
        let mut tokens = login::tokens(headers).peekable();
        if tokens.peek().is_none() {
            return Err(unauthorized(
                "missing_key",
                "send an API key (gangway key create --name NAME makes one), or log this page in (gangway login)",
            ));
        };
        if unexplained_change {
            // A cookie travels with any request; only an origin of ours shows that a page of ours sent it.
            return Err((
                "cookie_only",
                forbidden(
                    "origin_required",
                    "a change that is authorised by a cookie needs an Origin header",
                ),
            ));
        }
        // A page of another port may have left a cookie of the same name beside ours.
        let by = tokens.find_map(|token| app.logins.by(token, Instant::now()));
        // A key that was revoked takes its log-ins with it.
        let ended = || unauthorized("login_ended", "this log-in has ended; log in again");
        match by {
            Some(By::Code) => Ok(Admitted(None)),
            Some(By::Key(key)) if app.keys.has(&key) => Ok(Admitted(Some(key))),
            _ => Err(ended()),
        }
    }

    /// Who sent a request to an open path, where that shows.
    #[must_use]
    pub fn knows(&self, app: &App, headers: &HeaderMap, path: &str) -> Option<Admitted> {
        let admitted = self.check_key(app, headers, false, false).ok()?;
        self.check_reach(app, admitted, path).ok()
    }

    /// A key that is for tools alone opens nothing else: whoever may talk to an agent may have it call any tool.
    fn check_reach(&self, app: &App, admitted: Admitted, path: &str) -> Result<Admitted, Refusal> {
        let for_tools = ["/mcp", "/api/tools"].iter().any(|root| below(root, path));
        match &admitted.0 {
            Some(key) if !for_tools && app.keys.is_for_tools(key) => Err((
                "key_for_tools",
                forbidden(
                    "key_for_tools",
                    "this key is for tools alone: /mcp and /api/tools; use another one",
                ),
            )),
            _ => Ok(admitted),
        }
    }

    /// The key's id, or none for a command of the same user, which no key let in.
    fn admit(&self, app: &App, key: &str) -> Option<Admitted> {
        let local = self.local_token_hash.as_bytes().ct_eq(hash(key).as_bytes());
        let known = app.keys.find(key);
        (bool::from(local) || known.is_some()).then_some(Admitted(known))
    }
}

/// The key among the subprotocols of a WebSocket: the only place where a page can put one.
fn offered_key(headers: &HeaderMap) -> Option<&str> {
    let offered = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let mut names = offered.split(',').map(str::trim);
    names.find_map(|name| name.strip_prefix("gangway.key."))
}

pub(super) fn forbidden(code: &str, message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, code, message)
}

fn host_of(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}
