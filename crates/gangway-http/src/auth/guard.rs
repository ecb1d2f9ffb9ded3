//! Checks every request before it reaches a protocol: host, origin, size, rate, key.

use std::{
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
};

use axum::{
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use gangway_core::{AppName, secret::hash};

use super::{
    AppApi, GuardSettings,
    admitted::Admitted,
    host_name::host,
    near::{check_near, comes_across},
};
use crate::{
    Http,
    access::{Access, Body, LOGINS, Rate, Rule, STARTS},
    error::ApiError,
    extract::{is_json, not_json},
};

/// Several times what browsers and proxies send.
const HEADERS: usize = 100;

/// The reason for the metrics, and the response.
pub(super) type Refusal = (&'static str, ApiError);

pub struct Guard {
    hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    /// Other origins whose pages may use the API.
    pub(super) guests: Vec<String>,
    /// Origins whose pages may embed remote agents.
    pub(super) embedders: Vec<String>,
    /// Whether every request needs a login or key.
    required: bool,
    /// Whether it serves only this machine.
    local: bool,
    header_bytes: usize,
    pub(super) rates: DefaultKeyedRateLimiter<IpAddr>,
    /// Requests per second and burst, per address.
    rate: (u32, u32),
    failures: DefaultKeyedRateLimiter<IpAddr>,
    /// Programs started or downloaded.
    starts: DefaultKeyedRateLimiter<IpAddr>,
    app_apis: &'static [AppApi],
    /// The token in the data folder, for commands of the same user.
    pub(super) local_token_hash: String,
}

impl Guard {
    #[must_use]
    pub fn new(settings: &GuardSettings<'_>, address: SocketAddr, local_token: &str) -> Self {
        let port = address.port();
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".into(), "[::1]".into()];
        if !address.ip().is_unspecified() && !address.ip().is_loopback() {
            hosts.push(host_of(address.ip()));
        }
        let mut origins: Vec<_> = hosts
            .iter()
            .map(|host| format!("http://{host}:{port}"))
            .collect();
        for host in settings.hosts {
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
        let guests = named(settings.allowed_origins);
        origins.extend(guests.iter().cloned());
        let origins = origins.iter().map(|origin| origin.to_lowercase()).collect();
        let positive = |n: u32| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        let limits = settings.limits;
        let quota = Quota::per_second(positive(limits.requests_per_second))
            .allow_burst(positive(limits.request_burst));
        Self {
            hosts,
            origins,
            guests,
            embedders: named(settings.embed_origins),
            required: settings.required,
            local: address.ip().is_loopback() && settings.hosts.is_empty(),
            header_bytes: limits.header_bytes,
            rates: RateLimiter::keyed(quota),
            rate: (limits.requests_per_second, limits.request_burst),
            failures: RateLimiter::keyed(Quota::per_minute(LOGINS)),
            starts: RateLimiter::keyed(Quota::per_minute(STARTS)),
            app_apis: settings.app_apis,
            local_token_hash: hash(local_token),
        }
    }

    #[must_use]
    pub fn required(&self) -> bool {
        self.required
    }

    pub(super) fn is_local(&self) -> bool {
        self.local
    }

    /// The API that an app has on its own host.
    #[must_use]
    pub fn app_api(&self, app: &AppName) -> Option<AppApi> {
        let mut apis = self.app_apis.iter();
        apis.find(|api| api.app == app.as_str()).copied()
    }

    #[must_use]
    pub fn is_app_api(&self, app: &AppName, path: &str) -> bool {
        let api = self.app_api(app);
        let rest = api.and_then(|api| path.strip_prefix(api.prefix));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Drops idle addresses, so that the tables stay small.
    pub fn sweep(&self) {
        self.rates.retain_recent();
        self.failures.retain_recent();
        self.starts.retain_recent();
    }

    pub(super) fn check(
        &self,
        http: &Http,
        rule: &Rule,
        request: &Request,
        peer: IpAddr,
    ) -> Result<Admitted, Refusal> {
        let headers = request.headers();
        self.check_headers(headers)?;
        if let Some(host) = host(headers)
            && request.uri().authority().is_none()
            && http.addresses.is_ours(&host)
        {
            return self.check_app(http, request, &host, peer);
        }
        self.check_host(request)?;
        let origins = origins(headers);
        let known = |list: &[String]| origins.iter().all(|origin| list.contains(origin));
        // Two Origin headers could name one origin and mean another.
        let foreign =
            origins.len() > 1 || !(known(&self.origins) || rule.embeds && known(&self.embedders));
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
        let upgrades = headers.contains_key(header::UPGRADE);
        let used = !rule.asset || changes || upgrades;
        if foreign && used {
            return Err((
                "origin",
                forbidden(
                    "origin_not_allowed",
                    "pages of this origin may not use this server; if you trust it, add it to `allowed_origins`",
                ),
            ));
        }
        // A page of an allowed origin sends `Origin`; any other cross-site request is refused.
        if comes_across(headers) && origins.is_empty() && used {
            return Err((
                "cross_site",
                forbidden("cross_site_request", "cross-site requests are refused"),
            ));
        }
        let typed = headers.contains_key(header::CONTENT_TYPE) && !is_json(headers);
        if changes && typed && !rule.asset && rule.body != Body::File {
            // Even without a body: a cross-site form always has a content type, and never this one.
            return Err(("content_type", not_json()));
        }
        if self.local {
            check_near(headers)?;
        }
        self.check_rate(peer)?;
        if request.method() == Method::OPTIONS {
            return Ok(Admitted::Anyone);
        }
        let admitted = self.admit(http, rule, request, &origins);
        let admitted = admitted.map_err(|refusal| match rule.embeds {
            true => in_words_of_agents(refusal),
            false => refusal,
        })?;
        // Checked last, so that only authorized callers use up the limit.
        if rule.rate == Rate::Starts && self.starts.check_key(&peer).is_err() {
            let message = format!(
                "this address may start at most {STARTS} programs or agents per minute; wait a minute"
            );
            return Err(too_many(&message, 60));
        }
        Ok(admitted)
    }

    /// Authenticates the caller and checks the rule.
    fn admit(
        &self,
        http: &Http,
        rule: &Rule,
        request: &Request,
        origins: &[String],
    ) -> Result<Admitted, Refusal> {
        let shown = self.shown(http, rule, request, origins);
        let needed = match rule.access {
            // A token for the handler is not a key, and an ended login may still use public routes.
            Access::Public | Access::Token(_) => {
                let nobody = match self.is_off_for(origins) {
                    true => Admitted::Owner,
                    false => Admitted::Anyone,
                };
                return Ok(shown.ok().flatten().unwrap_or(nobody));
            }
            Access::Scope(scope) => scope,
        };
        let admitted = match shown? {
            Some(admitted) => admitted,
            None if self.is_off_for(origins) => Admitted::Owner,
            None => {
                return Err(unauthorized(
                    "missing_key",
                    "log this browser in (gangway open), or send an API key (gangway key create --name NAME --scope SCOPE)",
                ));
            }
        };
        if admitted.may(http, needed) || rule.panel && is_panels(&admitted, request.uri().path()) {
            return Ok(admitted);
        }
        let name = needed.name();
        Err((
            "scope",
            forbidden(
                "scope_required",
                format!("this needs a key with the scope `{name}`"),
            ),
        ))
    }

    /// Whether unauthenticated requests are allowed: on this machine, with authentication off, and not for other
    /// origins.
    fn is_off_for(&self, origins: &[String]) -> bool {
        let others =
            |origin: &String| self.guests.contains(origin) || self.embedders.contains(origin);
        !self.required && !origins.iter().any(others)
    }

    pub(super) fn check_rate(&self, peer: IpAddr) -> Result<(), Refusal> {
        if self.rates.check_key(&peer).is_ok() {
            return Ok(());
        }
        let message = format!(
            "this address may make at most {} requests per second (limits.requests_per_second), {} at once (limits.request_burst); slow down",
            self.rate.0, self.rate.1
        );
        Err(too_many(&message, 1))
    }

    /// Counts a failed login. Successful logins are never limited, so that failures cannot lock the owner out.
    pub fn login_failed(&self, peer: IpAddr) -> ApiError {
        tracing::warn!(address = %peer, "login failed: unknown key or code");
        if self.failures.check_key(&peer).is_err() {
            let message = "too many failed logins from this address; wait a minute";
            return ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
                .retry_after(60);
        }
        ApiError::new(
            StatusCode::UNAUTHORIZED,
            "invalid_key",
            "unknown API key, or unknown or expired login code; get a new code with: gangway open",
        )
    }

    fn check_headers(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        // Cookies do not count: every port of this host can set them, and none is ours.
        let size: usize = headers
            .iter()
            .filter(|(name, _)| *name != header::COOKIE)
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if size > self.header_bytes || headers.len() > HEADERS {
            let most = self.header_bytes;
            let message = format!("at most {HEADERS} headers with {most} bytes in total");
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
        // The request line could name another host than the header.
        if request.uri().authority().is_none()
            && host.is_some_and(|host| self.hosts.contains(&host))
        {
            return Ok(());
        }
        let message =
            "unknown host name; if it is yours, add it to `hosts` in config.yaml and restart";
        Err((
            "host",
            ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", message),
        ))
    }
}

fn too_many(message: &str, seconds: u32) -> Refusal {
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
    ("rate", error.retry_after(seconds))
}

/// All `Origin` headers of a request.
fn origins(headers: &HeaderMap) -> Vec<String> {
    let named = headers.get_all(header::ORIGIN).iter();
    named
        .map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase())
        .collect()
}

/// Whether a path belongs to the panel's session.
fn is_panels(admitted: &Admitted, path: &str) -> bool {
    let Admitted::Panel(session) = admitted else {
        return false;
    };
    let own = format!("/api/sessions/{session}");
    path.strip_prefix(&own)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The same refusal with the error codes of remote agents.
fn in_words_of_agents((reason, mut error): Refusal) -> Refusal {
    if error.status == StatusCode::UNAUTHORIZED.as_u16() {
        let code = match error.error_code.as_str() {
            "missing_key" => "missing_token",
            _ => "invalid_token",
        };
        error = ApiError::new(StatusCode::UNAUTHORIZED, code, error.message);
    }
    (reason, error)
}

pub(super) fn unauthorized(code: &str, message: &str) -> Refusal {
    (
        "key",
        ApiError::new(StatusCode::UNAUTHORIZED, code, message),
    )
}

pub(super) fn forbidden(code: &str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, code, message.into())
}

fn host_of(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}
