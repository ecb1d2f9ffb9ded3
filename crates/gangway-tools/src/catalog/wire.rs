//! API types of the catalog and of installs.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// Search results from the catalog.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogPage {
    /// The servers, best matches first.
    pub servers: Vec<CatalogServer>,
    /// The total number of results.
    pub total: usize,
    /// Cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next_cursor: Option<String>,
    /// The state of the refresh.
    pub refresh: CatalogRefresh,
    /// The source of the catalog: a URL, or `built-in`.
    pub source: String,
}

/// The state of the catalog.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogState {
    /// The number of servers.
    pub total: usize,
    /// The state of the refresh.
    pub refresh: CatalogRefresh,
    /// The source: a URL, or `built-in`.
    pub source: String,
}

/// The state of a refresh.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogRefresh {
    /// What is going on.
    pub state: RefreshState,
    /// Servers received so far, during a refresh.
    pub fetched: usize,
    /// Why the last refresh failed. The previous entries remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// When the catalog was last refreshed completely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<String>,
}

/// The phase of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum RefreshState {
    /// None is running.
    Idle,
    /// Running.
    Running,
    /// The last one failed.
    Failed,
}

/// A server in the catalog.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogServer {
    /// Its name in the catalog, such as `io.github.someone/files`.
    pub name: String,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// Its description by its author.
    pub description: String,
    /// Its version.
    pub version: String,
    /// URL of its source code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repository: Option<String>,
    /// URL of its website.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub website: Option<String>,
    /// The installed servers from this entry.
    pub installed: Vec<String>,
    /// The install options.
    pub options: Vec<CatalogOption>,
}

/// An install option of a server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogOption {
    /// Its id among the server's options.
    pub key: String,
    /// What is installed.
    pub kind: OptionKind,
    /// The command or URL, for display.
    pub label: String,
    /// Whether this machine supports it.
    pub available: bool,
    /// Why it is not supported, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// Its inputs.
    pub inputs: Vec<CatalogInput>,
}

/// What is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum OptionKind {
    /// An npm package.
    Npm,
    /// A PyPI package.
    Pypi,
    /// A remote server.
    Remote,
    /// Not supported by Gangway.
    Other,
}

/// An input of a server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogInput {
    /// Its name.
    pub name: String,
    /// Where its value is used.
    pub place: InputPlace,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// Whether it is required.
    pub required: bool,
    /// Whether it is stored as a secret.
    pub secret: bool,
    /// Its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub default: Option<String>,
    /// The allowed values, if restricted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub choices: Option<Vec<String>>,
}

/// Where an input's value is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum InputPlace {
    /// An environment variable.
    Env,
    /// An argument.
    Argument,
    /// A header.
    Header,
    /// The URL.
    Url,
}

/// The package runtimes of this machine.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeList {
    /// All known runtimes, found or not.
    pub runtimes: Vec<RuntimeInfo>,
}

/// A program that runs packages.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeInfo {
    /// `npx`, `uvx` or `pipx`.
    pub name: String,
    /// Whether it is here and works.
    pub found: bool,
    /// Whether it was found and works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// Its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// The packages that it runs.
    #[serde(rename = "for")]
    pub purpose: String,
    /// How to install it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
}

/// A server to install: a catalog entry (`server`, `option`, `inputs`), or a package (`package`, `args`, `env`,
/// `secrets`).
#[derive(Clone, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct InstallServer {
    /// Its id here.
    pub id: String,
    /// Its name in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The install option; default is the first that this machine supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Values by input name. Secret ones are stored as secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub inputs: BTreeMap<String, String>,
    /// A package, not necessarily in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<PackageName>,
    /// Additional arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>")]
    pub args: Vec<String>,
    /// Additional environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// Additional environment variables that are stored as secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub secrets: BTreeMap<String, String>,
    /// Whether the install scripts of npm packages run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub allow_scripts: bool,
}

impl fmt::Debug for InstallServer {
    // Nearly every field may hold a secret.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("InstallServer");
        shown.field("id", &self.id).finish_non_exhaustive()
    }
}

/// A package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PackageName {
    /// Its registry.
    pub kind: PackageKind,
    /// Its name in the registry.
    pub name: String,
    /// Its exact version; default is the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
}

/// A package registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum PackageKind {
    /// npm.
    Npm,
    /// PyPI.
    Pypi,
}

/// Running installs, and the last ones that ended.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallList {
    /// Newest first.
    pub installs: Vec<Install>,
}

/// A server being installed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Install {
    /// Its id.
    pub install: String,
    /// The server's id here.
    pub id: String,
    /// Its state.
    pub state: InstallState,
    /// Its steps in order.
    pub steps: Vec<InstallStep>,
    /// The last lines of the package manager's output.
    pub lines: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// When it began.
    pub started_at: String,
}

/// The state of an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum InstallState {
    /// The package is being downloaded.
    Fetching,
    /// The server starts for the first time.
    Starting,
    /// The server is running.
    Done,
    /// It failed and was rolled back.
    Failed,
    /// It was cancelled and rolled back.
    Cancelled,
}

/// A step of an install.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallStep {
    /// Which step.
    pub name: StepName,
    /// Its state.
    pub state: StepState,
    /// A note about its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub detail: Option<String>,
}

/// The steps of an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum StepName {
    /// Check that this machine supports it, and resolve the version.
    Check,
    /// Download the package.
    Fetch,
    /// Store the server and its secrets.
    Register,
    /// Start the server for the first time.
    Start,
}

/// The state of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum StepState {
    /// Not started.
    Waiting,
    /// Running.
    Running,
    /// Done.
    Done,
    /// Failed.
    Failed,
}

/// New values of a server's secrets.
#[derive(Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetSecrets {
    /// Values by the names of their environment variables or headers. They are stored as secrets and never shown again.
    pub secrets: BTreeMap<String, String>,
}
