//! What is kept of an agent.

use gangway_core::{
    Result, SessionId,
    store::{Commit, Put, Store, record},
};
use gangway_runner::wire::Adopted;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{AgentId, tokens::Tokens};
use crate::config::Features;

/// How long the record of an agent that ended is kept, so that its tokens still mean something.
pub const KEPT_AFTER_END: SignedDuration = SignedDuration::from_hours(24);

/// How far an agent has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It is being made; if the server finds it so when it starts, it is unmade.
    Creating,
    /// It lives.
    Ready,
    /// It is being ended.
    Ending,
    /// It is over.
    Ended,
}

/// What was asked for an agent's chat; what was not said is as the settings have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flags {
    /// Files can be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_upload: Option<bool>,
    /// How full the model's window is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<bool>,
    /// The microphone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice_mic: Option<bool>,
}

impl Flags {
    /// What a chat shows: what the create request said, or else the config; the address may only hide some of it. A
    /// flag that the create request switched off stays off.
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

    /// What config and create request allow, whatever an address says.
    #[must_use]
    pub fn allowed(self, defaults: Features) -> Features {
        self.resolve(defaults, Self::default())
    }
}

/// An agent as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Its project.
    pub project: String,
    /// The folder it works in.
    pub folder: String,
    /// Who it is.
    pub persona: String,
    /// What thinks in it.
    pub brain: String,
    /// The model that its project wants.
    pub model: Option<String>,
    /// The only MCP servers that its project wants.
    pub mcp_servers: Option<Vec<String>>,
    /// Its session.
    pub session: SessionId,
    /// Its tmux session.
    pub tmux: String,
    /// Who made it: a key, or somebody on this machine.
    pub caller: String,
    /// What its chat shows.
    pub flags: Flags,
    /// How far it has come.
    pub phase: Phase,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub ended_reason: Option<String>,
    /// What lets others in.
    pub tokens: Tokens,
    /// The program that it was made of, where that ran before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<AdoptedRecord>,
    /// What lets its runner in, as a hash.
    pub runner: String,
    /// A name of the request that made it and a mark of what that asked for, as hashes.
    pub once: Option<(String, String)>,
}

/// A program of the person's own tmux that became an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AdoptedRecord {
    /// Where it runs.
    pub pane: Adopted,
    /// Whether it is told the persona; otherwise the agent has only the program's name.
    pub has_persona: bool,
}

fn key(id: &AgentId) -> String {
    format!("remote/{id}")
}

impl Record {
    /// Whether it is over or soon will be.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ending | Phase::Ended)
    }

    /// Keeps it; it is on the disk when this returns.
    pub async fn keep(&self, store: &Store, id: &AgentId) -> Result<()> {
        let commit = store.put(vec![record(key(id), self)?]).await?;
        store.keep(commit).await
    }

    /// Forgets it.
    pub async fn forget(store: &Store, id: &AgentId) -> Result<Commit> {
        let commit = store
            .put(vec![Put::remove(key(id), gangway_core::store::Expect::Any)])
            .await?;
        store.keep(commit).await?;
        Ok(commit)
    }

    /// All there are.
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
