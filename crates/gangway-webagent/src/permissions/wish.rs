//! What a page wishes for, what of it the person has to be asked, and what came of it.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::{Grant, Origin, Scope, TabId, Tool, ToolName, sanitize::is_visible};

use super::standing::Standing;

/// The most tools that one question shows; nobody reads more.
const TOOLS: usize = 500;

/// What a page wishes for.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Where the page comes from.
    pub origin: Origin,
    /// The tab that it is in. Hold its `visit` meanwhile: what is allowed once ends with the tab.
    pub tab: TabId,
    /// The page of another site in whose frame it is, and which lets it ask.
    pub embedder: Option<Origin>,
    /// What it wishes to do.
    pub scopes: Vec<Scope>,
    /// Why, in its own words.
    pub reason: String,
    /// The tools that it named; `server/*` names all of a server.
    pub tools: Option<Vec<ToolName>>,
    /// The tools that there are.
    pub offered: Vec<Arc<Tool>>,
    /// An MCP server that it brings along.
    pub server: Option<WishedServer>,
    /// Whether only who knows the question's id may see it.
    pub hidden: bool,
}

/// An MCP server that a page brings along, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WishedServer {
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub description: Option<String>,
    /// The tools that it is said to have.
    pub tools: Vec<String>,
}

/// What came of a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the person said.
    pub decision: Decision,
    /// What the origin may do now.
    pub standing: Standing,
}

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Yes, for a while.
    Once,
    /// Yes, until it is revoked.
    Always,
    /// No; about scopes that is remembered.
    Denied,
    /// Nothing: the window was closed, or it took too long.
    Unanswered,
    /// There was nothing to ask: all of it was allowed or refused before. The standing tells which.
    NothingToAsk,
}

impl Decision {
    /// As it stands in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Denied => "denied",
            Self::Unanswered => "unanswered",
            Self::NothingToAsk => "nothing-to-ask",
        }
    }
}

/// Too many questions wait for the person already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "too many questions of this site wait for the person, or were not answered with yes; try again later"
)]
pub struct TooMany;

impl TooMany {
    /// The name by which pages know it.
    #[must_use]
    pub fn code(self) -> &'static str {
        "ERR_RATE_LIMITED"
    }
}

/// What the person is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) scopes: BTreeSet<Scope>,
    pub(super) tools: Option<Vec<Arc<Tool>>>,
    pub(super) server: Option<WishedServer>,
}

impl Wish {
    /// Questions of one lane are shown one at a time: those of an origin, or, while nobody knows who is there and any origin may
    /// be claimed, those of one tab.
    pub(super) fn lane(&self) -> (&Origin, Option<&TabId>) {
        (&self.origin, self.hidden.then_some(&self.tab))
    }

    /// What of it is missing; nothing when there is nothing to ask.
    pub(super) fn question(
        &self,
        standing: &Standing,
        servers: &BTreeSet<String>,
    ) -> Option<Question> {
        // Whoever is not known yet shows by the answer who is there, also where nothing is missing.
        let missing = |scope: &Scope| match standing.of(*scope) {
            Grant::NotGranted => true,
            Grant::Denied => false,
            Grant::Always | Grant::Once => self.hidden,
        };
        let scopes: BTreeSet<_> = self.scopes.iter().copied().filter(missing).collect();
        let uses = |scope: Scope| scope.is_for_tools() && standing.of(scope).allows();
        let tools = self.shown_tools();
        let more = self.tools.is_some() && tools.iter().any(|tool| !standing.lists(&tool.name));
        let about_tools = scopes.iter().any(|scope| scope.is_for_tools())
            || (more && Scope::ALL.into_iter().any(uses));
        let server = self.server.clone().filter(|server| {
            standing.of(Scope::ServersRegister) != Grant::Denied && !servers.contains(&server.url)
        });
        let question = Question {
            tools: about_tools.then_some(tools),
            scopes,
            server,
        };
        let empty =
            question.scopes.is_empty() && question.tools.is_none() && question.server.is_none();
        (!empty).then_some(question)
    }

    fn shown_tools(&self) -> Vec<Arc<Tool>> {
        let named = |tool: &Arc<Tool>| self.tools.as_ref().is_none_or(|_| self.names(&tool.name));
        // A name that reads otherwise than it is written cannot be decided about.
        let readable = |tool: &Arc<Tool>| is_visible(&tool.name.to_string());
        let tools = self
            .offered
            .iter()
            .filter(|tool| named(tool) && readable(tool));
        tools.take(TOOLS).cloned().collect()
    }

    /// Whether the page named this tool.
    pub(super) fn names(&self, tool: &ToolName) -> bool {
        let mut named = self.tools.iter().flatten();
        named.any(|name| name == tool || (name.tool() == "*" && name.server() == tool.server()))
    }

    /// Whether the person need not be asked twice about the two.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let scopes = |wish: &Self| wish.scopes.iter().copied().collect::<BTreeSet<_>>();
        let tools = |wish: &Self| {
            wish.tools
                .iter()
                .flatten()
                .cloned()
                .collect::<BTreeSet<_>>()
        };
        self.origin == other.origin
            && self.embedder == other.embedder
            && scopes(self) == scopes(other)
            && self.tools.is_some() == other.tools.is_some()
            && tools(self) == tools(other)
            && self.server == other.server
    }
}
