//! The stored grants of an origin, and changes to them.

use std::collections::{BTreeMap, BTreeSet};

use gangway_core::{
    Error, Grant, GrantDuration, Origin, Scope, TabId, ToolName,
    store::{Expect, Put},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Permissions, State, expiry::note_end, query::Decision, wire::GrantEnds};

/// Their key in the store.
pub(super) const PREFIX: &str = "grant/";

/// Maximum number of origins: more than a user decides about, few enough to hold and to display.
pub(super) const MOST: usize = 1000;

/// The stored grants of one origin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredGrants {
    /// Scopes that are always allowed, and denied ones.
    pub(super) scopes: BTreeMap<Scope, Grant>,
    /// The tools that the always-allowed scopes cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<BTreeSet<ToolName>>,
    /// The MCP servers that it may provide.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) servers: BTreeSet<String>,
    /// Expiries of those that expire.
    #[serde(default, skip_serializing_if = "GrantEnds::is_empty")]
    pub(super) ends: GrantEnds,
}

/// A change of stored grants and of "allow once".
#[derive(Debug, Clone)]
pub(super) enum GrantEdit {
    /// The user answered a request.
    Answered(AnsweredRequest),
    /// The user set the permissions.
    Set(Settings),
    /// The user deleted everything.
    Forget,
}

/// An answer and its request.
#[derive(Debug, Clone)]
pub(super) struct AnsweredRequest {
    pub(super) decision: Decision,
    pub(super) scopes: BTreeSet<Scope>,
    pub(super) shown: BTreeSet<ToolName>,
    pub(super) checked: Option<BTreeSet<ToolName>>,
    pub(super) server: Option<String>,
    pub(super) tabs: BTreeSet<TabId>,
    /// When "always allow" expires.
    pub(super) end: Option<Timestamp>,
}

/// New settings; absent values stay.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// By scope; `granted-once` cannot be set.
    pub scopes: BTreeMap<Scope, Grant>,
    /// The only tools that it may use.
    pub tools: Option<Vec<ToolName>>,
    /// The only servers that it may provide without a request.
    pub servers: Option<Vec<String>>,
    /// How long grants last.
    pub duration: GrantDuration,
}

/// Why a change was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantChangeError {
    /// Too many origins.
    #[error(
        "at most {MOST} sites can have permissions; revoke some of them on the Permissions page or with `gangway permissions revoke`"
    )]
    TooManyOrigins,
    /// A list of tools without a scope.
    #[error(
        "a list of tools requires mcp:tools.call or model:tools; set one of them to granted-always"
    )]
    NoScopeForTools,
    /// `granted-once` can only be an answer to a request.
    #[error("{0} cannot be set to granted-once; only the answer to a site's request can do that")]
    NotOnce(Scope),
    /// Anyone on the network could impersonate the origin later.
    #[error(
        "{0} can only be allowed once: without HTTPS, anyone on the network can impersonate it"
    )]
    NotAuthenticated(Origin),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

impl StoredGrants {
    /// Whether it allows anything.
    pub(super) fn allows(&self) -> bool {
        self.scopes.values().any(|grant| grant.allows()) || !self.servers.is_empty()
    }

    fn uses_tools(&self) -> bool {
        let always = |(scope, grant): (&Scope, &Grant)| scope.is_for_tools() && grant.allows();
        self.scopes.iter().any(always)
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn answer(&mut self, answer: &AnsweredRequest) {
        let always = answer.decision == Decision::Always;
        let grant = match answer.decision {
            Decision::Always => Some(Grant::Always),
            Decision::Denied => Some(Grant::Denied),
            _ => None,
        };
        for (scope, grant) in answer.scopes.iter().zip(std::iter::repeat(grant)) {
            if let Some(grant) = grant {
                self.scopes.insert(*scope, grant);
                note_end(&mut self.ends.scopes, *scope, answer.end.filter(|_| always));
            }
        }
        if let Some(checked) = &answer.checked {
            if let Some(tools) = &mut self.tools {
                // What the user deselected is not allowed, despite earlier answers.
                tools.retain(|tool| checked.contains(tool) || !answer.shown.contains(tool));
            }
            if always && self.uses_tools() {
                let tools = self.tools.get_or_insert_default();
                for tool in checked {
                    tools.insert(tool.clone());
                    note_end(&mut self.ends.tools, tool.clone(), answer.end);
                }
            }
        }
        if let Some(server) = answer.server.clone().filter(|_| always) {
            self.servers.insert(server.clone());
            note_end(&mut self.ends.servers, server, answer.end);
        }
        self.tidy();
    }

    fn set(&mut self, settings: &Settings, now: Timestamp) -> Result<(), GrantChangeError> {
        let end = settings.duration.end(now);
        for (scope, grant) in &settings.scopes {
            match grant {
                Grant::Once => return Err(GrantChangeError::NotOnce(*scope)),
                Grant::NotGranted => self.scopes.remove(scope),
                Grant::Always | Grant::Denied => self.scopes.insert(*scope, *grant),
            };
            note_end(
                &mut self.ends.scopes,
                *scope,
                end.filter(|_| grant.allows()),
            );
            if *scope == Scope::ServersRegister {
                match grant.allows() {
                    true => end_all(&mut self.ends.servers, &self.servers, end),
                    false => self.servers.clear(),
                }
            }
        }
        let about_tools = |(scope, grant): (&Scope, &Grant)| scope.is_for_tools() && grant.allows();
        if let Some(tools) = self
            .tools
            .clone()
            .filter(|_| settings.scopes.iter().any(about_tools))
        {
            // The list applies to both scopes, so it lasts as long as the longer one.
            let scopes = self.scopes.iter().filter(|entry| about_tools(*entry));
            let ends: Option<Vec<_>> = scopes
                .map(|(scope, _)| self.ends.scopes.get(scope))
                .collect();
            let end = ends.and_then(|ends| ends.into_iter().max().copied());
            end_all(&mut self.ends.tools, &tools, end);
        }
        if let Some(servers) = &settings.servers {
            let before = std::mem::replace(&mut self.servers, servers.iter().cloned().collect());
            for server in self.servers.difference(&before) {
                note_end(&mut self.ends.servers, server.clone(), end);
            }
        }
        if let Some(tools) = &settings.tools {
            if !self.uses_tools() {
                return Err(GrantChangeError::NoScopeForTools);
            }
            let tools: BTreeSet<_> = tools.iter().cloned().collect();
            let before = self.tools.replace(tools.clone()).unwrap_or_default();
            for tool in tools.difference(&before) {
                note_end(&mut self.ends.tools, tool.clone(), end);
            }
        }
        self.tidy();
        Ok(())
    }

    /// Removes what no scope covers any more.
    pub(super) fn tidy(&mut self) {
        if !self.uses_tools() {
            // Otherwise they would silently return when the scope is allowed again.
            self.tools = None;
        }
        let Self {
            ends,
            tools,
            servers,
            ..
        } = self;
        let listed = |tool: &ToolName| tools.as_ref().is_some_and(|tools| tools.contains(tool));
        ends.tools.retain(|tool, _| listed(tool));
        ends.servers.retain(|server, _| servers.contains(server));
    }
}

fn end_all<K: Ord + Clone>(
    ends: &mut BTreeMap<K, Timestamp>,
    keys: &BTreeSet<K>,
    end: Option<Timestamp>,
) {
    for key in keys {
        note_end(ends, key.clone(), end);
    }
}

impl GrantEdit {
    fn apply(
        &self,
        mut stored: StoredGrants,
        now: Timestamp,
    ) -> Result<StoredGrants, GrantChangeError> {
        match self {
            Self::Answered(answer) => stored.answer(answer),
            Self::Set(settings) => stored.set(settings, now)?,
            Self::Forget => stored = StoredGrants::default(),
        }
        Ok(stored)
    }

    /// Whether it can only revoke.
    fn narrows(&self) -> bool {
        match self {
            Self::Forget => true,
            Self::Answered(answer) => answer.decision == Decision::Denied,
            Self::Set(settings) => {
                let widens = |grant: &Grant| grant.allows();
                !settings.scopes.values().any(widens)
                    && settings.tools.is_none()
                    && settings.servers.is_none()
            }
        }
    }
}

impl State {
    /// Applies a change.
    fn settle(&mut self, origin: &Origin, edit: &GrantEdit, stored: StoredGrants) {
        match edit {
            GrantEdit::Forget => self.once.forget(origin),
            GrantEdit::Set(settings) => self.once.narrow(origin, |given| {
                let set = |scope: &Scope| settings.scopes.get(scope);
                given
                    .scopes
                    .retain(|scope| set(scope).is_none_or(|grant| grant.allows()));
                if !given.scopes.iter().any(|scope| scope.is_for_tools()) && !stored.uses_tools() {
                    given.tools = None;
                }
                if let (Some(tools), Some(only)) = (&mut given.tools, &settings.tools) {
                    tools.retain(|tool| only.contains(tool));
                }
            }),
            GrantEdit::Answered(answer) => self.give(origin, answer, &stored),
        }
        if stored.is_empty() {
            self.stored.remove(origin);
        } else {
            self.stored.insert(origin.clone(), stored);
        }
        self.find_first_end();
    }

    fn give(&mut self, origin: &Origin, answer: &AnsweredRequest, stored: &StoredGrants) {
        let once = answer.decision == Decision::Once;
        // Tools that only an expiring answer allows expire with the scope.
        let borrowed = answer.decision == Decision::Always && !stored.uses_tools();
        let tools = answer.checked.clone().filter(|_| once || borrowed);
        let scopes = if once {
            answer.scopes.clone()
        } else {
            BTreeSet::new()
        };
        if let Some(checked) = &answer.checked {
            self.once.narrow(origin, |given| {
                if let Some(tools) = &mut given.tools {
                    tools.retain(|tool| checked.contains(tool) || !answer.shown.contains(tool));
                }
            });
        }
        if scopes.is_empty() && tools.is_none() {
            return;
        }
        for tab in &answer.tabs {
            self.once
                .give(origin, tab.clone(), scopes.clone(), tools.clone());
        }
    }
}

impl Permissions {
    /// Changes an origin's grants; durable when this returns. Revoked grants are gone even if the disk fails.
    pub(super) async fn change(
        &self,
        origin: &Origin,
        edit: GrantEdit,
    ) -> Result<(), GrantChangeError> {
        let _pen = self.writer_lock.lock().await;
        let (before, after) = {
            let mut state = self.lock();
            let before = state.stored.get(origin).cloned().unwrap_or_default();
            let after = edit.apply(before.clone(), state.clock.now())?;
            if after.allows() && !origin.is_authenticated() {
                return Err(GrantChangeError::NotAuthenticated(origin.clone()));
            }
            if before.is_empty() && !after.is_empty() && state.stored.len() >= MOST {
                return Err(GrantChangeError::TooManyOrigins);
            }
            if edit.narrows() {
                state.settle(origin, &edit, after.clone());
            }
            (before, after)
        };
        if edit.narrows() {
            self.changed();
        }
        if before != after {
            let key = format!("{PREFIX}{origin}");
            let put = if after.is_empty() {
                Put::remove(key, Expect::Any)
            } else {
                Put::new(key, &after, Expect::Any)?
            };
            let commit = self.store.put(vec![put]).await?;
            self.store.keep(commit).await?;
        }
        if !edit.narrows() {
            self.lock().settle(origin, &edit, after);
            self.changed();
        }
        self.wake.notify_one();
        Ok(())
    }

    /// Revokes everything; returns the origins that had something.
    pub(super) async fn change_all(&self) -> Result<Vec<Origin>, GrantChangeError> {
        let _pen = self.writer_lock.lock().await;
        let (stored, origins) = {
            let mut state = self.lock();
            let stored = std::mem::take(&mut state.stored);
            state.find_first_end();
            let once = state.once.forget_all();
            let stored: Vec<_> = stored.into_keys().collect();
            let origins: BTreeSet<_> = stored.iter().cloned().chain(once).collect();
            (stored, origins.into_iter().collect())
        };
        self.changed();
        let remove = |origin| Put::remove(format!("{PREFIX}{origin}"), Expect::Any);
        let puts: Vec<_> = stored.into_iter().map(remove).collect();
        if !puts.is_empty() {
            let commit = self.store.put(puts).await?;
            self.store.keep(commit).await?;
        }
        Ok(origins)
    }
}

#[cfg(test)]
mod tests;
