//! MCP servers of sites: consent, connecting, and removal.

use std::time::Duration;

use gangway_core::{Origin, Scope, secret::hash};
use gangway_mcp::{ServerId, UrlPolicy, for_page};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    SiteError, Sites, Stream, Visit,
    permissions::{AskId, Decision, PermissionQuery, PermissionUse, ProvidedServer},
    servers::{CONNECT, Registered, Servers, TOOLS},
};

/// Maximum number of servers per site, and in total.
const PER_ORIGIN: usize = 5;
const MOST: usize = 50;

/// How long "allow once" lasts.
const ONCE: Duration = Duration::from_secs(600);

/// An MCP server that a page provides.
#[derive(Debug, Deserialize)]
pub struct Registration {
    /// Where it is.
    pub url: String,
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// The only tools to use.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The transport, if the page names one.
    #[serde(default)]
    pub transport: Option<String>,
}

/// The result of a failed registration.
fn failed(code: &str, message: impl Into<String>) -> Value {
    json!({ "success": false, "error": { "code": code, "message": message.into() } })
}

/// Candidate names for a server, shortest first, so that a name in use does not prevent a registration.
fn names(origin: &Origin, registration: &Registration) -> Vec<ServerId> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let lower = registration.name.to_lowercase();
    let words = lower.split(|c| !fits(c)).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-");
    slug.truncate(30);
    if slug.is_empty() {
        slug = "site".to_owned();
    }
    let mark = hash(&format!("{origin} {}", registration.url));
    let named = [6, 12, 24].map(|length| format!("{slug}-{}", &mark[..length]));
    named.iter().filter_map(|name| name.parse().ok()).collect()
}

/// A registration in progress; dropping it before the server is ready removes the server.
struct Registering<'a> {
    servers: &'a Servers,
    id: ServerId,
}

impl Drop for Registering<'_> {
    fn drop(&mut self) {
        let mut known = self.servers.lock();
        if known.servers.get(&self.id).is_some_and(|one| !one.ready) {
            known.servers.remove(&self.id);
        }
    }
}

impl Sites {
    /// Registers a site's server once the user allows it and it responds.
    pub async fn register(
        &self,
        stream: &Stream,
        mut registration: Registration,
        own_ports: &[u16],
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Value, SiteError> {
        let visit = &stream.visit;
        let origin = &visit.origin;
        self.permissions.check(origin, Scope::ServersRegister)?;
        let known = ["http", "https", "sse", "streamable-http"];
        if let Some(other) = registration
            .transport
            .as_deref()
            .filter(|t| !known.contains(t))
        {
            let shown: String = other.chars().take(40).collect();
            let message = format!("pages cannot register MCP servers with the transport {shown:?}");
            return Ok(failed("NOT_SUPPORTED", message));
        }
        // The user is asked about the URL as it is connected to, not as the page wrote it.
        let policy = match for_page(&registration.url, origin.as_str(), own_ports) {
            Ok((url, policy)) => {
                registration.url = url;
                policy
            }
            Err(refused) => return Ok(failed("INVALID_URL", refused.to_string())),
        };
        let Some(id) = self.servers.free(origin, names(origin, &registration)) else {
            return Err(SiteError::too_many(
                "other sites have registered MCP servers of this name",
            ));
        };
        if self.servers.has(origin, id.as_str()) {
            return Ok(json!({ "success": true, "serverId": id.as_str() }));
        }
        let stopped = || SiteError::aborted("the registration was aborted");
        let superseded = visit.superseded();
        let decision = tokio::select! {
            outcome = self.consent(visit, &registration, asked) => outcome?,
            () = stream.stop.cancelled() => return Err(stopped()),
            () = superseded.cancelled() => return Err(stopped()),
        };
        // The user may have denied all of them in the meantime.
        self.permissions.check(origin, Scope::ServersRegister)?;
        let until = match decision {
            Decision::Once => Some(Instant::now() + ONCE),
            Decision::Always => None,
            Decision::NothingToAsk if self.permissions.keeps_server(origin, &registration.url) => {
                None
            }
            _ => {
                let message = "the user denied this MCP server";
                return Ok(failed("USER_DENIED", message));
            }
        };
        let registering = self.enter_server(origin, id.clone(), &registration, policy, until)?;
        self.servers.send().await;
        let ready = async {
            match tokio::time::timeout(CONNECT, self.servers.host.ready(&id)).await {
                Ok(Ok(())) => None,
                Ok(Err(message)) => Some(message),
                Err(_) => Some("the server does not respond".to_owned()),
            }
        };
        let problem = tokio::select! {
            problem = ready => Ok(problem),
            () = stream.stop.cancelled() => Err(stopped()),
        };
        if let Ok(None) = problem {
            self.servers.ready(&id);
        }
        drop(registering);
        self.servers.send().await;
        // The query may contain a secret of the site.
        let shown = registration.url.split('?').next().unwrap_or_default();
        let used = PermissionUse {
            scope: Scope::ServersRegister,
            what: format!("mcp.register {shown}"),
            outcome: match &problem {
                Ok(None) => "ok",
                Ok(Some(_)) => "CONNECTION_FAILED",
                Err(error) => error.code,
            },
            by: visit.by,
        };
        self.permissions.note(origin, used);
        Ok(match problem? {
            None => json!({ "success": true, "serverId": id.as_str() }),
            Some(message) => failed("CONNECTION_FAILED", message),
        })
    }

    /// Asks the user about a server.
    async fn consent(
        &self,
        visit: &Visit,
        registration: &Registration,
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Decision, SiteError> {
        let server = ProvidedServer {
            url: registration.url.clone(),
            name: registration.name.clone(),
            description: registration.description.clone(),
            tools: registration.tools.clone().unwrap_or_default(),
        };
        let mut query = PermissionQuery {
            origin: visit.origin.clone(),
            tab: visit.tab.clone(),
            embedder: None,
            scopes: Vec::new(),
            reason: String::new(),
            tools: None,
            offered: Vec::new(),
            server: Some(server),
            hidden: false,
            session: visit.session_page.session(),
        };
        match visit.may_ask() {
            Ok(embedder) => query.embedder = embedder,
            Err(refused) if self.permissions.would_ask(&query) => return Err(refused),
            Err(_) => {}
        }
        Ok(self.permissions.request(query, asked).await?.decision)
    }

    /// Makes room for a new server.
    fn enter_server(
        &self,
        origin: &Origin,
        id: ServerId,
        registration: &Registration,
        policy: UrlPolicy,
        until: Option<Instant>,
    ) -> Result<Registering<'_>, SiteError> {
        let mut known = self.servers.lock();
        // One of them is connecting, or has expired and is being removed.
        if known.servers.contains_key(&id) {
            let message = "this server is being registered or removed; try again in a moment";
            return Err(SiteError::too_many(message));
        }
        let own = known.servers.values().filter(|one| one.origin == *origin);
        if own.count() >= PER_ORIGIN || known.servers.len() >= MOST {
            let message = "too many MCP servers are registered; unregister one";
            return Err(SiteError::too_many(message));
        }
        let named = registration.tools.clone();
        let registered = Registered {
            origin: origin.clone(),
            url: registration.url.clone(),
            policy,
            tools: named.map(|names| names.into_iter().take(TOOLS).collect()),
            ready: false,
            until,
        };
        known.servers.insert(id.clone(), registered);
        Ok(Registering {
            servers: &self.servers,
            id,
        })
    }

    /// Unregisters a site's server.
    pub async fn unregister(&self, visit: &Visit, server: &str) -> Result<Value, SiteError> {
        let origin = &visit.origin;
        self.permissions.check(origin, Scope::ServersRegister)?;
        match server.parse::<ServerId>() {
            Ok(id) if self.servers.has(origin, id.as_str()) => {
                self.servers.remove(&id).await;
                Ok(json!({ "success": true }))
            }
            _ => Ok(json!({ "success": false })),
        }
    }
}
