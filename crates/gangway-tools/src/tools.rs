//! The user's MCP servers: configured and added ones, run by the host.

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

/// The hidden subcommand that wraps every server, so that it exits when Gangway does.
pub const GUARD: &str = "child-guard";

/// Which MCP servers are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerSelection {
    /// All of them until Gangway exits; elicitation requests are displayed.
    All,
    /// These, for a single command; elicitation requests are declined, since no page shows them.
    These(BTreeSet<String>),
}

impl ServerSelection {
    pub(crate) fn has(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(id),
        }
    }
}

/// The user's tools.
pub struct Tools {
    /// Runs the servers.
    pub host: Arc<Host>,
    /// The added servers.
    pub file: ServersFile,
    /// The installable servers.
    pub catalog: Catalog,
    /// Installs of servers.
    pub installs: Installs,
    /// The packages, each in a folder with its server's id.
    pub(crate) packages: PathBuf,
    /// The search path for programs.
    pub(crate) path: OsString,
    pub(crate) guard: Option<Vec<OsString>>,
    pub(crate) install_seconds: u64,
    /// The default approval policy.
    pub(crate) approval: ApprovalPolicy,
    pub(crate) stop: CancellationToken,
    pub(crate) wanted: Mutex<ServerSelection>,
    pub(crate) secrets: Secrets,
    pub(crate) config: BTreeMap<String, ServerEntry>,
    /// Errors of servers that cannot be started, and the list of all servers.
    pub(crate) known: Mutex<ConfiguredServers>,
}

#[derive(Default, Clone)]
pub(crate) struct ConfiguredServers {
    pub(crate) entries: BTreeMap<String, ServerEntry>,
    pub(crate) broken: BTreeMap<String, String>,
    pub(crate) problem: Option<String>,
}

impl Tools {
    /// The tools of a data folder. Starts nothing yet; `program` is Gangway itself, which wraps the servers.
    #[must_use]
    pub fn new(
        settings: &ToolSettings,
        data: &Path,
        secrets: Secrets,
        program: Option<&OsStr>,
        wanted: ServerSelection,
        asks: Arc<Asks>,
    ) -> Arc<Self> {
        let asker = match &wanted {
            ServerSelection::All => Some(Arc::new(Elicitation(asks)) as Arc<dyn Asker>),
            ServerSelection::These(_) => None,
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

    /// Adds a server to run from the next reload on; false if it is already included.
    pub(crate) fn want(&self, id: &str) -> bool {
        match &mut *self.lock_wanted() {
            ServerSelection::All => false,
            ServerSelection::These(ids) => ids.insert(id.to_owned()),
        }
    }

    pub(crate) fn lock_wanted(&self) -> MutexGuard<'_, ServerSelection> {
        self.wanted.lock()
    }

    /// Reads the list of servers without starting any.
    pub async fn look(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || tools.read()).await;
    }

    /// Reloads settings, file and secrets; unchanged servers keep running.
    pub async fn reload(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        // A keyring may block for its owner.
        let read = tokio::task::spawn_blocking(move || tools.read()).await;
        if let Ok(specs) = read {
            self.host.set_up(specs).await;
        }
    }

    /// The named MCP servers for an agent with its own folder, where those without a working directory run. Blocks,
    /// since a keyring may wait for its owner.
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

    /// Ends everything: downloads and installs, then the servers.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.installs.shutdown().await;
        self.host.shutdown().await;
    }

    fn read(&self) -> Vec<ServerSpec> {
        let mut known = ConfiguredServers::default();
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
            tracing::warn!(problem, "cannot read the list of MCP servers");
        }
        *held = known;
        specs
    }

    /// The ids of the MCP servers.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.lock_known().entries.keys().cloned().collect()
    }

    pub(crate) fn is_from_config(&self, id: &str) -> bool {
        self.config.contains_key(id)
    }

    /// The approval policy in a server's entry.
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

    pub(crate) fn lock_known(&self) -> MutexGuard<'_, ConfiguredServers> {
        self.known.lock()
    }

    pub(crate) fn known(&self) -> ConfiguredServers {
        self.lock_known().clone()
    }
}

/// Settings for all servers.
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
