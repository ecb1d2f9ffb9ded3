//! Permissions and requests as displayed: untrusted text is sanitized and truncated.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::{
    AskBody, Error, Grant, Origin, Scope, Tool,
    asks::{PermissionRequest, RequestedServer, RequestedTool},
    sanitize::strip_to_line,
};

use super::{
    Permissions, State,
    audit::EntryKind,
    query::{PermissionQuery, ProvidedServer, Question},
    wire::{AuditEntry, AuditKind, AuditPage, OriginPermissions, PermissionList},
};

/// Maximum length of a reason.
const REASON: usize = 500;

/// Maximum length of a description, and of a name.
const DESCRIPTION: usize = 300;
const NAME: usize = 128;

/// Maximum length of a URL, and number of tools of a page's server.
const ADDRESS: usize = 2000;
const SERVER_TOOLS: usize = 100;

/// Entries that are read from the log at once.
const CHUNK: usize = 500;

impl State {
    fn entry(&self, origin: &Origin) -> OriginPermissions {
        let standing = self.standing(origin);
        let stored = self.stored.get(origin);
        let servers = stored.map(|stored| &stored.servers);
        OriginPermissions {
            origin: origin.clone(),
            scopes: standing.scopes,
            allowed_tools: standing.tools,
            servers: servers.into_iter().flatten().cloned().collect(),
            ends: stored.map(|stored| stored.ends.clone()).unwrap_or_default(),
            once_only: !origin.is_authenticated(),
            last_used: self.used.get(origin).copied(),
            budget: None,
        }
    }
}

/// A permission request as displayed.
pub(super) fn body(query: &PermissionQuery, question: &Question, waiting: usize) -> AskBody {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let tool = |tool: &Arc<Tool>| RequestedTool {
        description: strip_to_line(&tool.description, DESCRIPTION),
        named: query.names(&tool.name),
        name: tool.name.clone(),
    };
    let server = |server: &ProvidedServer| {
        let about = server.description.as_ref();
        let names = server.tools.iter().take(SERVER_TOOLS);
        RequestedServer {
            url: strip_to_line(&server.url, ADDRESS),
            name: strip_to_line(&server.name, NAME),
            description: about.and_then(|text| some(strip_to_line(text, DESCRIPTION))),
            tools: names.map(|name| strip_to_line(name, NAME)).collect(),
        }
    };
    AskBody::Permission(PermissionRequest {
        embedder: query.embedder.clone(),
        scopes: question.scopes.iter().copied().collect(),
        reason: some(strip_to_line(&query.reason, REASON)),
        tools: question
            .tools
            .as_ref()
            .map(|tools| tools.iter().map(tool).collect()),
        server: question.server.as_ref().map(server),
        once_only: !query.origin.is_authenticated(),
        waiting,
    })
}

impl Permissions {
    /// The permissions of every origin with a decision.
    #[must_use]
    pub fn list(&self) -> PermissionList {
        let state = self.lock();
        let origins: BTreeSet<_> = state.stored.keys().chain(state.once.origins()).collect();
        let entries = origins
            .into_iter()
            .map(|origin| self.budgeted(state.entry(origin)));
        // "Allow once" may have expired a moment ago.
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

    /// The same with the budget, if models may be used.
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

    /// The permissions of one origin.
    #[must_use]
    pub fn entry(&self, origin: &Origin) -> OriginPermissions {
        self.budgeted(self.lock().entry(origin))
    }

    /// A page of the log.
    pub async fn log(
        &self,
        origin: Option<&Origin>,
        mut before: Option<u64>,
        limit: usize,
    ) -> Result<AuditPage, Error> {
        // Origins with a use are listed.
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
                        EntryKind::Decision => AuditKind::Decision,
                        EntryKind::Use => AuditKind::Use,
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
