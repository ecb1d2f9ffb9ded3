//! Tools to list the open pages of a session, read their state and wait for their events: the same for every kind of agent.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, join_all};
use gangway_core::{
    Caller, OWN, PageId, SessionId, Tool, ToolError, ToolName, ToolSource, parse_arguments,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{page::Page, registry::Pages};

/// Default and maximum milliseconds to wait for an event.
const WAIT: u64 = 30_000;
const LONGEST_WAIT: u64 = 600_000;

/// Maximum number of listed pages.
const LISTED: usize = 500;

const LIST: &str = "list_pages";
const READ: &str = "read_page";
const NEXT: &str = "next_page_event";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListParams {
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadParams {
    page: Option<String>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NextParams {
    page: Option<String>,
    session_id: Option<String>,
    after: Option<u64>,
    timeout_ms: Option<u64>,
}

/// The tools for the agents of sessions with open pages. MCP clients, which have no session, get them from `/mcp`.
pub struct PageReader {
    pages: Arc<Pages>,
}

impl PageReader {
    #[must_use]
    pub fn new(pages: Arc<Pages>) -> Self {
        Self { pages }
    }

    /// The tools for a session; none while it has no page.
    #[must_use]
    pub fn listed(&self, session: SessionId) -> Vec<Arc<Tool>> {
        match self.pages.of_session(session).is_empty() {
            true => Vec::new(),
            false => reader_tools(false),
        }
    }

    /// Calls one for an agent of this session.
    pub async fn call_in(
        &self,
        session: SessionId,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        read_pages(self.pages.of_session(session), tool, arguments).await
    }
}

impl ToolSource for PageReader {
    fn tools<'a>(&'a self, session: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move { self.listed(session) })
    }

    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>> {
        Box::pin(async { Vec::new() })
    }

    fn servers(&self) -> Vec<String> {
        Vec::new()
    }

    fn has(&self, tool: &ToolName) -> bool {
        is_reader(tool)
    }

    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(async move {
            match caller.session {
                Some(session) => self.call_in(session, tool, arguments).await,
                None => Err(ToolError::NotFound(tool.clone())),
            }
        })
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.pages.changes())
    }

    fn is_read_only(&self, _tool: &ToolName) -> Option<bool> {
        Some(true)
    }
}

/// Whether it is one of these tools.
#[must_use]
pub fn is_reader(tool: &ToolName) -> bool {
    tool.server() == OWN && [LIST, READ, NEXT].contains(&tool.tool())
}

/// The tools; a caller of many sessions selects one of them.
#[must_use]
pub fn reader_tools(many_sessions: bool) -> Vec<Arc<Tool>> {
    let page = json!({
        "type": "string",
        "description": "Its id or server name from list_pages; default is the only page of the session",
    });
    let after = json!({
        "type": "integer", "minimum": 0,
        "description": "`last` of the previous call; without it, only events from now on",
    });
    let timeout = json!({ "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT });
    let (mut list, mut read) = (json!({}), json!({ "page": page }));
    let mut next = json!({ "page": page, "after": after, "timeoutMs": timeout });
    if many_sessions {
        list["sessionId"] =
            json!({ "type": "string", "description": "Only pages of this session" });
        let session = json!({ "type": "string", "description": "The session that it belongs to" });
        read["sessionId"] = session.clone();
        next["sessionId"] = session;
    }
    vec![
        Tool::own(
            LIST,
            "List the open pages: apps, applets, sites and others, with their sessions and the tools that they offer.",
            list,
            &[],
        ),
        Tool::own(
            READ,
            "Read what an open page shows or works on now.",
            read,
            &[],
        ),
        Tool::own(
            NEXT,
            "Wait for the next events of an open page, such as what the user does in it.",
            next,
            &[],
        ),
    ]
}

/// Calls one of these tools on the pages that its caller may read.
pub async fn read_pages(
    pages: Vec<Arc<Page>>,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    match tool.tool() {
        LIST => list(pages, tool, arguments).await,
        READ => read(pages, tool, arguments).await,
        NEXT => next(pages, tool, arguments).await,
        _ => Err(ToolError::NotFound(tool.clone())),
    }
}

async fn list(
    pages: Vec<Arc<Page>>,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: ListParams = parse_arguments(tool, arguments)?;
    let mut pages = of_session(pages, request.session_id.as_deref())?;
    pages.truncate(LISTED);
    // At once: a busy page is waited for.
    let described = pages.iter().map(|page| async move {
        let tools = page.tools().await;
        let tools: Vec<_> = tools.iter().map(|listed| listed.tool.name.tool()).collect();
        json!({
            "page": page.id, "kind": page.kind.name(), "name": page.name, "server": page.server(),
            "sessionId": page.session().map(|id| id.to_string()), "origin": page.origin, "title": page.title,
            "present": page.is_present(), "tools": tools,
        })
    });
    Ok(json!({ "pages": join_all(described).await }))
}

async fn read(
    pages: Vec<Arc<Page>>,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: ReadParams = parse_arguments(tool, arguments)?;
    let pages = of_session(pages, request.session_id.as_deref())?;
    let page = find(pages, request.page.as_deref())?;
    let session = page.session();
    let state = page.channel.state().await?;
    check_same(&page, session)?;
    Ok(json!({ "page": page.id, "kind": page.kind.name(), "state": state }))
}

async fn next(
    pages: Vec<Arc<Page>>,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: NextParams = parse_arguments(tool, arguments)?;
    let pages = of_session(pages, request.session_id.as_deref())?;
    let page = find(pages, request.page.as_deref())?;
    let wait = request.timeout_ms.unwrap_or(WAIT).min(LONGEST_WAIT);
    let wait = Duration::from_millis(wait);
    let session = page.session();
    let found = page.channel.events(request.after, wait).await?;
    check_same(&page, session)?;
    let events = found.events.into_iter();
    let events: Vec<_> = events
        .map(|(number, event)| json!({ "number": number, "event": event }))
        .collect();
    Ok(json!({ "page": page.id, "events": events, "last": found.last, "gap": found.gap }))
}

fn of_session(
    mut pages: Vec<Arc<Page>>,
    session: Option<&str>,
) -> Result<Vec<Arc<Page>>, ToolError> {
    let session = session.map(str::parse::<SessionId>).transpose();
    let session = session.map_err(|error| ToolError::Failed(format!("`sessionId`: {error}")))?;
    pages.retain(|page| session.is_none_or(|session| page.session() == Some(session)));
    Ok(pages)
}

fn find(mut pages: Vec<Arc<Page>>, named: Option<&str>) -> Result<Arc<Page>, ToolError> {
    if let Some(named) = named {
        let id = named.parse::<PageId>().ok();
        pages.retain(|page| Some(page.id) == id || page.server() == Some(named));
    }
    match (pages.pop(), pages.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(missing()),
        (Some(_), false) => {
            let message = "several pages are open; set `page` to the id of one from list_pages";
            Err(ToolError::Failed(message.to_owned()))
        }
    }
}

/// The person may have connected the page to another session while its caller waited.
fn check_same(page: &Page, session: Option<SessionId>) -> Result<(), ToolError> {
    match page.session() == session {
        true => Ok(()),
        false => Err(missing()),
    }
}

fn missing() -> ToolError {
    let message = "page not found; list_pages lists the open pages";
    ToolError::Failed(message.to_owned())
}
