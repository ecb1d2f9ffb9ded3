//! Tokens of relay sessions, one for agents and one for the page.

use std::collections::HashMap;

use gangway_core::store::{Expect, Put, Store, record};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

use super::{RelayName, Role};
use gangway_core::secret::{hash, new_secret};

/// Maximum number of relay sessions with tokens.
const MOST: usize = 10_000;

/// Stores hashes only.
pub struct Tokens {
    store: Store,
    stored: RwLock<HashMap<RelayName, StoredTokens>>,
    /// Signals created and removed tokens.
    changes: watch::Sender<()>,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredTokens {
    agent: String,
    host: String,
}

/// Access to a relay session in one role, by a token.
pub struct TokenGrant {
    name: RelayName,
    role: Role,
    hash: String,
}

/// Shown once.
pub struct NewTokens {
    pub agent: String,
    pub host: String,
}

fn key(name: &RelayName) -> String {
    format!("relay-tokens/{name}")
}

impl StoredTokens {
    fn of(&self, role: Role) -> &str {
        match role {
            Role::Agent => &self.agent,
            Role::Host => &self.host,
        }
    }
}

impl Tokens {
    pub async fn load(store: Store) -> gangway_core::Result<Self> {
        let rows = store
            .list::<StoredTokens>("relay-tokens/", None, MOST)
            .await?;
        let named = rows.into_iter().filter_map(|(key, row)| {
            let name = key.strip_prefix("relay-tokens/")?.parse().ok()?;
            Some((name, row.value))
        });
        Ok(Self {
            stored: RwLock::new(named.collect()),
            changes: watch::Sender::new(()),
            store,
        })
    }

    /// Creates tokens. Previous ones are revoked and their connections closed.
    pub async fn make(&self, name: &RelayName) -> gangway_core::Result<NewTokens> {
        let full = {
            let stored = self.stored.read();
            stored.len() >= MOST && !stored.contains_key(name)
        };
        // More would be stored but not loaded at the next start.
        if full {
            return Err(gangway_core::Error::Storage(format!(
                "at most {MOST} relay sessions can have tokens; remove some"
            )));
        }
        let secret = || format!("gwr_{}", new_secret());
        let (agent, host) = (secret(), secret());
        let stored = StoredTokens {
            agent: hash(&agent),
            host: hash(&host),
        };
        let commit = self.store.put(vec![record(key(name), &stored)?]).await?;
        self.store.keep(commit).await?;
        {
            let mut all = self.stored.write();
            all.insert(name.clone(), stored);
        }
        self.changes.send_replace(());
        Ok(NewTokens { agent, host })
    }

    /// Removes the tokens of a session; false if there are none.
    pub async fn remove(&self, name: &RelayName) -> gangway_core::Result<bool> {
        if !self.has(name) {
            return Ok(false);
        }
        let put = Put::remove(key(name), Expect::Any);
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await?;
        {
            let mut all = self.stored.write();
            all.remove(name);
        }
        self.changes.send_replace(());
        Ok(true)
    }

    #[must_use]
    pub fn has(&self, name: &RelayName) -> bool {
        let stored = self.stored.read();
        stored.contains_key(name)
    }

    /// Verifies a token.
    #[must_use]
    pub fn admit(&self, name: &RelayName, role: Role, shown: &str) -> Option<TokenGrant> {
        let pass = TokenGrant {
            name: name.clone(),
            role,
            hash: hash(shown),
        };
        self.holds(&pass).then_some(pass)
    }

    /// Waits until the token is replaced or removed.
    pub async fn ended(&self, pass: &TokenGrant) {
        let mut changes = self.changes.subscribe();
        while self.holds(pass) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn holds(&self, pass: &TokenGrant) -> bool {
        let stored = self.stored.read();
        let stored = stored.get(&pass.name).map(|stored| stored.of(pass.role));
        stored.is_some_and(|stored| bool::from(stored.as_bytes().ct_eq(pass.hash.as_bytes())))
    }
}
