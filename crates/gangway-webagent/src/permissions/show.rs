//! What is shown of permissions and questions: words of strangers cleaned and cut, and no more than fits.

use std::collections::BTreeSet;

use gangway_core::{Error, Grant, Origin, Scope, sanitize::strip_to_line};

use super::{
    Permissions, State,
    audit::Kind,
    queue::{AskId, Asked, PATIENCE},
    wire::{
        AskedServer, AskedTool, AuditEntry, AuditKind, AuditPage, OriginPermissions, PermissionAsk,
        PermissionAsks, PermissionList,
    },
};

/// Characters of a reason.
const REASON: usize = 500;

/// Characters of a description, and of a name.
const DESCRIPTION: usize = 300;
const NAME: usize = 128;

/// Characters of an address, and names of tools that a server is said to have.
const ADDRESS: usize = 2000;
const SERVER_TOOLS: usize = 100;

/// Entries that are read from the log at once.
const CHUNK: usize = 500;

impl State {
    fn entry(&self, origin: &Origin) -> OriginPermissions {
        let standing = self.standing(origin);
        let kept = self.kept.get(origin);
        let servers = kept.map(|kept| &kept.servers);
        OriginPermissions {
            origin: origin.clone(),
            scopes: standing.scopes,
            allowed_tools: standing.tools,
            servers: servers.into_iter().flatten().cloned().collect(),
            ends: kept.map(|kept| kept.ends.clone()).unwrap_or_default(),
            once_only: !origin.is_authenticated(),
            last_used: self.used.get(origin).copied(),
            budget: None,
        }
    }

    fn ask(&self, asked: &Asked) -> PermissionAsk {
        let wish = &asked.wish;
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let tools = asked.question.tools.as_ref().map(|tools| {
            let tool = |tool: &std::sync::Arc<gangway_core::Tool>| AskedTool {
                description: strip_to_line(&tool.description, DESCRIPTION),
                server: tool.name.server().to_owned(),
                asked: wish.names(&tool.name),
                name: tool.name.clone(),
            };
            tools.iter().map(tool).collect()
        });
        let server = asked.question.server.as_ref().map(|server| {
            let names = server.tools.iter().take(SERVER_TOOLS);
            let names: Vec<_> = names.map(|name| strip_to_line(name, NAME)).collect();
            AskedServer {
                url: strip_to_line(&server.url, ADDRESS),
                name: strip_to_line(&server.name, NAME),
                description: server
                    .description
                    .as_ref()
                    .and_then(|text| some(strip_to_line(text, DESCRIPTION))),
                tools: Some(names).filter(|names| !names.is_empty()),
            }
        });
        PermissionAsk {
            id: asked.id.to_string(),
            origin: wish.origin.clone(),
            embedder: wish.embedder.clone(),
            scopes: asked.question.scopes.iter().copied().collect(),
            reason: some(strip_to_line(&wish.reason, REASON)),
            tools,
            server,
            once_only: !wish.origin.is_authenticated(),
            asked_at: asked.at,
            expires_at: asked.at + PATIENCE,
            waiting: match wish.hidden {
                true => 0,
                false => self.queue.behind(&wish.origin),
            },
        }
    }
}

impl Permissions {
    /// What every origin may do that may do anything, or was refused anything.
    #[must_use]
    pub fn list(&self) -> PermissionList {
        let state = self.lock();
        let origins: BTreeSet<_> = state.kept.keys().chain(state.once.origins()).collect();
        let entries = origins
            .into_iter()
            .map(|origin| self.budgeted(state.entry(origin)));
        // What was allowed once may have ended a moment ago.
        let says = |entry: &OriginPermissions| {
            !entry.servers.is_empty()
                || entry.allowed_tools.is_some()
                || entry
                    .scopes
                    .values()
                    .any(|g| *g != gangway_core::Grant::NotGranted)
        };
        PermissionList {
            origins: entries.filter(says).collect(),
        }
    }

    /// The same with the budget, where models may be used at all.
    fn budgeted(&self, mut entry: OriginPermissions) -> OriginPermissions {
        let scopes = [Scope::ModelPrompt, Scope::ModelTools, Scope::ChatOpen];
        let granted = |scope: &Scope| {
            let grant = entry.scopes.get(scope);
            matches!(grant, Some(Grant::Always | Grant::Once))
        };
        if scopes.iter().any(granted) {
            entry.budget = Some(self.budgets.of(&entry.origin));
        }
        entry
    }

    /// What one origin may do.
    #[must_use]
    pub fn entry(&self, origin: &Origin) -> OriginPermissions {
        self.budgeted(self.lock().entry(origin))
    }

    /// The questions that are open, and the one that this window is for.
    #[must_use]
    pub fn asks(&self, and: Option<&AskId>) -> PermissionAsks {
        let state = self.lock();
        let hidden = and
            .and_then(|id| state.queue.get(id))
            .filter(|asked| asked.wish.hidden);
        let open = state.queue.shown().chain(hidden);
        PermissionAsks {
            asks: open.map(|asked| state.ask(asked)).collect(),
        }
    }

    /// One question that is open, hidden or not.
    #[must_use]
    pub fn open_ask(&self, id: &AskId) -> Option<PermissionAsk> {
        let state = self.lock();
        let asked = state.queue.get(id).filter(|asked| asked.is_shown())?;
        Some(state.ask(asked))
    }

    /// A page of the log.
    pub async fn log(
        &self,
        origin: Option<&Origin>,
        mut before: Option<u64>,
        limit: usize,
    ) -> Result<AuditPage, Error> {
        // Whoever did something finds it.
        self.audit.flush().await;
        let mut entries = Vec::new();
        let next = 'reading: loop {
            let chunk = self.audit.read(before, CHUNK).await?;
            let last = chunk.len() < CHUNK;
            for (number, entry) in chunk {
                if origin.is_some_and(|origin| origin.as_str() != entry.origin) {
                    before = Some(number);
                    continue;
                }
                if entries.len() >= limit {
                    break 'reading before;
                }
                before = Some(number);
                entries.push(AuditEntry {
                    at: entry.at,
                    origin: entry.origin,
                    kind: match entry.kind {
                        Kind::Decision => AuditKind::Decision,
                        Kind::Use => AuditKind::Use,
                    },
                    scope: entry.scope,
                    what: entry.what,
                    outcome: entry.outcome,
                    by: entry.by,
                });
            }
            if last {
                break None;
            }
        };
        Ok(AuditPage {
            entries,
            before: next.map(|number| number.to_string()),
            lost: self.audit.lost(),
        })
    }
}
