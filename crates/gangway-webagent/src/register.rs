//! Registering a site's own MCP server: asked about, connected to, or forgotten.

use std::time::Duration;

use gangway_core::{Origin, Scope, secret::hash};
use gangway_mcp::{ServerId, UrlPolicy, for_page};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    SiteError, Sites, Stream, Visit,
    permissions::{AskId, Decision, Used, Wish, WishedServer},
    servers::{CONNECT, Registered, Servers, TOOLS},
};

/// Servers of one site, and of all.
const PER_ORIGIN: usize = 5;
const MOST: usize = 50;

/// How long a yes for once lasts.
const ONCE: Duration = Duration::from_secs(600);

/// A server that a page wants to bring along.
#[derive(Debug, Deserialize)]
pub struct Registration {
    /// Where it is.
    pub url: String,
    /// What to call it.
    pub name: String,
    /// What it is good for.
    #[serde(default)]
    pub description: Option<String>,
    /// The only tools of it that are wanted.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// How it is spoken to, where the page says so.
    #[serde(default)]
    pub transport: Option<String>,
}

/// What a page is told of a registration that came to nothing.
fn failed(code: &str, message: impl Into<String>) -> Value {
    json!({ "success": false, "error": { "code": code, "message": message.into() } })
}

/// Names for a server, from the shortest on: whoever has the same one already does not keep another from having one.
fn names(origin: &Origin, wish: &Registration) -> Vec<ServerId> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let lower = wish.name.to_lowercase();
    let words = lower.split(|c| !fits(c)).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-");
    slug.truncate(30);
    if slug.is_empty() {
        slug = "site".to_owned();
    }
    let mark = hash(&format!("{origin} {}", wish.url));
    let named = [6, 12, 24].map(|length| format!("{slug}-{}", &mark[..length]));
    named.iter().filter_map(|name| name.parse().ok()).collect()
}

/// A server that is being registered; one that does not come to be ready is forgotten.
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
    /// Registers a site's server, once the person agrees and it answers.
    pub async fn register(
        &self,
        stream: &Stream,
        mut wish: Registration,
        own_ports: &[u16],
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Value, SiteError> {
        let visit = &stream.visit;
        let origin = &visit.origin;
        self.permissions.check(origin, Scope::ServersRegister)?;
        let known = ["http", "https", "sse", "streamable-http"];
        if let Some(other) = wish.transport.as_deref().filter(|t| !known.contains(t)) {
            let shown: String = other.chars().take(40).collect();
            let words = format!("pages cannot register MCP servers with the transport {shown:?}");
            return Ok(failed("NOT_SUPPORTED", words));
        }
        // The address is asked about as it is connected to, not as the page spells it.
        let policy = match for_page(&wish.url, origin.as_str(), own_ports) {
            Ok((url, policy)) => {
                wish.url = url;
                policy
            }
            Err(refused) => return Ok(failed("INVALID_URL", refused.to_string())),
        };
        let Some(id) = self.servers.free(origin, names(origin, &wish)) else {
            return Err(SiteError::too_many(
                "other sites have registered MCP servers of this name",
            ));
        };
        if self.servers.has(origin, id.as_str()) {
            return Ok(json!({ "success": true, "serverId": id.as_str() }));
        }
        let stopped = || SiteError::aborted("this was aborted");
        let superseded = visit.superseded();
        let decision = tokio::select! {
            outcome = self.consent(visit, &wish, asked) => outcome?,
            () = stream.stop.cancelled() => return Err(stopped()),
            () = superseded.cancelled() => return Err(stopped()),
        };
        // Meanwhile the person may have decided otherwise about all of them.
        self.permissions.check(origin, Scope::ServersRegister)?;
        let until = match decision {
            Decision::Once => Some(Instant::now() + ONCE),
            Decision::Always => None,
            Decision::NothingToAsk if self.permissions.keeps_server(origin, &wish.url) => None,
            _ => {
                let words = "the person denied this MCP server";
                return Ok(failed("USER_DENIED", words));
            }
        };
        let registering = self.enter_server(origin, id.clone(), &wish, policy, until)?;
        self.servers.tell().await;
        let ready = async {
            match tokio::time::timeout(CONNECT, self.servers.host.ready(&id)).await {
                Ok(Ok(())) => None,
                Ok(Err(words)) => Some(words),
                Err(_) => Some("the server does not answer".to_owned()),
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
        self.servers.tell().await;
        // What follows a question mark may be a secret of the site.
        let shown = wish.url.split('?').next().unwrap_or_default();
        let used = Used {
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
            Some(words) => failed("CONNECTION_FAILED", words),
        })
    }

    /// Asks the person about one server.
    async fn consent(
        &self,
        visit: &Visit,
        wish: &Registration,
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Decision, SiteError> {
        let server = WishedServer {
            url: wish.url.clone(),
            name: wish.name.clone(),
            description: wish.description.clone(),
            tools: wish.tools.clone().unwrap_or_default(),
        };
        let mut wish = Wish {
            origin: visit.origin.clone(),
            tab: visit.tab.clone(),
            embedder: None,
            scopes: Vec::new(),
            reason: String::new(),
            tools: None,
            offered: Vec::new(),
            server: Some(server),
            hidden: false,
        };
        match visit.may_ask() {
            Ok(embedder) => wish.embedder = embedder,
            Err(refused) if self.permissions.would_ask(&wish) => return Err(refused),
            Err(_) => {}
        }
        Ok(self.permissions.request(wish, asked).await?.decision)
    }

    /// Makes room for a server that is to be connected to.
    fn enter_server(
        &self,
        origin: &Origin,
        id: ServerId,
        wish: &Registration,
        policy: UrlPolicy,
        until: Option<Instant>,
    ) -> Result<Registering<'_>, SiteError> {
        let mut known = self.servers.lock();
        // One of them is being connected to, or its time is over and it goes.
        if known.servers.contains_key(&id) {
            let words = "this server is being registered or removed; try again in a moment";
            return Err(SiteError::too_many(words));
        }
        let own = known.servers.values().filter(|one| one.origin == *origin);
        if own.count() >= PER_ORIGIN || known.servers.len() >= MOST {
            let words = "too many MCP servers are registered; unregister one";
            return Err(SiteError::too_many(words));
        }
        let named = wish.tools.clone();
        let registered = Registered {
            origin: origin.clone(),
            url: wish.url.clone(),
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

    /// Takes a site's server away again.
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
