//! The person's tools: MCP servers from the settings and those that were added, run by the host, shown and called.

pub mod applets;
pub mod catalog;
pub mod entry;
pub mod file;
pub mod login;
pub mod questions;
mod routes;
mod toolset;
pub mod wire;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use applets::Applets;
use entry::ServerEntry;
use file::ServersFile;
use gangway_mcp::{Asker, Host, ServerSpec, Settings};
use login::Tokens;
use questions::Questions;
pub use routes::routes;
use secrecy::ExposeSecret;
pub use toolset::Toolset;

use crate::{
    config::{Config, ToolsConfig},
    secrets::{SecretName, Secrets},
};

/// The hidden command under which every server runs, so that it ends when Gangway does.
pub const GUARD: &str = "child-guard";

/// Whether anyone can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum People {
    /// Pages show what servers ask.
    Watching,
    /// Nobody is there; what is asked is declined.
    Away,
}

/// The person's tools.
pub struct Tools {
    /// Runs the servers.
    pub host: Arc<Host>,
    /// Gangway's own tools.
    pub applets: Arc<Applets>,
    /// What servers ask the person.
    pub questions: Arc<Questions>,
    /// The servers that were added.
    pub file: ServersFile,
    secrets: Secrets,
    config: BTreeMap<String, ServerEntry>,
    /// What is wrong with servers that cannot be started at all, and what all of them are.
    known: Mutex<Known>,
}

#[derive(Default, Clone)]
struct Known {
    entries: BTreeMap<String, ServerEntry>,
    broken: BTreeMap<String, String>,
    problem: Option<String>,
}

impl Tools {
    /// The tools of a data folder. Nothing is started yet; `program` is Gangway itself, which guards what is.
    #[must_use]
    pub fn new(
        config: &Config,
        data: &Path,
        secrets: Secrets,
        program: Option<&OsStr>,
        people: People,
    ) -> Arc<Self> {
        let questions = Arc::<Questions>::default();
        let asker = match people {
            People::Watching => Some(Arc::clone(&questions) as Arc<dyn Asker>),
            People::Away => None,
        };
        let mut settings = settings(&config.tools, program);
        settings.tokens = Some(Arc::new(Tokens(secrets.clone())));
        Arc::new(Self {
            host: Host::new(settings, asker),
            questions,
            applets: Arc::default(),
            file: ServersFile::of(data),
            secrets,
            config: config.mcp_servers.clone(),
            known: Mutex::default(),
        })
    }

    /// Takes in what the settings, the file and the secrets say now; what did not change goes on.
    pub async fn reload(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        // A keyring may wait for its owner.
        let read = tokio::task::spawn_blocking(move || tools.read()).await;
        if let Ok(specs) = read {
            self.host.set_up(specs).await;
        }
    }

    fn read(&self) -> Vec<ServerSpec> {
        let mut known = Known::default();
        match self.file.read() {
            Ok(added) => known.entries.extend(added.servers),
            Err(error) => known.problem = Some(error.to_string()),
        }
        known.entries.extend(self.config.clone());
        let mut specs = Vec::new();
        for (id, entry) in &known.entries {
            let secret = |name: &str| {
                let name = SecretName::parse(name).ok()?;
                let value = self.secrets.get(&name).ok()??;
                Some(value.expose_secret().to_owned())
            };
            match entry.spec(id, secret) {
                Ok(spec) => specs.push(spec),
                Err(error) => {
                    known.broken.insert(id.clone(), error.to_string());
                }
            }
        }
        let mut held = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if held.problem != known.problem
            && let Some(problem) = &known.problem
        {
            tracing::warn!(problem, "servers of tools cannot be read");
        }
        *held = known;
        specs
    }

    /// Everything that can be called.
    #[must_use]
    pub fn toolset(&self) -> Toolset {
        Toolset::new(Arc::clone(&self.host), Arc::clone(&self.applets))
    }

    fn known(&self) -> Known {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }
}

/// How all servers are treated.
fn settings(config: &ToolsConfig, program: Option<&OsStr>) -> Settings {
    let guard = program.map(|own| vec![own.to_owned(), GUARD.into(), OsString::from("--")]);
    Settings {
        call_timeout: Duration::from_secs(config.timeout_seconds),
        per_caller: config.at_once,
        max_result_bytes: config.result_bytes,
        start_timeout: Duration::from_secs(config.start_seconds),
        guard,
        ..Settings::default()
    }
}
