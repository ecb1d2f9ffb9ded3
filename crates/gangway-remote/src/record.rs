//! The stored record of an agent.

use gangway_core::{
    Result, SessionId,
    store::{Commit, Put, Store, record},
};
use gangway_runner::wire::Adopted;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{AgentId, tokens::Tokens};
use crate::config::Features;

/// How long the record of an ended agent is kept, so that its tokens are still recognized.
pub const KEPT_AFTER_END: SignedDuration = SignedDuration::from_hours(24);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// If the server finds it in this phase at startup, it is removed.
    Creating,
    Ready,
    Ending,
    Ended,
}

/// Feature flags of the create request; absent ones use the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flags {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_upload: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice_mic: Option<bool>,
}

impl Flags {
    /// The features of a chat: those of the create request or the defaults; the URL can only hide more. A feature that
    /// the create request disabled stays disabled.
    #[must_use]
    pub fn resolve(self, defaults: Features, address: Self) -> Features {
        let one = |default: bool, created: Option<bool>, address: Option<bool>| {
            created.unwrap_or(default) && address != Some(false)
        };
        Features {
            file_upload: one(defaults.file_upload, self.file_upload, address.file_upload),
            context_usage: one(
                defaults.context_usage,
                self.context_usage,
                address.context_usage,
            ),
            voice_mic: one(defaults.voice_mic, self.voice_mic, address.voice_mic),
        }
    }

    /// The features that config and create request allow.
    #[must_use]
    pub fn allowed(self, defaults: Features) -> Features {
        self.resolve(defaults, Self::default())
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub project: String,
    pub folder: String,
    pub persona: String,
    #[serde(alias = "brain")]
    pub backend: String,
    /// The model of its project.
    pub model: Option<String>,
    /// The MCP servers of its project.
    pub mcp_servers: Option<Vec<String>>,
    pub session: SessionId,
    pub tmux: String,
    /// A key, or the owner.
    pub caller: String,
    pub flags: Flags,
    pub phase: Phase,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub ended_reason: Option<String>,
    pub tokens: Tokens,
    /// The adopted program, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<AdoptedRecord>,
    /// Hash of the runner's token.
    pub runner: String,
    /// Hashes of the idempotency key and the content of the create request.
    pub once: Option<(String, String)>,
}

/// An adopted program of the user's own tmux.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AdoptedRecord {
    pub pane: Adopted,
    /// Whether it is given the persona; otherwise the persona is only the program's name.
    pub has_persona: bool,
}

fn key(id: &AgentId) -> String {
    format!("remote/{id}")
}

impl Record {
    /// Whether it has ended or is ending.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ending | Phase::Ended)
    }

    /// Stores it; it is on disk when this returns.
    pub async fn keep(&self, store: &Store, id: &AgentId) -> Result<()> {
        let commit = store.put(vec![record(key(id), self)?]).await?;
        store.keep(commit).await
    }

    pub async fn forget(store: &Store, id: &AgentId) -> Result<Commit> {
        let commit = store
            .put(vec![Put::remove(key(id), gangway_core::store::Expect::Any)])
            .await?;
        store.keep(commit).await?;
        Ok(commit)
    }

    pub async fn all(store: &Store) -> Result<Vec<(AgentId, Self)>> {
        let mut found = Vec::new();
        let mut before: Option<String> = None;
        loop {
            let rows = store
                .list::<Self>("remote/", before.as_deref(), 256)
                .await?;
            let Some((last, _)) = rows.last() else {
                return Ok(found);
            };
            before = Some(last.clone());
            found.extend(rows.into_iter().filter_map(|(key, row)| {
                let id = key.trim_start_matches("remote/").parse().ok()?;
                Some((id, row.value))
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn create_beats_config_and_an_address_shows_only_what_they_allow() {
        let on = Some(true);
        let off = Some(false);
        for (default, created, address, shown) in [
            (false, None, None, false),
            (true, None, None, true),
            (true, off, None, false),
            (false, on, None, true),
            (false, None, on, false),
            (false, off, on, false),
            (true, off, on, false),
            (true, off, off, false),
            (true, None, on, true),
            (false, on, on, true),
            (true, on, off, false),
            (false, on, off, false),
            (true, None, off, false),
        ] {
            let defaults = Features {
                voice_mic: default,
                ..Features::default()
            };
            let flags = |voice_mic| Flags {
                voice_mic,
                ..Flags::default()
            };
            let features = flags(created).resolve(defaults, flags(address));
            assert_eq!(
                features.voice_mic, shown,
                "{default} {created:?} {address:?}"
            );
        }
    }
}
