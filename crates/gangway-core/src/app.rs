//! Launches of apps, and the messages between an app and its agent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    event::{Event, Source},
    hub::Hub,
    id::{AppName, LaunchId, SessionId},
    store::{self, Commit, Expect, Put, Versioned},
};

/// Maximum number of launches per session.
pub(crate) const LAUNCHES: usize = 1000;

/// Maximum number of addresses per launch.
pub(crate) const PASSES: usize = 100;

/// Maximum length of the list of always-allowed actions.
const GRANTS: usize = 1000;

/// Why an app's request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppRefusal {
    /// The error code that the page sees.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// An entry of the log about an app and its agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AppEvent {
    /// The app was launched for an agent.
    Launched {
        /// The agent's name.
        agent: String,
    },
    /// An event from the app for the agent.
    Emitted {
        /// The id that the page chose.
        id: String,
        /// The type of the event.
        event: String,
        /// Its data.
        payload: Value,
        /// Whether the app's manifest declares this type, or declares no types.
        declared: bool,
        /// Whether it is sent to the agent as a message; otherwise the agent reads it in its next turn.
        turn: bool,
        /// Whether the agent has it already, since it reads the log itself.
        taken: bool,
    },
    /// The agent received an event.
    Taken {
        /// The id that the page chose.
        id: String,
        /// Who received it.
        by: String,
    },
    /// An action that the app requests.
    Requested {
        /// The request id that the page chose.
        request: String,
        /// The action.
        action: String,
        /// Its parameters.
        params: Value,
    },
    /// The action begins; after a crash it may or may not have happened.
    Begun {
        /// The request id that the page chose.
        request: String,
    },
    /// The result of an action.
    Answered {
        /// The request id that the page chose.
        request: String,
        /// The result, or an error.
        result: std::result::Result<Value, AppRefusal>,
        /// Who answered.
        by: String,
    },
    /// An event from the agent for the app.
    Told {
        /// The type of the event.
        event: String,
        /// Its data.
        payload: Value,
        /// Who sent it.
        source: Source,
    },
}

/// An entry that is logged once per id of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppEventKind {
    /// An event from the app.
    Emitted,
    /// The agent received it.
    Taken,
    /// An action was requested.
    Requested,
    /// The action began.
    Begun,
    /// The action was answered.
    Answered,
    /// A message to the agent carries the event.
    Carried,
}

impl AppEventKind {
    /// Its idempotency key in the session.
    #[must_use]
    pub fn name(self, launch: LaunchId, id: &str) -> String {
        let kind = match self {
            Self::Emitted => "emitted",
            Self::Taken => "taken",
            Self::Requested => "requested",
            Self::Begun => "begun",
            Self::Answered => "answered",
            Self::Carried => "turn",
        };
        format!("{launch}/{kind}/{id}")
    }
}

impl AppEvent {
    /// The idempotency key of this entry, if it has one.
    pub(crate) fn once(&self, launch: LaunchId) -> Option<String> {
        let (kind, id) = match self {
            Self::Emitted { id, .. } => (AppEventKind::Emitted, id),
            Self::Taken { id, .. } => (AppEventKind::Taken, id),
            Self::Requested { request, .. } => (AppEventKind::Requested, request),
            Self::Begun { request } => (AppEventKind::Begun, request),
            Self::Answered { request, .. } => (AppEventKind::Answered, request),
            Self::Launched { .. } | Self::Told { .. } => return None,
        };
        Some(kind.name(launch, id))
    }
}

/// The agent, as the app's page sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppAgent {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it supports.
    pub capabilities: Vec<String>,
}

/// One start of an app by an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Its id.
    pub id: LaunchId,
    /// The session whose log holds the messages.
    pub session: SessionId,
    /// The app.
    pub app: AppName,
    /// The agent.
    pub agent: AppAgent,
    /// Whether this agent takes the session's turns and so reads its log.
    pub in_house: bool,
    /// The data for the app.
    pub data: Map<String, Value>,
    /// The app's settings.
    pub config: Map<String, Value>,
    /// Whether its pages reload when its files change.
    pub reload: bool,
    /// When it was launched.
    pub created_at: Timestamp,
    /// When its addresses expire.
    pub expires_at: Timestamp,
}

/// An address of a launch. Only a hash of its secret is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchPass {
    /// Hash of the cookie of the first browser that opened it.
    pub browser: Option<String>,
    /// The origin of the parent page, if it is not ours.
    pub embed_origin: Option<String>,
    /// When it expires.
    pub expires_at: Timestamp,
}

fn launch_key(launch: LaunchId) -> String {
    format!("launch/{launch}")
}

pub(crate) fn launches_prefix(session: SessionId) -> String {
    format!("launches/{session}/")
}

fn grant_key(app: &AppName, action: &str) -> String {
    format!("app-grant/{app}/{action}")
}

fn pass_key(launch: LaunchId, hash: &str) -> String {
    format!("pass/{launch}/{hash}")
}

/// The records of a new launch.
pub(crate) fn records(launch: &Launch) -> Result<Vec<Put>> {
    let listed = format!("{}{}", launches_prefix(launch.session), launch.id);
    Ok(vec![
        Put::new(launch_key(launch.id), launch, Expect::Absent)?,
        store::record(listed, &launch.expires_at)?,
    ])
}

impl Hub {
    /// Reads a launch.
    pub async fn launch(&self, id: LaunchId) -> Result<Launch> {
        let found = self.store.get::<Launch>(&launch_key(id)).await?;
        found
            .map(|record| record.value)
            .ok_or(Error::LaunchNotFound(id))
    }

    /// The launches of a session, oldest first.
    pub async fn launches(&self, session: SessionId) -> Result<Vec<LaunchId>> {
        let prefix = launches_prefix(session);
        let rows = self.store.keys(&prefix, LAUNCHES).await?;
        let names = rows.iter().filter_map(|key| key.strip_prefix(&prefix));
        Ok(names.filter_map(|name| name.parse().ok()).collect())
    }

    /// Adds an address to a launch, by the hash of its secret.
    pub async fn add_pass(&self, launch: LaunchId, hash: &str, pass: &LaunchPass) -> Result<()> {
        let known = self
            .store
            .list::<LaunchPass>(&format!("pass/{launch}/"), None, PASSES)
            .await?;
        let mut puts = vec![Put::new(pass_key(launch, hash), pass, Expect::Absent)?];
        if known.len() >= PASSES {
            // Keys are hashes and say nothing about age: the address that expires first is evicted.
            let first = known.iter().min_by_key(|(_, pass)| pass.value.expires_at);
            puts.extend(first.map(|(key, _)| Put::remove(key.clone(), Expect::Any)));
        }
        let commit = self.store.put(puts).await?;
        self.store.keep(commit).await
    }

    /// Reads an address by the hash of its secret.
    pub async fn pass(
        &self,
        launch: LaunchId,
        hash: &str,
    ) -> Result<Option<Versioned<LaunchPass>>> {
        self.store.get(&pass_key(launch, hash)).await
    }

    /// Binds an address to the first browser that opens it; false if it is bound to another one.
    pub async fn bind_pass(
        &self,
        launch: LaunchId,
        hash: &str,
        pass: Versioned<LaunchPass>,
    ) -> Result<bool> {
        let expect = Expect::Version(pass.version);
        let put = Put::new(pass_key(launch, hash), &pass.value, expect)?;
        match self.store.put(vec![put]).await {
            Ok(commit) => self.store.keep(commit).await.map(|()| true),
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The entry with this id and its number.
    pub async fn find_app_event(
        &self,
        launch: &Launch,
        kind: AppEventKind,
        id: &str,
    ) -> Result<Option<(u64, AppEvent)>> {
        let name = kind.name(launch.id, id);
        let Some(seq) = self.store.once(launch.session, &name).await? else {
            return Ok(None);
        };
        let page = self.store.read(launch.session, seq - 1, 1).await?;
        let found = page.events.into_iter().find(|logged| logged.seq == seq);
        Ok(found.and_then(|logged| match &logged.event {
            Event::App { app_event, .. } => Some((seq, app_event.clone())),
            _ => None,
        }))
    }

    /// Whether the user always allows this action of an app.
    pub async fn app_granted(&self, app: &AppName, action: &str) -> Result<bool> {
        let found = self.store.get::<bool>(&grant_key(app, action)).await?;
        Ok(found.is_some_and(|record| record.value))
    }

    /// The actions that the user always allows an app.
    pub async fn app_grants(&self, app: &AppName) -> Result<Vec<String>> {
        let prefix = grant_key(app, "");
        let keys = self.store.keys(&prefix, GRANTS).await?;
        let actions = keys.iter().filter_map(|key| key.strip_prefix(&prefix));
        Ok(actions.map(str::to_owned).collect())
    }

    /// Allows an action always, or revokes that.
    pub async fn grant_app(&self, app: &AppName, action: &str, may: bool) -> Result<()> {
        let key = grant_key(app, action);
        let put = match may {
            true => store::record(key, &true)?,
            false => Put::remove(key, Expect::Any),
        };
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await
    }

    /// Waits until all writes are on disk.
    pub async fn settled(&self) -> Result<()> {
        let commit: Commit = self.store.put(Vec::new()).await?;
        self.store.keep(commit).await
    }

    /// Removes the launches that expired before then, and returns their number.
    pub async fn sweep_launches(&self, before: Timestamp) -> Result<usize> {
        let mut after: Option<String> = None;
        let mut removed = 0;
        loop {
            let rows = self
                .store
                .list::<Timestamp>("launches/", after.as_deref(), 200)
                .await?;
            let Some((last, _)) = rows.last() else {
                return Ok(removed);
            };
            after = Some(last.clone());
            for (key, ends) in rows {
                if ends.value >= before {
                    continue;
                }
                let Some(id) = key.rsplit('/').next().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                let mut puts = vec![Put::remove(key.clone(), Expect::Any)];
                for gone in self.launch_keys(id).await? {
                    puts.push(Put::remove(gone, Expect::Any));
                }
                self.store.put(puts).await?;
                removed += 1;
            }
        }
    }

    /// The keys of all records of a launch.
    pub(crate) async fn launch_keys(&self, launch: LaunchId) -> Result<Vec<String>> {
        let mut keys = self
            .store
            .keys(&format!("pass/{launch}/"), PASSES + 1)
            .await?;
        keys.push(launch_key(launch));
        Ok(keys)
    }
}
