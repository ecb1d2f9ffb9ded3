//! API keys: made once, shown once, kept as a hash.

use std::sync::{PoisonError, RwLock};

use gangway_core::{
    Result, ToolName,
    store::{Expect, Put, Store},
};
use jiff::Timestamp;
use rand::Rng;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use ts_rs::TS;
use utoipa::ToSchema;

use super::{
    name::{KeyId, KeyName},
    rights::{Reach, ToolPattern},
};

/// A key as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeyRecord {
    name: String,
    hash: String,
    created_at: Timestamp,
    /// The only tools it is for; it is then good for nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolPattern>>,
}

/// A key as it is listed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyInfo {
    /// Its id, for revoking it.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub id: KeyId,
    /// What it is for.
    pub name: String,
    /// When it was made.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The only tools it is for: `server/tool`, `server/*`. Without it, the key is for everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub tools: Option<Vec<ToolPattern>>,
}

/// A new key, with its secret, which is never shown again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// Its id, for revoking it.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub id: KeyId,
    /// What it is for.
    pub name: String,
    /// The key itself.
    pub key: String,
}

/// The keys of a data folder, read once and kept in step.
pub struct Keys {
    store: Store,
    known: RwLock<Vec<(KeyId, KeyRecord)>>,
    /// Changes with every key that is revoked.
    revocations: watch::Sender<()>,
}

/// Far more keys than anyone has, few enough to hold.
const MOST: usize = 10_000;

impl Keys {
    /// Reads the keys.
    pub async fn load(store: Store) -> Result<Self> {
        let rows = store.list::<KeyRecord>("key/", None, MOST).await?;
        let known = rows
            .into_iter()
            .filter_map(|(key, record)| {
                let id = key.trim_start_matches("key/").parse().ok()?;
                Some((id, record.value))
            })
            .collect();
        Ok(Self {
            store,
            known: RwLock::new(known),
            revocations: watch::Sender::new(()),
        })
    }

    /// Makes a key; it is on the disk when this returns.
    pub async fn create(
        &self,
        name: &KeyName,
        tools: Option<Vec<ToolPattern>>,
    ) -> Result<CreatedKey> {
        let key = format!("gw_{}", new_secret());
        let id = KeyId::new();
        let record = KeyRecord {
            name: name.to_string(),
            hash: hash(&key),
            created_at: Timestamp::now(),
            tools,
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
        })
    }

    /// Revokes a key at once; false when there is none with this id.
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

    /// All keys, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<KeyInfo> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let info = |(id, record): &(KeyId, KeyRecord)| KeyInfo {
            id: id.clone(),
            name: record.name.clone(),
            created_at: record.created_at,
            tools: record.tools.clone(),
        };
        let mut keys: Vec<_> = known.iter().map(info).collect();
        keys.sort_by_key(|key| key.created_at);
        keys
    }

    /// Whether there is a key with this id.
    #[must_use]
    pub fn has(&self, id: &KeyId) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|(known, _)| known == id)
    }

    /// Whether a key is for tools alone.
    #[must_use]
    pub fn is_for_tools(&self, id: &KeyId) -> bool {
        self.read(id, |record| record.tools.is_some()) == Some(true)
    }

    /// Whether a key may see and call this tool.
    #[must_use]
    pub fn allows(&self, id: &KeyId, tool: &ToolName) -> bool {
        let allows = self.read(id, |record| match &record.tools {
            None => true,
            Some(patterns) => patterns.iter().any(|pattern| pattern.has(tool)),
        });
        allows == Some(true)
    }

    /// How much of a server a key has.
    #[must_use]
    pub fn reach(&self, id: &KeyId, server: &str) -> Reach {
        let reach = self.read(id, |record| match &record.tools {
            None => Some(Reach::All),
            Some(patterns) => patterns.iter().map(|p| p.reach(server)).max(),
        });
        reach.flatten().unwrap_or(Reach::Nothing)
    }

    fn read<T>(&self, id: &KeyId, ask: impl FnOnce(&KeyRecord) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let (_, record) = known.iter().find(|(known, _)| known == id)?;
        Some(ask(record))
    }

    /// Waits until there is no key with this id.
    pub async fn revoked(&self, id: &KeyId) {
        let mut revocations = self.revocations.subscribe();
        while self.has(id) {
            if revocations.changed().await.is_err() {
                return;
            }
        }
    }

    /// Which of the keys this is.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<KeyId> {
        let hash = hash(key);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // All are compared, so that the time says nothing about which one came close.
        known.iter().fold(None, |found, (id, record)| {
            let same = bool::from(record.hash.as_bytes().ct_eq(hash.as_bytes()));
            if same { Some(id.clone()) } else { found }
        })
    }
}

/// 32 random bytes as text.
#[must_use]
pub fn new_secret() -> String {
    let mut bytes = [0_u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is kept of a secret.
#[must_use]
pub fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}
