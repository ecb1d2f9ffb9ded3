//! Permission requests of pages.

use std::sync::Arc;

use gangway_core::{Grant, Scope, ToolName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    SiteError, Sites, Visit,
    permissions::{Actor, AskId, CurrentPermissions, Decision, PermissionQuery},
    tools::full_name,
};

/// Maximum number of scopes and tools in one request.
const MOST: usize = 500;

/// A page's request.
#[derive(Debug, Deserialize)]
pub struct PermissionParams {
    scopes: Vec<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    tools: Option<Vec<String>>,
}

impl Sites {
    /// Asks the user for the missing scopes.
    pub async fn request(
        &self,
        visit: &Arc<Visit>,
        params: PermissionParams,
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Value, SiteError> {
        let wanted: Vec<_> = params.scopes.into_iter().take(MOST).collect();
        // An unknown scope, for example of another implementation, cannot be granted or used.
        let scopes = wanted.iter().filter_map(|name| name.parse::<Scope>().ok());
        let scopes: Vec<_> = scopes.filter(|scope| can_use(visit, *scope)).collect();
        if scopes.is_empty() {
            return Ok(answer(&wanted, |_| Grant::NotGranted));
        }
        let mut offered = self.host.tools();
        offered.extend(self.tools_of_pages(visit));
        let tools = params.tools.map(|names| {
            let named = names.iter().take(MOST);
            let read = named.filter_map(|name| full_name(&offered, name).ok());
            read.collect::<Vec<ToolName>>()
        });
        let mut query = PermissionQuery {
            origin: visit.origin.clone(),
            tab: visit.tab.clone(),
            embedder: None,
            scopes,
            reason: params.reason.unwrap_or_default(),
            tools,
            offered,
            server: None,
            hidden: visit.is_locked(),
            session: visit.session_page.session(),
        };
        match visit.may_ask() {
            Ok(embedder) => query.embedder = embedder,
            Err(refused) if self.permissions.would_ask(&query) => return Err(refused),
            Err(_) => {}
        }
        let superseded = visit.superseded();
        let outcome = tokio::select! {
            outcome = self.permissions.request(query, asked) => outcome?,
            () = superseded.cancelled() => {
                return Err(SiteError::aborted("another page in this tab replaced this one"));
            }
        };
        if visit.is_locked() {
            // A visitor who decides has shown that they own this Gangway.
            match outcome.decision {
                Decision::Once | Decision::Always | Decision::Denied => self.unlock(visit).await?,
                _ => return Ok(answer(&wanted, |_| Grant::NotGranted)),
            }
        }
        Ok(shown(visit, &outcome.standing, &wanted))
    }

    /// The user closed the window of a request before it could show anything.
    pub fn window_closed(&self, visit: &Visit, ask: &str) {
        if let Ok(id) = ask.parse() {
            self.permissions.window_closed(&visit.origin, &id);
        }
    }

    /// The result for a page without grants.
    pub(crate) fn no_permissions(visit: &Visit) -> Value {
        let none = Scope::ALL.map(|scope| (scope.to_string(), json!("not-granted")));
        json!({ "origin": visit.origin.as_str(), "scopes": Map::from_iter(none) })
    }

    /// The page's grants.
    pub fn permissions(&self, visit: &Visit) -> Value {
        let standing = self.permissions.standing(&visit.origin);
        let mut shown = shown(visit, &standing, &Scope::ALL.map(|scope| scope.to_string()));
        shown["origin"] = json!(visit.origin.as_str());
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("granted");
        }
        shown
    }
}

/// Whether this page could use a scope if it were granted.
fn can_use(visit: &Visit, scope: Scope) -> bool {
    visit.by == Actor::Extension || !scope.needs_extension()
}

/// The result for scopes by name; an unknown one is not granted.
fn answer(scopes: &[String], of: impl Fn(Scope) -> Grant) -> Value {
    let grant = |name: &String| name.parse().map_or(Grant::NotGranted, &of);
    let grants = scopes
        .iter()
        .map(|name| (name.clone(), json!(grant(name).as_str())));
    let grants: Map<_, _> = grants.collect();
    let granted = scopes.iter().all(|name| grant(name).allows());
    json!({ "granted": granted, "scopes": grants })
}

/// The same with the allowed tools.
fn shown(visit: &Visit, standing: &CurrentPermissions, scopes: &[String]) -> Value {
    let mut answer = answer(scopes, |scope| match can_use(visit, scope) {
        true => standing.of(scope),
        false => Grant::NotGranted,
    });
    if let Some(tools) = &standing.tools {
        let names: Vec<_> = tools.iter().map(ToString::to_string).collect();
        answer["allowedTools"] = json!(names);
    }
    answer
}
