//! Pages that ask for permissions.

use std::sync::Arc;

use gangway_core::{Grant, Scope, ToolName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    SiteError, Sites, Visit,
    permissions::{AskId, By, Decision, Standing, Wish},
    tools::full_name,
};

/// Scopes and tools in one request.
const MOST: usize = 500;

/// What a page asks for.
#[derive(Debug, Deserialize)]
pub struct PermissionWish {
    scopes: Vec<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    tools: Option<Vec<String>>,
}

impl Sites {
    /// Asks the person for what is missing.
    pub async fn request(
        &self,
        visit: &Arc<Visit>,
        wish: PermissionWish,
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Value, SiteError> {
        let wanted: Vec<_> = wish.scopes.into_iter().take(MOST).collect();
        // A scope of another implementation is one that nobody can grant, and so is one that this page could not use.
        let scopes = wanted.iter().filter_map(|name| name.parse::<Scope>().ok());
        let scopes: Vec<_> = scopes.filter(|scope| can_use(visit, *scope)).collect();
        if scopes.is_empty() {
            return Ok(answer(&wanted, |_| Grant::NotGranted));
        }
        let offered = self.host.tools();
        let tools = wish.tools.map(|names| {
            let named = names.iter().take(MOST);
            let read = named.filter_map(|name| full_name(&offered, name).ok());
            read.collect::<Vec<ToolName>>()
        });
        let mut wish = Wish {
            origin: visit.origin.clone(),
            tab: visit.tab.clone(),
            embedder: None,
            scopes,
            reason: wish.reason.unwrap_or_default(),
            tools,
            offered,
            server: None,
            hidden: visit.is_locked(),
        };
        match visit.may_ask() {
            Ok(embedder) => wish.embedder = embedder,
            Err(refused) if self.permissions.would_ask(&wish) => return Err(refused),
            Err(_) => {}
        }
        let superseded = visit.superseded();
        let outcome = tokio::select! {
            outcome = self.permissions.request(wish, asked) => outcome?,
            () = superseded.cancelled() => {
                return Err(SiteError::aborted("another page of this tab took its place"));
            }
        };
        if visit.is_locked() {
            // Whoever decides has shown that this Gangway is theirs.
            match outcome.decision {
                Decision::Once | Decision::Always | Decision::Denied => self.unlock(visit).await?,
                _ => return Ok(answer(&wanted, |_| Grant::NotGranted)),
            }
        }
        Ok(shown(visit, &outcome.standing, &wanted))
    }

    /// The window of a question was closed by the person before it could show anything.
    pub fn window_closed(&self, visit: &Visit, ask: &str) {
        if let Ok(id) = ask.parse() {
            self.permissions.window_closed(&visit.origin, &id);
        }
    }

    /// What a page has to which nothing was granted.
    pub(crate) fn no_permissions(visit: &Visit) -> Value {
        let none = Scope::ALL.map(|scope| (scope.to_string(), json!("not-granted")));
        json!({ "origin": visit.origin.as_str(), "scopes": Map::from_iter(none) })
    }

    /// What a page has.
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

/// Whether this page could use a scope if it had it.
fn can_use(visit: &Visit, scope: Scope) -> bool {
    visit.by == By::Extension || !scope.needs_extension()
}

/// The answer for scopes by name; one that there is not is not granted.
fn answer(scopes: &[String], of: impl Fn(Scope) -> Grant) -> Value {
    let grant = |name: &String| name.parse().map_or(Grant::NotGranted, &of);
    let grants = scopes
        .iter()
        .map(|name| (name.clone(), json!(grant(name).as_str())));
    let grants: Map<_, _> = grants.collect();
    let granted = scopes.iter().all(|name| grant(name).allows());
    json!({ "granted": granted, "scopes": grants })
}

/// The same with the tools that may be called.
fn shown(visit: &Visit, standing: &Standing, scopes: &[String]) -> Value {
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
