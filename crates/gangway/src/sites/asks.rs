//! Pages that ask for permissions.

use std::sync::Arc;

use gangway_core::{Scope, ToolName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{SiteError, Sites, Visit};
use crate::permissions::{AskId, Decision, Standing, Wish};

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
        let scopes = wish.scopes.iter().take(MOST).map(|name| {
            name.parse::<Scope>()
                .map_err(|wrong| SiteError::new("ERR_SCOPE_REQUIRED", wrong.to_string()))
        });
        let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
        let tools = wish.tools.map(|names| {
            let read = names.iter().take(MOST).filter_map(|name| name.parse().ok());
            read.collect::<Vec<ToolName>>()
        });
        let outcome = self
            .permissions
            .request(
                Wish {
                    origin: visit.origin.clone(),
                    tab: visit.tab.clone(),
                    scopes: scopes.clone(),
                    reason: wish.reason.unwrap_or_default(),
                    tools,
                    offered: self.host.tools(),
                    server: None,
                    hidden: visit.is_locked(),
                },
                asked,
            )
            .await?;
        if visit.is_locked() {
            // Whoever decides has shown that this Gangway is theirs.
            match outcome.decision {
                Decision::Once | Decision::Always => self.unlock(visit).await?,
                _ => {
                    let none = scopes
                        .iter()
                        .map(|scope| (scope.to_string(), json!("not-granted")));
                    let none: Map<_, _> = none.collect();
                    return Ok(json!({ "granted": false, "scopes": none }));
                }
            }
        }
        Ok(shown(&outcome.standing, &scopes))
    }

    /// What a page has.
    pub fn permissions(&self, visit: &Visit) -> Value {
        let standing = self.permissions.standing(&visit.origin);
        let mut shown = shown(&standing, &Scope::ALL);
        shown["origin"] = json!(visit.origin.as_str());
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("granted");
        }
        shown
    }
}

/// The answer for some scopes.
fn shown(standing: &Standing, scopes: &[Scope]) -> Value {
    let grants: Map<_, _> = scopes
        .iter()
        .map(|scope| (scope.to_string(), json!(standing.of(*scope).to_string())))
        .collect();
    let granted = scopes.iter().all(|scope| standing.of(*scope).allows());
    let mut answer = json!({ "granted": granted, "scopes": grants });
    if let Some(tools) = &standing.tools {
        let names: Vec<_> = tools.iter().map(ToString::to_string).collect();
        answer["allowedTools"] = json!(names);
    }
    answer
}
