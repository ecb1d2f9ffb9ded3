//! Tokens of brokers, which connect without the user's login.

use gangway_core::{
    Origin,
    secret::{hash, new_secret},
    store::{self, Expect, Put},
};

use crate::{SiteError, SiteServerMessage, Sites, Visit};

/// Where a token is stored, by its hash.
fn key(token: &str) -> String {
    format!("site-token/{}", hash(token))
}

impl Sites {
    /// Whether this token was given to pages of this origin.
    pub async fn knows(&self, origin: &Origin, token: &str) -> Result<bool, SiteError> {
        let found = self.store.get::<String>(&key(token)).await?;
        if found.is_none_or(|record| record.value != origin.as_str()) {
            return Ok(false);
        }
        // Forgetting a site forgets its browsers too.
        let standing = self.permissions.standing(origin);
        let known = standing.scopes.values().any(|grant| grant.allows());
        if !known {
            let gone = Put::remove(key(token), Expect::Any);
            self.store.put(vec![gone]).await?;
        }
        Ok(known)
    }

    /// The user has decided in this page: from now on its broker is trusted.
    pub(crate) async fn unlock(&self, visit: &Visit) -> Result<(), SiteError> {
        let token = new_secret();
        let put = store::record(key(&token), &visit.origin.as_str())?;
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await?;
        visit.unlock();
        visit.send(SiteServerMessage::Token { token });
        Ok(())
    }
}
