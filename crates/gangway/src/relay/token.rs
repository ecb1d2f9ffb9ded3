//! Tokens of relay sessions: with one, whoever joins must show it.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use gangway_core::store::{Expect, Put, Store, record};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::{Code, Refusal, RelayName};
use crate::auth::{hash, new_secret};

/// Relay sessions with a token.
const MOST: usize = 10_000;

/// The tokens, as hashes.
pub struct Tokens {
    store: Store,
    /// Whether a session without a token lets nobody in.
    required: bool,
    hashes: RwLock<HashMap<RelayName, String>>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    hash: String,
}

fn key(name: &RelayName) -> String {
    format!("relay-token/{name}")
}

impl Tokens {
    /// Those that are kept.
    pub async fn load(store: Store, required: bool) -> gangway_core::Result<Self> {
        let rows = store.list::<Kept>("relay-token/", None, MOST).await?;
        let named = rows.into_iter().filter_map(|(key, row)| {
            let name = key.strip_prefix("relay-token/")?.parse().ok()?;
            Some((name, row.value.hash))
        });
        Ok(Self {
            required,
            hashes: RwLock::new(named.collect()),
            store,
        })
    }

    /// A new token for a session, in the place of the one before it.
    pub async fn make(&self, name: &RelayName) -> gangway_core::Result<String> {
        let full = {
            let hashes = self.hashes.read().unwrap_or_else(PoisonError::into_inner);
            hashes.len() >= MOST && !hashes.contains_key(name)
        };
        // One more would be kept, and not be asked for after the next start.
        if full {
            return Err(gangway_core::Error::Storage(format!(
                "there are {MOST} tokens of relay sessions; remove some"
            )));
        }
        let token = format!("gwr_{}", new_secret());
        let kept = Kept { hash: hash(&token) };
        let commit = self.store.put(vec![record(key(name), &kept)?]).await?;
        self.store.keep(commit).await?;
        let mut hashes = self.hashes.write().unwrap_or_else(PoisonError::into_inner);
        hashes.insert(name.clone(), kept.hash);
        Ok(token)
    }

    /// Takes the token of a session away; false when there is none.
    pub async fn remove(&self, name: &RelayName) -> gangway_core::Result<bool> {
        let known = self.has(name);
        if known {
            let commit = self
                .store
                .put(vec![Put::remove(key(name), Expect::Any)])
                .await?;
            self.store.keep(commit).await?;
            let mut hashes = self.hashes.write().unwrap_or_else(PoisonError::into_inner);
            hashes.remove(name);
        }
        Ok(known)
    }

    /// Whether a session has a token.
    #[must_use]
    pub fn has(&self, name: &RelayName) -> bool {
        self.hash(name).is_some()
    }

    /// Lets in whoever shows the token of a session, or comes to one that needs none.
    pub fn check(&self, name: &RelayName, shown: Option<&str>) -> Result<(), Refusal> {
        let refused = |words: String| Err(Refusal::new(Code::SessionNotActive, words));
        match (self.hash(name), shown) {
            (None, _) if !self.required => Ok(()),
            (None, _) => refused(format!(
                "relay sessions need a token here; make one with `gangway relay token {name}`"
            )),
            (Some(_), None) => refused("this session needs its token: put it into `token`".into()),
            (Some(kept), Some(shown)) => {
                match bool::from(kept.as_bytes().ct_eq(hash(shown).as_bytes())) {
                    true => Ok(()),
                    false => refused("this is not the token of this session".into()),
                }
            }
        }
    }

    fn hash(&self, name: &RelayName) -> Option<String> {
        let hashes = self.hashes.read().unwrap_or_else(PoisonError::into_inner);
        hashes.get(name).cloned()
    }
}
