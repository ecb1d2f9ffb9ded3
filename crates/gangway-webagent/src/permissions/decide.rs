//! Decisions that the user makes without a request, and how decisions are logged.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use gangway_core::{Actor, Error, Origin, Scope, sanitize::strip_to_line};
use jiff::Timestamp;

use super::{
    Permissions,
    audit::{EntryKind, StoredEntry},
    grants::{AnsweredRequest, GrantChangeError, GrantEdit, Settings},
};

impl Permissions {
    /// Sets the permissions of an origin.
    pub async fn set(
        self: &Arc<Self>,
        origin: &Origin,
        settings: Settings,
        by: Actor,
    ) -> Result<(), GrantChangeError> {
        let entry =
            |scope, what: &str, outcome: &str| entry(origin, scope, what, outcome, Some(by));
        let mut entries: Vec<_> = settings
            .scopes
            .iter()
            .map(|(scope, grant)| entry(Some(*scope), "set", grant.as_str()))
            .collect();
        if let Some(tools) = &settings.tools {
            entries.push(entry(None, "tools", &format!("{} allowed", tools.len())));
        }
        if let Some(servers) = &settings.servers {
            entries.push(entry(
                None,
                "servers",
                &format!("{} allowed", servers.len()),
            ));
        }
        self.edit(origin, GrantEdit::Set(settings), entries).await
    }

    /// Deletes an origin: what was allowed and denied.
    pub async fn forget(
        self: &Arc<Self>,
        origin: &Origin,
        by: Actor,
    ) -> Result<(), GrantChangeError> {
        let entries = vec![entry(origin, None, "forget", "not-granted", Some(by))];
        self.edit(origin, GrantEdit::Forget, entries).await
    }

    /// Deletes all origins.
    pub async fn forget_all(self: &Arc<Self>, by: Actor) -> Result<(), GrantChangeError> {
        let permissions = Arc::clone(self);
        let task = tokio::spawn(async move {
            let origins = permissions.change_all().await?;
            permissions.lock().queue.forgive_all();
            permissions.asks_changed();
            let forgotten = origins.iter();
            let entries =
                forgotten.map(|origin| entry(origin, None, "forget", "not-granted", Some(by)));
            permissions.audit.decided(entries.collect()).await;
            Ok(())
        });
        task.await.map_err(|_| Error::Stopping)?
    }

    async fn edit(
        self: &Arc<Self>,
        origin: &Origin,
        edit: GrantEdit,
        entries: Vec<StoredEntry>,
    ) -> Result<(), GrantChangeError> {
        let (permissions, origin) = (Arc::clone(self), origin.clone());
        let task = tokio::spawn(async move {
            permissions.change(&origin, edit).await?;
            {
                let mut state = permissions.lock();
                state.queue.forgive(&origin);
                state.advance(&origin);
            }
            permissions.asks_changed();
            permissions.audit.decided(entries).await;
            Ok(())
        });
        task.await.map_err(|_| Error::Stopping)?
    }
}

fn entry(
    origin: &Origin,
    scope: Option<Scope>,
    what: &str,
    outcome: &str,
    by: Option<Actor>,
) -> StoredEntry {
    StoredEntry {
        at: Timestamp::now(),
        origin: origin.to_string(),
        kind: EntryKind::Decision,
        scope,
        what: what.to_owned(),
        outcome: outcome.to_owned(),
        by: by.map(|by| by.as_str().to_owned()),
    }
}

/// The log entries of an answer: one per scope, and one each for tools and a server.
pub(super) fn decisions(
    origin: &Origin,
    answered: &AnsweredRequest,
    by: Actor,
) -> Vec<StoredEntry> {
    let outcome = answered.decision.as_str();
    let scopes = answered.scopes.iter();
    let mut entries: Vec<_> = scopes
        .map(|scope| entry(origin, Some(*scope), "asked", outcome, Some(by)))
        .collect();
    if let Some(checked) = &answered.checked {
        let what = format!("tools: {} of {}", checked.len(), answered.shown.len());
        entries.push(entry(origin, None, &what, outcome, Some(by)));
    }
    if let Some(server) = &answered.server {
        let what = strip_to_line(&format!("server: {server}"), 300);
        entries.push(entry(origin, None, &what, outcome, Some(by)));
    }
    entries
}

/// The log entries of expired grants.
pub(super) fn expired(ended: &BTreeMap<Origin, BTreeSet<Scope>>) -> Vec<StoredEntry> {
    let scopes = ended
        .iter()
        .flat_map(|(origin, scopes)| scopes.iter().map(move |scope| (origin, *scope)));
    scopes
        .map(|(origin, scope)| entry(origin, Some(scope), "expired", "not-granted", None))
        .collect()
}
