//! Invitations of external agents to chats: tokens for one chat, with a label and an expiry.

use std::{collections::HashMap, time::Duration};

use gangway_core::{
    Result, SessionId,
    secret::{hash, new_secret},
    store::{Expect, Put, Store, record},
};
use jiff::Timestamp;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::{sync::watch, time::Instant};

/// Maximum number of chats with invitations.
const CHATS: usize = 1000;

/// Maximum number of invitations to one chat.
pub const INVITATIONS: usize = 20;

const KEY: &str = "relay-invitations/";

/// An invitation, without its token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Invitation {
    pub id: String,
    /// The name under which its agents appear.
    pub label: String,
    hash: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Access to a chat by an invitation.
#[derive(Debug, Clone)]
pub struct InvitationGrant {
    pub chat: SessionId,
    pub id: String,
    pub label: String,
    /// When it expires.
    until: Instant,
}

/// A new invitation; its token is shown once.
pub struct NewInvitation {
    pub token: String,
    pub invitation: Invitation,
}

/// Stores hashes only.
pub struct Invitations {
    store: Store,
    stored: RwLock<HashMap<SessionId, Vec<Invitation>>>,
    /// Held while they are changed, so that no change overwrites another.
    changing: tokio::sync::Mutex<()>,
    changes: watch::Sender<()>,
}

impl Invitation {
    fn is_valid(&self) -> bool {
        Timestamp::now() < self.expires_at
    }
}

impl Invitations {
    pub async fn load(store: Store) -> Result<Self> {
        let rows = store.list::<Vec<Invitation>>(KEY, None, CHATS).await?;
        let stored = rows.into_iter().filter_map(|(key, row)| {
            let chat = key.strip_prefix(KEY)?.parse().ok()?;
            Some((chat, row.value))
        });
        Ok(Self {
            stored: RwLock::new(stored.collect()),
            changing: tokio::sync::Mutex::default(),
            changes: watch::Sender::new(()),
            store,
        })
    }

    /// Invites an agent to a chat.
    pub async fn make(
        &self,
        chat: SessionId,
        label: String,
        expires_at: Timestamp,
    ) -> Result<std::result::Result<NewInvitation, TooManyInvitations>> {
        let _changing = self.changing.lock().await;
        let mut all = self.of(chat);
        let is_full = || self.stored.read().len() >= CHATS;
        if all.is_empty() && is_full() {
            self.sweep().await?;
        }
        if all.len() >= INVITATIONS || all.is_empty() && is_full() {
            return Ok(Err(TooManyInvitations));
        }
        let token = format!("gwi_{}", new_secret());
        let invitation = Invitation {
            id: new_secret().chars().take(12).collect(),
            label,
            hash: hash(&token),
            created_at: gangway_core::event::now(),
            expires_at,
        };
        all.push(invitation.clone());
        self.keep(chat, all).await?;
        Ok(Ok(NewInvitation { token, invitation }))
    }

    /// Revokes an invitation, or all of a chat, and closes the connections of its agents; false if there is none.
    pub async fn remove(&self, chat: SessionId, id: Option<&str>) -> Result<bool> {
        let _changing = self.changing.lock().await;
        let mut all = self.of(chat);
        let before = all.len();
        all.retain(|one| id.is_some_and(|id| one.id != id));
        if all.len() == before {
            return Ok(false);
        }
        self.keep(chat, all).await?;
        Ok(true)
    }

    /// Removes those that have expired.
    async fn sweep(&self) -> Result<()> {
        for chat in self.chats() {
            if self.of(chat).is_empty() {
                self.keep(chat, Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn keep(&self, chat: SessionId, all: Vec<Invitation>) -> Result<()> {
        let key = format!("{KEY}{chat}");
        let put = match all.is_empty() {
            true => Put::remove(key, Expect::Any),
            false => record(key, &all)?,
        };
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await?;
        let mut stored = self.stored.write();
        match all.is_empty() {
            true => stored.remove(&chat),
            false => stored.insert(chat, all),
        };
        drop(stored);
        self.changes.send_replace(());
        Ok(())
    }

    /// The valid invitations to a chat, oldest first.
    #[must_use]
    pub fn of(&self, chat: SessionId) -> Vec<Invitation> {
        let stored = self.stored.read();
        let all = stored.get(&chat).into_iter().flatten();
        all.filter(|one| one.is_valid()).cloned().collect()
    }

    /// The chats with invitations.
    #[must_use]
    pub fn chats(&self) -> Vec<SessionId> {
        let mut chats: Vec<_> = self.stored.read().keys().copied().collect();
        chats.sort_unstable_by_key(ToString::to_string);
        chats
    }

    /// Verifies a token.
    #[must_use]
    pub fn admit(&self, chat: SessionId, shown: &str) -> Option<InvitationGrant> {
        let shown = hash(shown);
        let same = |one: &Invitation| bool::from(one.hash.as_bytes().ct_eq(shown.as_bytes()));
        let found = self.of(chat).into_iter().find(same)?;
        let left = found.expires_at.duration_since(Timestamp::now());
        Some(InvitationGrant {
            chat,
            id: found.id,
            label: found.label,
            until: Instant::now() + Duration::try_from(left).unwrap_or_default(),
        })
    }

    /// Waits until the invitation is revoked or has expired.
    pub async fn ended(&self, grant: &InvitationGrant) {
        let mut changes = self.changes.subscribe();
        let expired = tokio::time::sleep_until(grant.until);
        let revoked = async {
            while self.of(grant.chat).iter().any(|one| one.id == grant.id) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = expired => {}
            () = revoked => {}
        }
    }
}

/// Too many invitations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "at most {INVITATIONS} invitations to a chat can be valid, and {CHATS} chats can have some; revoke one"
)]
pub struct TooManyInvitations;
