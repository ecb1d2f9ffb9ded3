//! Validation of settings beyond their types.

use std::{fmt::Display, net::SocketAddr, ops::RangeInclusive};

use gangway_models::registry::Kind;
use gangway_providers::is_base_url;
use tracing_subscriber::EnvFilter;

use super::{Authentication, Config, ConfigError, booking, relay};

/// Built-in agents.
const OWN_AGENTS: [&str; 2] = ["builtin", "demo"];

const DAY: u64 = 24 * 60 * 60;

impl Config {
    /// Rejects unusable settings; the error has the setting and the allowed values.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.address()?;
        self.log_filter()?;
        for host in &self.hosts {
            ensure(
                is_host(host),
                "hosts",
                host,
                "host names or addresses such as chat.example.com or 192.168.1.7, without scheme and port",
            )?;
        }
        let open = self.authentication == Authentication::OpenToThisMachine;
        ensure(
            !open || self.address()?.ip().is_loopback() && self.hosts.is_empty(),
            "authentication",
            "open-to-this-machine",
            "required, because `listen` or `hosts` makes this server reachable from other machines",
        )?;
        for origin in &self.allowed_origins {
            ensure(
                is_origin(origin),
                "allowed_origins",
                origin,
                "origins such as https://tools.example.com or http://localhost:5173",
            )?;
        }
        self.check_models()?;
        self.check_remote()
            .and_then(|()| booking::check(&self.booking))?;
        let agent = &self.default_agent;
        let known = OWN_AGENTS.contains(&agent.as_str()) || self.agents.contains_key(agent);
        ensure(
            known,
            "default_agent",
            agent,
            "builtin, demo or one of `agents`",
        )?;
        let (sessions, limits) = (&self.sessions, &self.limits);
        // Beyond these a number is a mistake, or more than the libraries can handle.
        within("sessions.idle_seconds", sessions.idle_seconds, 0..=30 * DAY)?;
        within(
            "sessions.queued_prompts",
            sessions.queued_prompts,
            1..=10_000,
        )?;
        within("limits.body_bytes", limits.body_bytes, 1..=1 << 30)?;
        // The HTTP parser reads no larger head.
        within("limits.header_bytes", limits.header_bytes, 1024..=64 << 10)?;
        within("limits.frame_bytes", limits.frame_bytes, 1..=64 << 20)?;
        within("limits.applet_bytes", limits.applet_bytes, 1..=64 << 20)?;
        within("limits.launch_hours", limits.launch_hours, 1..=8760)?;
        within("limits.connections", limits.connections, 1..=1_000_000)?;
        within(
            "limits.requests_per_second",
            limits.requests_per_second,
            1..=u32::MAX,
        )?;
        within("limits.request_burst", limits.request_burst, 1..=u32::MAX)?;
        within(
            "limits.heartbeat_seconds",
            limits.heartbeat_seconds,
            1..=3600,
        )?;
        within("limits.stalled_seconds", limits.stalled_seconds, 1..=3600)?;
        relay::check(&self.relay)
    }

    fn check_models(&self) -> Result<(), ConfigError> {
        for (id, provider) in &self.providers {
            let kind = Kind::from(provider.kind);
            ensure(
                is_provider_id(id) && Kind::from_name(id).is_none_or(|named| named == kind),
                "providers",
                id,
                "at most 40 lowercase letters, digits, _ and -, and not the name of a provider type",
            )?;
            if let Some(url) = &provider.base_url {
                ensure(
                    is_base_url(url),
                    "providers.*.base_url",
                    &gangway_models::shown_url(url),
                    "a URL such as http://localhost:8080/v1",
                )?;
            }
            if let Some(key) = &provider.key {
                // The value may be the key itself, so it is not logged.
                ensure(
                    is_secret_name(key),
                    "providers.*.key",
                    "[not shown]",
                    "the name of a secret or variable such as OPENAI_API_KEY, not the key itself",
                )?;
            }
        }
        for (id, server) in &self.mcp_servers {
            server.check(id)?;
        }
        let tools = &self.tools;
        within("tools.timeout_seconds", tools.timeout_seconds, 1..=3600)?;
        within("tools.at_once", tools.at_once, 1..=1000)?;
        within("tools.calls_per_turn", tools.calls_per_turn, 0..=1000)?;
        within("tools.result_bytes", tools.result_bytes, 1024..=64 << 20)?;
        within("tools.start_seconds", tools.start_seconds, 1..=3600)?;
        within(
            "tools.install_seconds",
            tools.install_seconds,
            1..=24 * 3600,
        )?;
        if let Some(url) = tools.catalog() {
            ensure(
                is_base_url(url),
                "tools.catalog_url",
                &gangway_models::shown_url(url),
                "the URL of an MCP registry, or off",
            )?;
        }
        for folder in &tools.programs {
            ensure(
                folder.is_absolute(),
                "tools.programs",
                &folder.display().to_string(),
                "absolute paths of folders, such as /opt/node/bin",
            )?;
        }
        let models = &self.models;
        if let Some(default) = &models.default {
            let head = default.split('/').next().unwrap_or_default();
            ensure(
                Kind::from_name(head).is_some() || self.providers.contains_key(head),
                "models.default",
                default,
                "a type (ollama, llamafile, openai, anthropic, embedded) or one of `providers`, with or without /MODEL",
            )?;
        }
        within("models.retries", models.retries, 0..=10)?;
        within(
            "models.silence_seconds",
            models.silence_seconds,
            1..=24 * 3600,
        )?;
        let embedded = &models.embedded;
        within(
            "models.embedded.idle_seconds",
            embedded.idle_seconds,
            1..=30 * DAY,
        )?;
        // The engine's maximum number of sequences.
        within("models.embedded.parallel", embedded.parallel, 1..=32)?;
        if let Some(tokens) = embedded.context_tokens {
            within("models.embedded.context_tokens", tokens, 256..=1 << 20)?;
        }
        if let Some(threads) = embedded.threads {
            within("models.embedded.threads", threads, 1..=512)?;
        }
        Ok(())
    }

    pub fn address(&self) -> Result<SocketAddr, ConfigError> {
        let listen = match self.listen.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => self.listen.clone(),
        };
        listen.parse().map_err(|_| {
            refused(
                "listen",
                &self.listen,
                "an address and port such as 127.0.0.1:3000",
            )
        })
    }

    pub fn log_filter(&self) -> Result<EnvFilter, ConfigError> {
        let level = &self.log.level;
        let allowed =
            "error, warn, info, debug, trace, or a filter such as info,gangway_core=debug";
        // A word that is not a level would be parsed as a module name.
        let one_word = level.chars().all(char::is_alphanumeric);
        if one_word
            && level
                .parse::<tracing::level_filters::LevelFilter>()
                .is_err()
        {
            return Err(refused("log.level", level, allowed));
        }
        // The MCP library logs message contents; it is enabled only by name.
        let filter = match level.contains("rmcp") {
            true => level.clone(),
            false => format!("{level},rmcp=off"),
        };
        EnvFilter::try_new(filter).map_err(|_| refused("log.level", level, allowed))
    }
}

fn is_provider_id(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    (1..=40).contains(&id.len()) && id.chars().all(fits)
}

/// Whether this is a name rather than a key by mistake: keys have lowercase letters and digits in a long sequence.
fn is_secret_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(fits) && !name.starts_with("sk-")
}

pub(super) fn within<T: PartialOrd + Display>(
    key: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), ConfigError> {
    let allowed = format!("{} to {}", range.start(), range.end());
    ensure(range.contains(&value), key, &value.to_string(), &allowed)
}

pub(super) fn ensure(
    fits: bool,
    key: &'static str,
    value: &str,
    allowed: &str,
) -> Result<(), ConfigError> {
    if fits {
        Ok(())
    } else {
        Err(refused(key, value, allowed))
    }
}

fn refused(key: &'static str, value: &str, allowed: &str) -> ConfigError {
    ConfigError::Refused {
        key,
        value: value.to_owned(),
        allowed: allowed.to_owned(),
    }
}

/// A host name, an IPv4 address, or an IPv6 address in brackets.
fn is_host(host: &str) -> bool {
    if let Some(inside) = host.strip_prefix('[') {
        return inside
            .strip_suffix(']')
            .is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok());
    }
    !host.is_empty()
        && host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

/// A scheme, a host and an optional port; extensions have their own schemes.
pub(super) fn is_origin(origin: &str) -> bool {
    let origin = origin.strip_suffix('/').unwrap_or(origin);
    let Some((scheme, rest)) = origin.split_once("://") else {
        return false;
    };
    let after_address = rest.rfind(']').unwrap_or(0);
    let (host, port) = match rest.rfind(':') {
        Some(colon) if colon > after_address => (&rest[..colon], Some(&rest[colon + 1..])),
        _ => (rest, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(plain)
        && is_host(host)
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}
