//! Tokens of relay sessions: one lets agents join, the other lets the page join.

use std::collections::HashMap;

use gangway_core::store::{Expect, Put, Store, record};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

use super::{RelayName, Role};
use gangway_core::secret::{hash, new_secret};

/// Relay sessions with tokens.
const MOST: usize = 10_000;

/// The tokens, as hashes.
pub struct Tokens {
    store: Store,
    kept: RwLock<HashMap<RelayName, Kept>>,
    /// Changes with every token that is made or removed.
    changes: watch::Sender<()>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    agent: String,
    host: String,
}

/// The right to be in a relay session in one role, by a token.
pub struct Pass {
    name: RelayName,
    role: Role,
    hash: String,
}

/// The tokens of a relay session, shown once.
pub struct NewTokens {
    /// For agents.
    pub agent: String,
    /// For the page.
    pub host: String,
}

fn key(name: &RelayName) -> String {
    format!("relay-tokens/{name}")
}

impl Kept {
    fn of(&self, role: Role) -> &str {
        match role {
            Role::Agent => &self.agent,
            Role::Host => &self.host,
        }
    }
}

impl Tokens {
    /// Those that are kept.
    pub async fn load(store: Store) -> gangway_core::Result<Self> {
        let rows = store.list::<Kept>("relay-tokens/", None, MOST).await?;
        let named = rows.into_iter().filter_map(|(key, row)| {
            let name = key.strip_prefix("relay-tokens/")?.parse().ok()?;
            Some((name, row.value))
        });
        Ok(Self {
            kept: RwLock::new(named.collect()),
            changes: watch::Sender::new(()),
            store,
        })
    }

    /// New tokens for a session. Those before them end, and the connections that they let in.
    pub async fn make(&self, name: &RelayName) -> gangway_core::Result<NewTokens> {
        let full = {
            let kept = self.kept.read();
            kept.len() >= MOST && !kept.contains_key(name)
        };
        // One more would be kept, and not be known after the next start.
        if full {
            return Err(gangway_core::Error::Storage(format!(
                "{MOST} relay sessions have tokens; remove some"
            )));
        }
        let secret = || format!("gwr_{}", new_secret());
        let (agent, host) = (secret(), secret());
        let kept = Kept {
            agent: hash(&agent),
            host: hash(&host),
        };
        let commit = self.store.put(vec![record(key(name), &kept)?]).await?;
        self.store.keep(commit).await?;
        {
            let mut all = self.kept.write();
            all.insert(name.clone(), kept);
        }
        self.changes.send_replace(());
        Ok(NewTokens { agent, host })
    }

    /// Takes the tokens of a session away; false when there are none.
    pub async fn remove(&self, name: &RelayName) -> gangway_core::Result<bool> {
        if !self.has(name) {
            return Ok(false);
        }
        let put = Put::remove(key(name), Expect::Any);
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await?;
        {
            let mut all = self.kept.write();
            all.remove(name);
        }
        self.changes.send_replace(());
        Ok(true)
    }

    /// Whether a session has tokens.
    #[must_use]
    pub fn has(&self, name: &RelayName) -> bool {
        let kept = self.kept.read();
        kept.contains_key(name)
    }

    /// The right to be in a session in this role, if this is the token for it.
    #[must_use]
    pub fn admit(&self, name: &RelayName, role: Role, shown: &str) -> Option<Pass> {
        let pass = Pass {
            name: name.clone(),
            role,
            hash: hash(shown),
        };
        self.holds(&pass).then_some(pass)
    }

    /// Waits until the token behind this is replaced or removed.
    pub async fn ended(&self, pass: &Pass) {
        let mut changes = self.changes.subscribe();
        while self.holds(pass) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn holds(&self, pass: &Pass) -> bool {
        let kept = self.kept.read();
        let kept = kept.get(&pass.name).map(|kept| kept.of(pass.role));
        kept.is_some_and(|kept| bool::from(kept.as_bytes().ct_eq(pass.hash.as_bytes())))
    }
}
