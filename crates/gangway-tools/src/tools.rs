//! The person's MCP servers: those of the settings and those that were added, run by the host.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gangway_core::Asks;
use gangway_mcp::{Asker, Host, ServerSpec, Settings, Transport};
use gangway_secrets::{SecretName, Secrets};
use parking_lot::{Mutex, MutexGuard};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::ApprovalPolicy,
    catalog::Catalog,
    config::{ToolSettings, ToolsConfig},
    elicitation::Elicitation,
    entry::ServerEntry,
    file::{FileError, ServersFile},
    install::{self, Installs},
    login::Tokens,
    routes,
};

/// The hidden command under which every server runs, so that it ends when Gangway does.
pub const GUARD: &str = "child-guard";

/// Which MCP servers run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// All of them, as long as Gangway does; pages show what they ask.
    All,
    /// These, for one command; what they ask is declined, since no page shows it.
    These(BTreeSet<String>),
}

impl Wanted {
    pub(crate) fn has(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(id),
        }
    }
}

/// The person's tools.
pub struct Tools {
    /// Runs the servers.
    pub host: Arc<Host>,
    /// The servers that were added.
    pub file: ServersFile,
    /// The servers that can be installed.
    pub catalog: Catalog,
    /// The servers that are being installed.
    pub installs: Installs,
    /// Where packages are put, each in a folder of its server's name.
    pub(crate) packages: PathBuf,
    /// Where programs are looked for.
    pub(crate) path: OsString,
    pub(crate) guard: Option<Vec<OsString>>,
    pub(crate) install_seconds: u64,
    /// The approval policy of servers without one of their own.
    pub(crate) approval: ApprovalPolicy,
    pub(crate) stop: CancellationToken,
    pub(crate) wanted: Mutex<Wanted>,
    pub(crate) secrets: Secrets,
    pub(crate) config: BTreeMap<String, ServerEntry>,
    /// What is wrong with servers that cannot be started at all, and what all of them are.
    pub(crate) known: Mutex<Known>,
}

#[derive(Default, Clone)]
pub(crate) struct Known {
    pub(crate) entries: BTreeMap<String, ServerEntry>,
    pub(crate) broken: BTreeMap<String, String>,
    pub(crate) problem: Option<String>,
}

impl Tools {
    /// The tools of a data folder. Nothing is started yet; `program` is Gangway itself, which guards what is.
    #[must_use]
    pub fn new(
        settings: &ToolSettings,
        data: &Path,
        secrets: Secrets,
        program: Option<&OsStr>,
        wanted: Wanted,
        asks: Arc<Asks>,
    ) -> Arc<Self> {
        let asker = match &wanted {
            Wanted::All => Some(Arc::new(Elicitation(asks)) as Arc<dyn Asker>),
            Wanted::These(_) => None,
        };
        let stop = CancellationToken::new();
        let config = &settings.tools;
        let path = install::search_path(&config.programs);
        let mut host = host_settings(config, program);
        let guard = host.guard.clone();
        host.path = (!config.programs.is_empty()).then(|| path.clone());
        host.tokens = Some(Arc::new(Tokens(secrets.clone())));
        Arc::new(Self {
            host: Host::new(host, asker),
            file: ServersFile::of(data),
            catalog: Catalog::new(config, data, stop.clone()),
            installs: Installs::default(),
            packages: data.join("mcp").join("packages"),
            path,
            guard,
            install_seconds: config.install_seconds,
            approval: config.approval,
            stop,
            wanted: Mutex::new(wanted),
            secrets,
            config: settings.servers.clone(),
            known: Mutex::default(),
        })
    }

    /// Has this server run too, from the next reload on; false when it is wanted already.
    pub(crate) fn want(&self, id: &str) -> bool {
        match &mut *self.lock_wanted() {
            Wanted::All => false,
            Wanted::These(ids) => ids.insert(id.to_owned()),
        }
    }

    pub(crate) fn lock_wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock()
    }

    /// Takes in which servers there are, and starts none of them.
    pub async fn look(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || tools.read()).await;
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

    /// The named MCP servers, for an agent with a folder of its own: those without a working directory run in that
    /// folder. Blocks, since a keyring may wait for its owner.
    #[must_use]
    pub fn specs_in(&self, folder: &Path, named: &[String]) -> Vec<ServerSpec> {
        let mut specs = self.read();
        specs.retain(|spec| named.iter().any(|name| name == spec.id.as_str()));
        for spec in &mut specs {
            if let Transport::Stdio { cwd, .. } = &mut spec.transport {
                cwd.get_or_insert_with(|| folder.to_owned());
            }
        }
        specs
    }

    /// Ends everything: what is being fetched and installed, then the servers.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.installs.shutdown().await;
        self.host.shutdown().await;
    }

    fn read(&self) -> Vec<ServerSpec> {
        let mut known = Known::default();
        match self.file.read() {
            Ok(added) => known.entries.extend(added.servers),
            Err(error) => known.problem = Some(error.to_string()),
        }
        known.entries.extend(self.config.clone());
        let mut specs = Vec::new();
        let wanted = self.lock_wanted().clone();
        for (id, entry) in known.entries.iter().filter(|(id, _)| wanted.has(id)) {
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
        let mut held = self.lock_known();
        if held.problem != known.problem
            && let Some(problem) = &known.problem
        {
            tracing::warn!(problem, "MCP servers cannot be read");
        }
        *held = known;
        specs
    }

    /// The names of the MCP servers.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.lock_known().entries.keys().cloned().collect()
    }

    pub(crate) fn is_from_config(&self, id: &str) -> bool {
        self.config.contains_key(id)
    }

    /// The approval policy that a server's entry names.
    pub(crate) fn approval_of(&self, id: &str) -> Option<ApprovalPolicy> {
        let known = self.lock_known();
        known.entries.get(id).and_then(|entry| entry.approval)
    }

    /// The command line or URL of a server.
    pub(crate) fn target_of(&self, id: &str) -> String {
        let known = self.lock_known();
        known
            .entries
            .get(id)
            .map(routes::target)
            .unwrap_or_default()
    }

    pub(crate) async fn set_approval(
        self: &Arc<Self>,
        id: &str,
        policy: ApprovalPolicy,
    ) -> Result<(), FileError> {
        let (file, name) = (self.file.clone(), id.to_owned());
        let set = tokio::task::spawn_blocking(move || file.set_approval(&name, policy)).await;
        set.unwrap_or_else(|_| Err(FileError::NotFound(id.to_owned())))?;
        self.reload().await;
        Ok(())
    }

    pub(crate) fn lock_known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }

    pub(crate) fn known(&self) -> Known {
        self.lock_known().clone()
    }
}

/// How all servers are treated.
fn host_settings(config: &ToolsConfig, program: Option<&OsStr>) -> Settings {
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
