//! A page's permission request, the part to ask the user, and its outcome.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::{Grant, Origin, Scope, SessionId, TabId, Tool, ToolName, sanitize::is_visible};

use super::current::CurrentPermissions;

/// Maximum number of tools that one request shows; users do not read more.
const TOOLS: usize = 500;

/// A page's permission request.
#[derive(Debug, Clone)]
pub struct PermissionQuery {
    /// The page's origin.
    pub origin: Origin,
    /// The page's tab. Hold its `visit` meanwhile: "allow once" ends with the tab.
    pub tab: TabId,
    /// The parent page of another site that lets it ask.
    pub embedder: Option<Origin>,
    /// The requested scopes.
    pub scopes: Vec<Scope>,
    /// The reason, in the page's message.
    pub reason: String,
    /// The requested tools; `server/*` means all of a server.
    pub tools: Option<Vec<ToolName>>,
    /// The available tools.
    pub offered: Vec<Arc<Tool>>,
    /// An MCP server that the page provides.
    pub server: Option<ProvidedServer>,
    /// Whether it is visible only to who knows the request's id.
    pub hidden: bool,
    /// The session that the page belongs to.
    pub session: Option<SessionId>,
}

/// An MCP server that a page provides, as the page describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedServer {
    /// Its URL.
    pub url: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its tools, according to the page.
    pub tools: Vec<String>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The user's decision.
    pub decision: Decision,
    /// The permissions of the origin now.
    pub standing: CurrentPermissions,
}

/// The user's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Allowed for a while.
    Once,
    /// Allowed until revoked.
    Always,
    /// Denied; stored for scopes.
    Denied,
    /// Dismissed or timed out.
    Unanswered,
    /// Nothing to ask: everything was decided before. See the standing.
    NothingToAsk,
}

impl Decision {
    /// Its name in the log.
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

/// Too many open requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many permission requests of this site are open or were not allowed; try again later")]
pub struct TooMany;

impl TooMany {
    /// The error code, as pages know it.
    #[must_use]
    pub fn code(self) -> &'static str {
        "ERR_RATE_LIMITED"
    }
}

/// What the user is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) scopes: BTreeSet<Scope>,
    pub(super) tools: Option<Vec<Arc<Tool>>>,
    pub(super) server: Option<ProvidedServer>,
}

impl PermissionQuery {
    /// Requests of one lane are shown one at a time: those of an origin, or those of a tab while the visitor is unknown
    /// and may claim any origin.
    pub(super) fn lane(&self) -> (&Origin, Option<&TabId>) {
        (&self.origin, self.hidden.then_some(&self.tab))
    }

    /// The missing part; `None` if there is nothing to ask.
    pub(super) fn question(
        &self,
        standing: &CurrentPermissions,
        servers: &BTreeSet<String>,
    ) -> Option<Question> {
        // An unknown visitor proves by the answer who they are, even if nothing is missing.
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
        // Nobody can decide about a name that is displayed differently from how it is written.
        let readable = |tool: &Arc<Tool>| is_visible(&tool.name.to_string());
        let tools = self
            .offered
            .iter()
            .filter(|tool| named(tool) && readable(tool));
        tools.take(TOOLS).cloned().collect()
    }

    /// Whether the page requested this tool by name.
    pub(super) fn names(&self, tool: &ToolName) -> bool {
        let mut named = self.tools.iter().flatten();
        named.any(|name| name == tool || (name.tool() == "*" && name.server() == tool.server()))
    }

    /// Whether one answer suffices for both.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let scopes = |query: &Self| query.scopes.iter().copied().collect::<BTreeSet<_>>();
        let tools = |query: &Self| {
            query
                .tools
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
