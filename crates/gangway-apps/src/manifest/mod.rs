//! The manifest `APP.md`, and its problems by line.

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
pub use read::{ParsedManifest, read};

use gangway_files::FilePath;

/// The file that makes a folder an app.
pub const FILE: &str = "APP.md";

pub const LARGEST: u64 = 64 << 10;

#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    pub name: AppName,
    /// For people; the name by default.
    pub title: String,
    pub description: String,
    pub version: String,
    /// The first page.
    pub entry: FilePath,
    /// For apps that were made for a server.
    pub server: Option<Server>,
    /// A character or two, or the path of an image in its folder.
    pub icon: Option<String>,
    /// Browser features that it uses, if declared.
    pub capabilities: Option<Vec<String>>,
    /// Packages that its scripts import by name.
    pub dependencies: Vec<PackageNeed>,
    pub category: Option<String>,
    /// For search.
    pub tags: Vec<String>,
    /// The Content-Security-Policy of its pages.
    pub csp: Option<String>,
    /// Whether its pages may register a service worker.
    pub service_worker: bool,
    pub agent: AgentPart,
    /// The Markdown below the front matter.
    pub about: String,
}

/// A package that the scripts of an app import, as in the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageNeed {
    pub name: String,
    /// The version range; `*` by default.
    pub range: String,
}

/// A program that serves an app elsewhere. Gangway serves the files, but runs no program.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// `bun`, `deno` or `node`.
    pub runtime: String,
    /// The program, if declared.
    pub file: Option<FilePath>,
    /// Whether the manifest declares the first page.
    pub has_page: bool,
    /// The line of the declaration.
    pub line: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentPart {
    /// Whether agents find it.
    pub discoverable: bool,
    pub launchable: bool,
    /// When to use it.
    pub triggers: Vec<String>,
    /// What it provides.
    pub provides: Vec<String>,
    /// What an agent must be able to do.
    pub requires: Vec<String>,
    pub context: ContextFields,
    pub events: Vec<EventPart>,
    /// The default delivery of events.
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema, TS)]
pub struct ContextFields {
    pub data: BTreeMap<String, Field>,
    pub config: BTreeMap<String, Field>,
}

impl ContextFields {
    #[must_use]
    pub fn declared(&self) -> bool {
        !self.data.is_empty() || !self.config.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventPart {
    pub name: String,
    pub description: Option<String>,
    pub payload: Fields,
    pub deliver: Option<Delivery>,
}

/// How an event reaches Gangway's own agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The agent reads it in its next turn.
    #[default]
    Context,
    /// It starts a turn.
    Turn,
}

impl Manifest {
    #[must_use]
    pub fn delivery(&self, event: &str) -> Delivery {
        let declared = self.agent.events.iter().find(|one| one.name == event);
        declared
            .and_then(|event| event.deliver)
            .unwrap_or(self.agent.delivery)
    }

    /// Whether the app declares an event; one that declares none may emit anything.
    #[must_use]
    pub fn declares(&self, event: &str) -> bool {
        self.agent.events.is_empty() || self.agent.events.iter().any(|one| one.name == event)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The app cannot be launched.
    Error,
    /// It can, but may not work as intended.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema, TS)]
pub struct Problem {
    /// The line of `APP.md`, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub line: Option<u64>,
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
