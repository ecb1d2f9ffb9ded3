//! What `APP.md` says about an app, and what is wrong with it, line by line.

mod agent;
mod field;
mod front;
mod read;
mod tree;

use std::{collections::BTreeMap, fmt};

use gangway_core::AppName;
use serde::Serialize;
use ts_rs::TS;
use utoipa::ToSchema;

pub use agent::is_event_name;
pub use field::{Field, FieldKind, Fields};
pub use read::{Reading, read};

use gangway_files::FilePath;

/// The file that makes a folder an app.
pub const FILE: &str = "APP.md";

/// Bytes of `APP.md` at the most.
pub const LARGEST: u64 = 64 << 10;

/// What an app says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Its name.
    pub name: AppName,
    /// What people call it; its name, if it says nothing else.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Which version of it this is.
    pub version: String,
    /// The page it opens with.
    pub entry: FilePath,
    /// What else would run it, where it is not made for browsers alone.
    pub server: Option<Server>,
    /// A character or two, or the path of a picture in its folder.
    pub icon: Option<String>,
    /// Features of browsers that it uses, where it says so.
    pub capabilities: Option<Vec<String>>,
    /// Packages that its scripts import by name.
    pub dependencies: Vec<PackageNeed>,
    /// What kind of app it is.
    pub category: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The Content-Security-Policy that its pages are served with.
    pub csp: Option<String>,
    /// Whether its pages may register a service worker.
    pub service_worker: bool,
    /// What agents need to know.
    pub agent: AgentPart,
    /// The text below the front matter, Markdown.
    pub about: String,
}

/// A package that the scripts of an app import, as the manifest writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageNeed {
    /// Its name.
    pub name: String,
    /// Which versions of it; `*` where it does not say.
    pub range: String,
}

/// A program that serves an app elsewhere. Gangway serves the files, and runs no program.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// `bun`, `deno` or `node`.
    pub runtime: String,
    /// The program, where the manifest names it.
    pub file: Option<FilePath>,
    /// Whether the manifest names the page it opens with.
    pub has_page: bool,
    /// The line that says so.
    pub line: u64,
}

/// What an app says to agents.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentPart {
    /// Whether agents find it.
    pub discoverable: bool,
    /// Whether agents may open it.
    pub launchable: bool,
    /// When to think of it.
    pub triggers: Vec<String>,
    /// What it gives.
    pub provides: Vec<String>,
    /// What an agent must be able to do for it.
    pub requires: Vec<String>,
    /// What it can be launched with.
    pub context: ContextFields,
    /// What it tells its agent.
    pub events: Vec<EventPart>,
    /// How its events reach the agent, where an event says nothing else.
    pub delivery: Delivery,
}

impl Default for AgentPart {
    fn default() -> Self {
        Self {
            discoverable: true,
            launchable: true,
            triggers: Vec::new(),
            provides: Vec::new(),
            requires: Vec::new(),
            context: ContextFields::default(),
            events: Vec::new(),
            delivery: Delivery::default(),
        }
    }
}

/// The fields of an app's context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema, TS)]
pub struct ContextFields {
    /// What it works on.
    pub data: BTreeMap<String, Field>,
    /// How it looks and works.
    pub config: BTreeMap<String, Field>,
}

impl ContextFields {
    /// Whether the app says anything about its context.
    #[must_use]
    pub fn declared(&self) -> bool {
        !self.data.is_empty() || !self.config.is_empty()
    }
}

/// An event that an app says it emits.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPart {
    /// Its name.
    pub name: String,
    /// When it is emitted.
    pub description: Option<String>,
    /// What comes with it.
    pub payload: Fields,
    /// How it reaches the agent.
    pub deliver: Option<Delivery>,
}

/// How an event reaches an agent in the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The agent reads of it at its next turn.
    #[default]
    Context,
    /// It makes the agent take a turn.
    Turn,
}

impl Manifest {
    /// How an event reaches the agent.
    #[must_use]
    pub fn delivery(&self, event: &str) -> Delivery {
        let declared = self.agent.events.iter().find(|one| one.name == event);
        declared
            .and_then(|event| event.deliver)
            .unwrap_or(self.agent.delivery)
    }

    /// Whether the app emits such an event, as far as it says; one that says nothing may emit anything.
    #[must_use]
    pub fn declares(&self, event: &str) -> bool {
        self.agent.events.is_empty() || self.agent.events.iter().any(|one| one.name == event)
    }
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The app cannot be launched.
    Error,
    /// It can, but not all may be as it was meant.
    Warning,
}

/// Something that is wrong with an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema, TS)]
pub struct Problem {
    /// The line of `APP.md`, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub line: Option<u64>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{FILE}:{line}: {}: {}", self.severity, self.message),
            None => write!(f, "{FILE}: {}: {}", self.severity, self.message),
        }
    }
}
