//! What travels about servers that can be installed, and about installing them.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// Servers of the catalog that were looked for.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogPage {
    /// Those that were found, the best first.
    pub servers: Vec<CatalogServer>,
    /// How many were found in all.
    pub total: usize,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next_cursor: Option<String>,
    /// How the catalog is brought up to date.
    pub refresh: CatalogRefresh,
    /// Where the catalog comes from: a URL, or `built-in`.
    pub source: String,
}

/// How the catalog as a whole is.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogState {
    /// How many servers it has.
    pub total: usize,
    /// How it is brought up to date.
    pub refresh: CatalogRefresh,
    /// Where it comes from: a URL, or `built-in`.
    pub source: String,
}

/// How the catalog is brought up to date.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogRefresh {
    /// What is going on.
    pub state: RefreshState,
    /// Servers that came in, while it is going on.
    pub fetched: usize,
    /// Why the last one failed. What was there before is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// When the whole of it was last fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<String>,
}

/// What is going on with the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum RefreshState {
    /// Nothing.
    Idle,
    /// It is being fetched.
    Running,
    /// It could not be fetched.
    Failed,
}

/// A server of the catalog.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogServer {
    /// Its name there, such as `io.github.someone/files`.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// What it is good for, in the words of whoever made it.
    pub description: String,
    /// Its version.
    pub version: String,
    /// Where its source is: a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repository: Option<String>,
    /// Its pages: a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub website: Option<String>,
    /// The servers here that were installed from it.
    pub installed: Vec<String>,
    /// The ways to install it.
    pub options: Vec<CatalogOption>,
}

/// A way to install a server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogOption {
    /// Names it among the ways of its server.
    pub key: String,
    /// What kind of thing is installed.
    pub kind: OptionKind,
    /// The command or the URL, for people.
    pub label: String,
    /// Whether this machine can do it.
    pub available: bool,
    /// Why it cannot, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// What it wants to be told.
    pub inputs: Vec<CatalogInput>,
}

/// What kind of thing is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum OptionKind {
    /// A package of npm.
    Npm,
    /// A package of PyPI.
    Pypi,
    /// A server that runs elsewhere.
    Remote,
    /// Something that Gangway does not install.
    Other,
}

/// Something that a server wants to be told.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogInput {
    /// Its name.
    pub name: String,
    /// Where its value goes.
    pub place: InputPlace,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// Whether nothing works without it.
    pub required: bool,
    /// Whether it is kept with the secrets.
    pub secret: bool,
    /// What it is unless something else is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub default: Option<String>,
    /// What it may be, where not everything will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub choices: Option<Vec<String>>,
}

/// Where a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum InputPlace {
    /// Into the environment.
    Env,
    /// Among the arguments.
    Argument,
    /// Into a header.
    Header,
    /// Into the URL.
    Url,
}

/// What this machine can run packages with.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeList {
    /// All that are known of, found or not.
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
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// What it runs.
    #[serde(rename = "for")]
    pub purpose: String,
    /// How to get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
}

/// A server to install: one of the catalog (`server`, `option`, `inputs`), or a package (`package`, `args`, `env`,
/// `secrets`).
#[derive(Clone, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct InstallServer {
    /// Its name here.
    pub id: String,
    /// Its name in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The way to install it; the first that this machine can do when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// What it wants to be told, by the names of its inputs. What is secret is kept with the secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub inputs: BTreeMap<String, String>,
    /// A package that need not be in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<PackageName>,
    /// What it is given, behind what the catalog says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>")]
    pub args: Vec<String>,
    /// What is added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// What is added to its environment and kept with the secrets.
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
    /// Where it comes from.
    pub kind: PackageKind,
    /// Its name there.
    pub name: String,
    /// Its exact version; the newest when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum PackageKind {
    /// npm.
    Npm,
    /// PyPI.
    Pypi,
}

/// Installs that go on, and the last that ended.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallList {
    /// The newest first.
    pub installs: Vec<Install>,
}

/// A server being installed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Install {
    /// Names this install.
    pub install: String,
    /// The server's name here.
    pub id: String,
    /// How far it is.
    pub state: InstallState,
    /// Its steps, in their order.
    pub steps: Vec<InstallStep>,
    /// What the package manager said, newest last; only so many lines are kept.
    pub lines: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// When it began.
    pub started_at: String,
}

/// How far an install is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum InstallState {
    /// The package comes in.
    Fetching,
    /// The server starts for the first time.
    Starting,
    /// It runs.
    Done,
    /// It could not be installed, and nothing of it is left.
    Failed,
    /// Somebody did not want it any more, and nothing of it is left.
    Cancelled,
}

/// A step of an install.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct InstallStep {
    /// Which.
    pub name: StepName,
    /// How far it is.
    pub state: StepState,
    /// What came of it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub detail: Option<String>,
}

/// The steps of an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum StepName {
    /// Whether this machine can do it, and which version it will be.
    Check,
    /// The package comes in.
    Fetch,
    /// The server is written down, its secrets are kept.
    Register,
    /// The server starts for the first time.
    Start,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum StepState {
    /// Not begun.
    Waiting,
    /// Begun.
    Running,
    /// Over.
    Done,
    /// Over, and not well.
    Failed,
}

/// Values of secrets of a server.
#[derive(Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetSecrets {
    /// The values by the names they have in its environment or headers. They are kept with the secrets and never shown
    /// again.
    pub secrets: BTreeMap<String, String>,
}
