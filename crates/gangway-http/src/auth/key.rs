//! API keys: created once, shown once, stored as a hash.

use std::{
    sync::{PoisonError, RwLock},
    time::Duration,
};

use gangway_core::{
    Result, ToolName,
    secret::{hash, new_secret},
    store::{Expect, Put, Store},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::access::Scope;

use super::{
    name::{KeyId, KeyName},
    rights::{Reach, ToolPattern},
    scope::{KeyScope, RelayRole},
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeyRecord {
    name: String,
    hash: String,
    created_at: Timestamp,
    #[serde(default)]
    scopes: Vec<KeyScope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// From before keys had scopes: the tools it is limited to, or `None` for everything.
    #[serde(default, skip_serializing)]
    tools: Option<Vec<ToolPattern>>,
}

impl KeyRecord {
    /// Migrates a key from before there were scopes.
    fn with_scopes(mut self) -> Self {
        if self.scopes.is_empty() {
            self.scopes = match self.tools.take() {
                Some(tools) => tools.into_iter().map(KeyScope::Tools).collect(),
                None => vec![KeyScope::Admin],
            };
        }
        self
    }

    fn lasts(&self) -> bool {
        self.expires_at.is_none_or(|at| Timestamp::now() < at)
    }

    /// Whether it has `admin` or a matching scope.
    fn has(&self, fits: impl Fn(&KeyScope) -> bool) -> bool {
        let mut scopes = self.scopes.iter();
        self.lasts() && scopes.any(|scope| *scope == KeyScope::Admin || fits(scope))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyInfo {
    /// For revoking it.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub id: KeyId,
    /// A label for lists.
    pub name: String,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Such as `chat`, `tools:files/*` or `admin`.
    #[ts(type = "string[]")]
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<KeyScope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

/// A new key with its secret, which is shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// For revoking it.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub id: KeyId,
    /// A label for lists.
    pub name: String,
    /// The secret key itself.
    pub key: String,
    /// Possible mistakes, such as a tool that no server has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub warnings: Vec<String>,
}

/// The keys of a data folder, cached in memory.
pub struct Keys {
    store: Store,
    known: RwLock<Vec<(KeyId, KeyRecord)>>,
    /// Notified when a key is revoked.
    revocations: watch::Sender<()>,
}

/// Far more keys than anyone has, few enough to hold in memory.
const MOST: usize = 10_000;

impl Keys {
    pub async fn load(store: Store) -> Result<Self> {
        let rows = store.list::<KeyRecord>("key/", None, MOST).await?;
        let known = rows
            .into_iter()
            .filter_map(|(key, record)| {
                let id = key.trim_start_matches("key/").parse().ok()?;
                Some((id, record.value.with_scopes()))
            })
            .collect();
        Ok(Self {
            store,
            known: RwLock::new(known),
            revocations: watch::Sender::new(()),
        })
    }

    /// Creates a key; it is on the disk when this returns.
    pub async fn create(
        &self,
        name: &KeyName,
        scopes: Vec<KeyScope>,
        expires_at: Option<Timestamp>,
    ) -> Result<CreatedKey> {
        let key = format!("gw_{}", new_secret());
        let id = KeyId::new();
        let record = KeyRecord {
            name: name.to_string(),
            hash: hash(&key),
            created_at: Timestamp::now(),
            scopes,
            expires_at,
            tools: None,
        };
        let put = Put::new(format!("key/{id}"), &record, Expect::Absent)?;
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await?;
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push((id.clone(), record));
        Ok(CreatedKey {
            id,
            name: name.to_string(),
            key,
            warnings: Vec::new(),
        })
    }

    /// Revokes a key at once; false when there is none.
    pub async fn revoke(&self, id: &KeyId) -> Result<bool> {
        if !self.has(id) {
            return Ok(false);
        }
        let commit = self
            .store
            .put(vec![Put::remove(format!("key/{id}"), Expect::Any)])
            .await?;
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(known, _)| known != id);
        self.revocations.send_replace(());
        self.store.keep(commit).await?;
        Ok(true)
    }

    /// Oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<KeyInfo> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let info = |(id, record): &(KeyId, KeyRecord)| KeyInfo {
            id: id.clone(),
            name: record.name.clone(),
            created_at: record.created_at,
            scopes: record.scopes.clone(),
            expires_at: record.expires_at,
        };
        let mut keys: Vec<_> = known.iter().map(info).collect();
        keys.sort_by_key(|key| key.created_at);
        keys
    }

    /// Whether a key exists and has not expired.
    #[must_use]
    pub fn has(&self, id: &KeyId) -> bool {
        self.read(id, KeyRecord::lasts) == Some(true)
    }

    /// Whether a key has a scope. Limits to tools and projects are checked by handlers; a limited relay scope only
    /// allows joining.
    #[must_use]
    pub fn may(&self, id: &KeyId, scope: Scope) -> bool {
        // A key for one relay session must not read all studies.
        let fits = |one: &KeyScope| match one {
            KeyScope::Relay(role, session) => {
                scope == Scope::Relay && role.is_none() && session.is_none()
            }
            other => other.scope() == scope,
        };
        self.read(id, |record| record.has(fits)) == Some(true)
    }

    #[must_use]
    pub fn allows(&self, id: &KeyId, tool: &ToolName) -> bool {
        let fits = |scope: &KeyScope| matches!(scope, KeyScope::Tools(tools) if tools.has(tool));
        self.read(id, |record| record.has(fits)) == Some(true)
    }

    /// Whether a key names this tool or its server.
    #[must_use]
    pub fn names(&self, id: &KeyId, tool: &ToolName) -> bool {
        let fits = |scope: &KeyScope| match scope {
            KeyScope::Tools(tools) => *tools != ToolPattern::All && tools.has(tool),
            _ => false,
        };
        self.read(id, |record| record.has(fits)) == Some(true)
    }

    /// Which tools of a server a key may use.
    #[must_use]
    pub fn reach(&self, id: &KeyId, server: &str) -> Reach {
        let reach = self.read(id, |record| {
            let scopes = record.scopes.iter().filter(|_| record.lasts());
            let reach = scopes.map(|scope| match scope {
                KeyScope::Admin => Reach::All,
                KeyScope::Tools(tools) => tools.reach(server),
                _ => Reach::Nothing,
            });
            reach.max()
        });
        reach.flatten().unwrap_or(Reach::Nothing)
    }

    #[must_use]
    pub fn may_use_project(&self, id: &KeyId, project: &str) -> bool {
        let fits = |scope: &KeyScope| match scope {
            KeyScope::Agents(only) => only.as_deref().is_none_or(|only| only == project),
            _ => false,
        };
        self.read(id, |record| record.has(fits)) == Some(true)
    }

    #[must_use]
    pub fn may_join(&self, id: &KeyId, role: RelayRole, session: &str) -> bool {
        let fits = |scope: &KeyScope| match scope {
            KeyScope::Relay(in_role, only) => {
                in_role.is_none_or(|one| one == role)
                    && only.as_deref().is_none_or(|only| only == session)
            }
            _ => false,
        };
        self.read(id, |record| record.has(fits)) == Some(true)
    }

    fn read<T>(&self, id: &KeyId, ask: impl FnOnce(&KeyRecord) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let (_, record) = known.iter().find(|(known, _)| known == id)?;
        Some(ask(record))
    }

    pub async fn ended(&self, id: &KeyId) {
        let mut revocations = self.revocations.subscribe();
        while self.has(id) {
            let expires_at = self.read(id, |record| record.expires_at).flatten();
            let expires = async {
                match expires_at.map(|at| Duration::try_from(at.duration_since(Timestamp::now()))) {
                    Some(left) => tokio::time::sleep(left.unwrap_or_default()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = revocations.changed() => if changed.is_err() { return },
                () = expires => {}
            }
        }
    }

    #[must_use]
    pub fn find(&self, key: &str) -> Option<KeyId> {
        let hash = hash(key);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // Compares with all keys, so that the timing reveals nothing.
        known.iter().fold(None, |found, (id, record)| {
            let same = bool::from(record.hash.as_bytes().ct_eq(hash.as_bytes()));
            if same && record.lasts() {
                Some(id.clone())
            } else {
                found
            }
        })
    }
}
