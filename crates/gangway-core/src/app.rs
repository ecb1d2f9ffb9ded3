//! Apps that an agent opened: what the app and the agent say to each other, and what is kept of it.

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

/// Launches that one session may have.
pub(crate) const LAUNCHES: usize = 1000;

/// Addresses that one launch may have been given.
pub(crate) const PASSES: usize = 100;

/// Things that an app may always do, as they are listed.
const GRANTS: usize = 1000;

/// Why a request of an app has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppRefusal {
    /// The code that the page sees.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// Something that happened between an app and its agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AppNews {
    /// The app was opened for an agent.
    Launched {
        /// What the agent calls itself.
        agent: String,
    },
    /// The app tells the agent something.
    Emitted {
        /// The name that the page gave it.
        id: String,
        /// What kind of thing.
        event: String,
        /// More about it.
        payload: Value,
        /// Whether the app's manifest knows this kind, or names none at all.
        declared: bool,
        /// Whether a message to the agent carries it; otherwise the agent reads it with its next turn.
        turn: bool,
        /// Whether the agent has it with this: it reads the log itself.
        taken: bool,
    },
    /// The agent has it.
    Taken {
        /// The name that the page gave it.
        id: String,
        /// Who took it.
        by: String,
    },
    /// The app wants something done.
    Requested {
        /// The name that the page gave the request.
        request: String,
        /// What is to be done.
        action: String,
        /// With what.
        params: Value,
    },
    /// From here on it may have happened, whether anyone learns of it or not.
    Begun {
        /// The name that the page gave the request.
        request: String,
    },
    /// It was done, or not.
    Answered {
        /// The name that the page gave the request.
        request: String,
        /// What came of it.
        result: std::result::Result<Value, AppRefusal>,
        /// Who answered.
        by: String,
    },
    /// The agent tells the app something.
    Told {
        /// What kind of thing.
        event: String,
        /// More about it.
        payload: Value,
        /// Who said it.
        source: Source,
    },
}

/// What can be noted once under a name that the page gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// Something was told to the agent.
    Emitted,
    /// The agent has it.
    Taken,
    /// Something was asked for.
    Requested,
    /// That is being done.
    Begun,
    /// That was answered.
    Answered,
    /// A message to the agent carries what was told.
    Carried,
}

impl Noted {
    /// The name under which a session knows it.
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

impl AppNews {
    /// The name under which it is written only once in a session, where it has one.
    pub(crate) fn once(&self, launch: LaunchId) -> Option<String> {
        let (kind, id) = match self {
            Self::Emitted { id, .. } => (Noted::Emitted, id),
            Self::Taken { id, .. } => (Noted::Taken, id),
            Self::Requested { request, .. } => (Noted::Requested, request),
            Self::Begun { request } => (Noted::Begun, request),
            Self::Answered { request, .. } => (Noted::Answered, request),
            Self::Launched { .. } | Self::Told { .. } => return None,
        };
        Some(kind.name(launch, id))
    }
}

/// Who an app is opened for, as its page sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppAgent {
    /// What it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it can do.
    pub capabilities: Vec<String>,
}

/// An app that was opened for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Its name.
    pub id: LaunchId,
    /// The session whose log holds what is said.
    pub session: SessionId,
    /// The app.
    pub app: AppName,
    /// For whom.
    pub agent: AppAgent,
    /// Whether that agent takes the turns of the session, and so reads its log.
    pub in_house: bool,
    /// What the app is given.
    pub data: Map<String, Value>,
    /// How it is set up.
    pub config: Map<String, Value>,
    /// Whether its pages load anew when its files change.
    pub reload: bool,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When its addresses end.
    pub expires_at: Timestamp,
}

/// An address of a launch; the secret in it is kept as a hash alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// What the first browser that opened it shows, as a hash.
    pub browser: Option<String>,
    /// The origin of the page that holds it in a frame, if it is not one of ours.
    pub embed_origin: Option<String>,
    /// When it ends.
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

/// The records of a launch that begins.
pub(crate) fn records(launch: &Launch) -> Result<Vec<Put>> {
    let listed = format!("{}{}", launches_prefix(launch.session), launch.id);
    Ok(vec![
        Put::new(launch_key(launch.id), launch, Expect::Absent)?,
        store::record(listed, &launch.expires_at)?,
    ])
}

impl Hub {
    /// A launch by its name.
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

    /// Gives a launch one more address, by the hash of its secret.
    pub async fn add_pass(&self, launch: LaunchId, hash: &str, pass: &Pass) -> Result<()> {
        let known = self
            .store
            .list::<Pass>(&format!("pass/{launch}/"), None, PASSES)
            .await?;
        let mut puts = vec![Put::new(pass_key(launch, hash), pass, Expect::Absent)?];
        if known.len() >= PASSES {
            // Keys are hashes, so none is older than another by its name: the one that ends first makes room.
            let first = known.iter().min_by_key(|(_, pass)| pass.value.expires_at);
            puts.extend(first.map(|(key, _)| Put::remove(key.clone(), Expect::Any)));
        }
        let commit = self.store.put(puts).await?;
        self.store.keep(commit).await
    }

    /// An address by the hash of its secret.
    pub async fn pass(&self, launch: LaunchId, hash: &str) -> Result<Option<Versioned<Pass>>> {
        self.store.get(&pass_key(launch, hash)).await
    }

    /// Binds an address to the browser that opened it first; false when another was faster.
    pub async fn bind_pass(
        &self,
        launch: LaunchId,
        hash: &str,
        pass: Versioned<Pass>,
    ) -> Result<bool> {
        let expect = Expect::Version(pass.version);
        let put = Put::new(pass_key(launch, hash), &pass.value, expect)?;
        match self.store.put(vec![put]).await {
            Ok(commit) => self.store.keep(commit).await.map(|()| true),
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What was noted under a name that the page gave, with its number.
    pub async fn noted(
        &self,
        launch: &Launch,
        kind: Noted,
        id: &str,
    ) -> Result<Option<(u64, AppNews)>> {
        let name = kind.name(launch.id, id);
        let Some(seq) = self.store.once(launch.session, &name).await? else {
            return Ok(None);
        };
        let page = self.store.read(launch.session, seq - 1, 1).await?;
        let found = page.events.into_iter().find(|logged| logged.seq == seq);
        Ok(found.and_then(|logged| match &logged.event {
            Event::App { news, .. } => Some((seq, news.clone())),
            _ => None,
        }))
    }

    /// Whether the person said that an app may always do this.
    pub async fn app_granted(&self, app: &AppName, action: &str) -> Result<bool> {
        let found = self.store.get::<bool>(&grant_key(app, action)).await?;
        Ok(found.is_some_and(|record| record.value))
    }

    /// What the person said that an app may always do.
    pub async fn app_grants(&self, app: &AppName) -> Result<Vec<String>> {
        let prefix = grant_key(app, "");
        let keys = self.store.keys(&prefix, GRANTS).await?;
        let actions = keys.iter().filter_map(|key| key.strip_prefix(&prefix));
        Ok(actions.map(str::to_owned).collect())
    }

    /// Decides whether an app may always do this.
    pub async fn grant_app(&self, app: &AppName, action: &str, may: bool) -> Result<()> {
        let key = grant_key(app, action);
        let put = match may {
            true => store::record(key, &true)?,
            false => Put::remove(key, Expect::Any),
        };
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await
    }

    /// Waits until all that was written is on the disk.
    pub async fn settled(&self) -> Result<()> {
        let commit: Commit = self.store.put(Vec::new()).await?;
        self.store.keep(commit).await
    }

    /// Removes the launches that ended before then; how many.
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

    /// The keys of all that is kept of a launch.
    pub(crate) async fn launch_keys(&self, launch: LaunchId) -> Result<Vec<String>> {
        let mut keys = self
            .store
            .keys(&format!("pass/{launch}/"), PASSES + 1)
            .await?;
        keys.push(launch_key(launch));
        Ok(keys)
    }
}
