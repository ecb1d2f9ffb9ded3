//! Approval of tool calls: when the chat's agent asks the user before a tool call, and the stored choices.

mod routes;
pub mod wire;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use gangway_core::{
    Approval, Choice, SessionId, Store, Tool, ToolError, ToolName, Toolbox,
    sanitize::escape_line,
    store::{self, Expect, Put},
};
use parking_lot::{Mutex, MutexGuard};
pub use routes::{Documented, routes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use wire::ApprovalPolicy;

use crate::{Tools, Toolset};

/// Keys of choices for all chats, followed by the name of the tool.
const PREFIX: &str = "tool-approval:";

/// Keys of the tools of open requests, followed by the session.
const ASKED: &str = "tool-approval-asked:";

/// Maximum number of stored choices; in name order, those beyond it are not read.
const MAX_KEPT: usize = 10_000;

/// Maximum number of sessions with remembered choices; in older ones the user is asked again.
const MAX_SESSIONS: usize = 1_000;

/// Displayed characters of arguments. The tool call above it in the chat shows all of them.
const SHOWN: usize = 1_000;

/// Approval of the chat agent's tool calls.
pub struct Approvals {
    store: Store,
    tools: Arc<Tools>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stored: BTreeMap<ToolName, StoredChoice>,
    sessions: BTreeMap<SessionId, AllowedInSession>,
}

/// What is allowed in one session.
#[derive(Default)]
struct AllowedInSession {
    /// Tools with their fingerprints at that time.
    tools: BTreeMap<ToolName, String>,
    /// Pages, whichever tools they offer.
    pages: BTreeSet<String>,
}

/// A tool that may need approval.
struct Approvable {
    fingerprint: String,
    is_read_only: bool,
    /// The page that carries out the calls.
    page: Option<String>,
}

/// The tool of a session's open request, as it was when the user was asked: the answer may come after a restart.
#[derive(Debug, Serialize, Deserialize)]
struct PendingApproval {
    tool: String,
    fingerprint: String,
}

/// A choice for all chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredChoice {
    allowed: bool,
    fingerprint: String,
}

impl Approvals {
    /// Loads the stored choices.
    pub async fn load(store: Store, tools: Arc<Tools>) -> gangway_core::Result<Arc<Self>> {
        let rows = store.list::<StoredChoice>(PREFIX, None, MAX_KEPT).await?;
        let open = store.keys(ASKED, MAX_KEPT).await?;
        let stale = open.into_iter().skip(MAX_SESSIONS);
        let stale: Vec<_> = stale.map(|key| Put::remove(key, Expect::Any)).collect();
        if !stale.is_empty() {
            store.put(stale).await?;
        }
        let stored = rows.into_iter().filter_map(|(key, record)| {
            let tool = key.strip_prefix(PREFIX)?.parse().ok()?;
            Some((tool, record.value))
        });
        let state = State {
            stored: stored.collect(),
            ..State::default()
        };
        Ok(Arc::new(Self {
            store,
            tools,
            state: Mutex::new(state),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Whether a call in a session needs the user's approval.
    async fn needed(
        &self,
        toolset: &Toolset,
        session: SessionId,
        tool: &ToolName,
        arguments: &Value,
    ) -> Result<Approval, ToolError> {
        // The tool's source asks for consent itself, or the call will fail with "not found".
        let Some(known) = self.known(toolset, tool)? else {
            return Ok(Approval::NotNeeded);
        };
        if let Some(settled) = self.settled(session, tool, &known) {
            return Ok(settled);
        }
        let asked = PendingApproval {
            tool: tool.to_string(),
            fingerprint: known.fingerprint,
        };
        let asked = store::record(format!("{ASKED}{session}"), &asked).map_err(not_stored)?;
        self.store.put(vec![asked]).await.map_err(not_stored)?;
        Ok(Approval::Ask {
            question: question(tool, arguments),
            choices: match known.page {
                Some(_) => Choice::OF_PAGE_TOOL,
                None => Choice::OF_TOOL,
            },
        })
    }

    /// The decision of the policy and earlier choices, unless the user has to be asked.
    fn settled(&self, session: SessionId, tool: &ToolName, known: &Approvable) -> Option<Approval> {
        let state = self.lock();
        match state.stored.get(tool) {
            Some(stored) if !stored.allowed => {
                let reason = format!("the user never allows {tool}; do not call it again");
                return Some(Approval::Denied(reason));
            }
            Some(stored) if stored.fingerprint == known.fingerprint => {
                return Some(Approval::NotNeeded);
            }
            _ => {}
        }
        let in_session = state.sessions.get(&session);
        if in_session.is_some_and(|allowed| allowed.has(tool, known)) {
            return Some(Approval::NotNeeded);
        }
        let ask = match self.policy(tool.server()) {
            ApprovalPolicy::None => false,
            ApprovalPolicy::Writes => !known.is_read_only,
            ApprovalPolicy::All => true,
        };
        (!ask).then_some(Approval::NotNeeded)
    }

    /// The fingerprint of a tool when the user was asked about it; the answer applies to it.
    async fn asked(
        &self,
        session: SessionId,
        tool: &ToolName,
    ) -> gangway_core::Result<Option<String>> {
        let key = format!("{ASKED}{session}");
        let asked = self.store.get::<PendingApproval>(&key).await?;
        self.store.put(vec![Put::remove(key, Expect::Any)]).await?;
        let asked = asked.map(|record| record.value);
        let same = asked.filter(|asked| asked.tool == tool.to_string());
        Ok(same.map(|asked| asked.fingerprint))
    }

    /// Stores a choice for its scope.
    async fn remember(
        &self,
        toolset: &Toolset,
        session: SessionId,
        tool: &ToolName,
        choice: Choice,
    ) -> Result<(), ToolError> {
        let asked = self.asked(session, tool).await.map_err(not_stored)?;
        // After a restart an answer may arrive before the tool's server is ready.
        if let Ok(server) = tool.server().parse() {
            let _ = self.tools.host.ready(&server).await;
        }
        let Ok(Some(known)) = self.known(toolset, tool) else {
            return match choice.allows() {
                true => Err(ToolError::Failed(format!("{tool} is not available"))),
                false => Ok(()),
            };
        };
        if choice.allows() && asked.as_ref() != Some(&known.fingerprint) {
            let message = format!(
                "{tool} was changed by its server while the user was asked; call it again to ask again"
            );
            return Err(ToolError::Failed(message));
        }
        match choice {
            Choice::Once | Choice::Deny => {}
            Choice::Session | Choice::Page => {
                let mut state = self.lock();
                let allowed = state.sessions.entry(session).or_default();
                match known.page.filter(|_| choice == Choice::Page) {
                    Some(page) => drop(allowed.pages.insert(page)),
                    None => drop(allowed.tools.insert(tool.clone(), known.fingerprint)),
                }
                if state.sessions.len() > MAX_SESSIONS {
                    state.sessions.pop_first();
                }
            }
            Choice::Always | Choice::Never => {
                let allowed = choice == Choice::Always;
                let stored = StoredChoice {
                    allowed,
                    fingerprint: known.fingerprint,
                };
                self.keep(tool, Some(stored)).await.map_err(not_stored)?;
            }
        }
        Ok(())
    }

    async fn keep(
        &self,
        tool: &ToolName,
        stored: Option<StoredChoice>,
    ) -> gangway_core::Result<()> {
        let key = format!("{PREFIX}{tool}");
        let put = match &stored {
            Some(stored) => store::record(key, stored)?,
            None => Put::remove(key, Expect::Any),
        };
        let commit = self.store.put(vec![put]).await?;
        self.store.keep(commit).await?;
        let mut state = self.lock();
        match stored {
            Some(stored) => drop(state.stored.insert(tool.clone(), stored)),
            None => drop(state.stored.remove(tool)),
        }
        Ok(())
    }

    /// Removes the choices about the tools of a removed server: another one may get its name.
    pub async fn forget_server(&self, id: &str) -> gangway_core::Result<()> {
        let of_server = |tool: &&ToolName| tool.server() == id;
        let tools: Vec<_> = self
            .lock()
            .stored
            .keys()
            .filter(of_server)
            .cloned()
            .collect();
        for tool in &tools {
            self.keep(tool, None).await?;
        }
        for own in self.lock().sessions.values_mut() {
            own.tools.retain(|tool, _| tool.server() != id);
        }
        Ok(())
    }

    fn policy(&self, server: &str) -> ApprovalPolicy {
        let own = self.tools.approval_of(server);
        own.unwrap_or(self.tools.approval)
    }

    fn known(&self, toolset: &Toolset, tool: &ToolName) -> Result<Option<Approvable>, ToolError> {
        if let Some(source) = toolset.source_of(tool) {
            let known = source.to_approve(tool)?;
            return Ok(known.map(|known| Approvable {
                fingerprint: fingerprint(&known.target, &known.tool),
                is_read_only: known.is_read_only,
                page: known.of_page.then_some(known.target),
            }));
        }
        let target = self.tools.target_of(tool.server());
        let entry = self.tools.host.entry(tool);
        Ok(entry.map(|entry| Approvable {
            fingerprint: fingerprint(&target, &entry.tool),
            is_read_only: entry.is_read_only(),
            page: None,
        }))
    }
}

impl AllowedInSession {
    fn has(&self, tool: &ToolName, known: &Approvable) -> bool {
        let page = known.page.as_ref();
        page.is_some_and(|page| self.pages.contains(page))
            || self.tools.get(tool) == Some(&known.fingerprint)
    }
}

/// What an approval is for: if the tool's description or program changes, the user is asked again.
fn fingerprint(target: &str, tool: &Tool) -> String {
    let schema = tool.input_schema.to_string();
    let parts = [target, &tool.description, &schema];
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn not_stored(error: gangway_core::Error) -> ToolError {
    ToolError::Failed(error.to_string())
}

fn question(tool: &ToolName, arguments: &Value) -> String {
    let all = escape_line(&arguments.to_string());
    let mut shown: String = all.chars().take(SHOWN).collect();
    if shown.len() < all.len() {
        shown.push_str("… (the call above has all of it)");
    }
    format!(
        "May the agent call {} with {shown}?",
        escape_line(&tool.to_string())
    )
}

/// A chat's tools with approvals.
pub struct ApprovedTools {
    tools: Arc<Toolset>,
    approvals: Arc<Approvals>,
}

impl ApprovedTools {
    /// These tools under these approvals.
    #[must_use]
    pub fn new(tools: Arc<Toolset>, approvals: Arc<Approvals>) -> Self {
        Self { tools, approvals }
    }
}

impl Toolbox for ApprovedTools {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        self.tools.tools(session, sentence)
    }

    fn reader(&self) -> Option<Arc<Tool>> {
        Toolbox::reader(&*self.tools)
    }

    fn offered_after<'a>(
        &'a self,
        session: SessionId,
        called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        self.tools.offered_after(session, called)
    }

    fn approval<'a>(
        &'a self,
        session: SessionId,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Approval, ToolError>> {
        let approvals = &self.approvals;
        Box::pin(approvals.needed(&self.tools, session, tool, arguments))
    }

    fn chosen<'a>(
        &'a self,
        session: SessionId,
        tool: &'a ToolName,
        choice: Choice,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.approvals.remember(&self.tools, session, tool, choice))
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        self.tools.call(session, tool, arguments)
    }
}
