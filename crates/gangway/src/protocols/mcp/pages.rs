//! Open pages over MCP: tools to list them, read their state and wait for their events, and their state as resources.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use gangway_core::{
    OWN, PageId, PageKind, SessionId, Tool, ToolError, ToolName, own_tool, parse_arguments,
};
use gangway_pages::{PREFIX, Page};
use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{scope::Scope, sessions};
use crate::app::App;

const BEFORE: &str = "gangway://pages/";
const AFTER: &str = "/snapshot";

/// Default and maximum milliseconds to wait for an event.
const WAIT: u64 = 30_000;
const LONGEST_WAIT: u64 = 600_000;

/// Maximum number of listed pages.
const LISTED: usize = 500;

const NAMES: [&str; 3] = ["list_pages", "read_page", "next_page_event"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct List {
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Read {
    page: Option<String>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Next {
    page: Option<String>,
    session_id: Option<String>,
    after: Option<u64>,
    timeout_ms: Option<u64>,
}

pub(super) fn has(tool: &ToolName) -> bool {
    tool.server() == OWN && NAMES.contains(&tool.tool())
}

pub(super) fn tools() -> Vec<Arc<Tool>> {
    let page = json!({
        "type": "string",
        "description": "Its id or server name from list_pages; default is the only page of the session",
    });
    let session = json!({ "type": "string", "description": "The session that it belongs to" });
    vec![
        Tool::own(
            "list_pages",
            "List the open pages: apps, applets, sites and others, with their sessions and the tools that they offer.",
            json!({ "sessionId": { "type": "string", "description": "Only pages of this session" } }),
            &[],
        ),
        Tool::own(
            "read_page",
            "Read what an open page shows or works on now.",
            json!({ "page": page, "sessionId": session }),
            &[],
        ),
        Tool::own(
            "next_page_event",
            "Wait for the next events of an open page, such as what the user does in it.",
            json!({
                "page": page, "sessionId": session,
                "after": {
                    "type": "integer", "minimum": 0,
                    "description": "`last` of the previous call; without it, only events from now on",
                },
                "timeoutMs": { "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT },
            }),
            &[],
        ),
    ]
}

/// Calls one of these tools; `None` for any other.
pub(super) async fn call(
    app: &Arc<App>,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Option<Result<Value, ToolError>> {
    Some(match tool.tool() {
        "list_pages" => list(app, scope, tool, arguments).await,
        "read_page" => read(app, scope, tool, arguments).await,
        "next_page_event" => next(app, scope, tool, arguments).await,
        _ => return None,
    })
}

async fn list(
    app: &App,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: List = parse_arguments(tool, arguments)?;
    let mut pages = usable(app, scope, request.session_id.as_deref()).await?;
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
    app: &App,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: Read = parse_arguments(tool, arguments)?;
    let page = find(
        app,
        scope,
        request.page.as_deref(),
        request.session_id.as_deref(),
    )
    .await?;
    let state = page.channel.state().await?;
    Ok(json!({ "page": page.id, "kind": page.kind.name(), "state": state }))
}

async fn next(
    app: &App,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: Next = parse_arguments(tool, arguments)?;
    let page = find(
        app,
        scope,
        request.page.as_deref(),
        request.session_id.as_deref(),
    )
    .await?;
    let wait = request.timeout_ms.unwrap_or(WAIT).min(LONGEST_WAIT);
    let events = page
        .channel
        .events(request.after, Duration::from_millis(wait));
    let found = tokio::select! {
        found = events => found?,
        () = app.http.stop.cancelled() => {
            return Err(ToolError::Unavailable("the server is stopping".to_owned()));
        }
    };
    let events = found.events.into_iter();
    let events: Vec<_> = events
        .map(|(number, event)| json!({ "number": number, "event": event }))
        .collect();
    Ok(json!({ "page": page.id, "events": events, "last": found.last, "gap": found.gap }))
}

/// The pages that the sender may use, in the order of opening.
async fn usable(
    app: &App,
    scope: &Scope,
    session: Option<&str>,
) -> Result<Vec<Arc<Page>>, ToolError> {
    let session = session.map(str::parse::<SessionId>).transpose();
    let session = session.map_err(|error| ToolError::Failed(format!("`sessionId`: {error}")))?;
    if let Some(session) = session {
        sessions::check(app, scope, session).await?;
    }
    let mut usable = Vec::new();
    for page in app.pages.all() {
        let target = session.is_none_or(|session| page.session() == Some(session));
        if target && may_read(app, scope, &page).await {
            usable.push(page);
        }
    }
    Ok(usable)
}

async fn find(
    app: &App,
    scope: &Scope,
    named: Option<&str>,
    session: Option<&str>,
) -> Result<Arc<Page>, ToolError> {
    let mut pages = usable(app, scope, session).await?;
    if let Some(named) = named {
        let id = named.parse::<PageId>().ok();
        pages.retain(|page| Some(page.id) == id || page.server() == Some(named));
    }
    let missing = || {
        let message = "page not found; list_pages lists the open pages";
        ToolError::Failed(message.to_owned())
    };
    match (pages.pop(), pages.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(missing()),
        (Some(_), false) => {
            let message = "several pages are open; set `page` to the id of one from list_pages";
            Err(ToolError::Failed(message.to_owned()))
        }
    }
}

/// Whether the sender may use the session that a page belongs to.
pub(super) async fn may_use(app: &App, scope: &Scope, page: &Page) -> bool {
    let Some(session) = page.session() else {
        return page.is_offered();
    };
    sessions::check(app, scope, session).await.is_ok()
}

/// Whether the sender may read a page; those on the relay have a tool for that.
async fn may_read(app: &App, scope: &Scope, page: &Page) -> bool {
    let read = match (page.kind, page.server()) {
        (PageKind::Relay, Some(server)) => ToolName::new(server, "look").ok(),
        _ => Some(own_tool("read_page")),
    };
    let allowed = read.is_some_and(|tool| match tool.server() {
        OWN => scope.allows_own(app, &tool),
        _ => scope.allows(app, &tool) && app.toolset.source_of(&tool).is_some(),
    });
    allowed && may_use(app, scope, page).await
}

/// The pages that the sender may read, as resources.
pub(super) async fn snapshots(app: &App, scope: &Scope) -> Vec<Resource> {
    let mut listed = Vec::new();
    for page in app.pages.all() {
        let name = page
            .server()
            .and_then(|server| server.strip_prefix(PREFIX))
            .map(str::to_owned);
        let Some(name) = name else { continue };
        if !may_read(app, scope, &page).await {
            continue;
        }
        let mut resource = Resource::new(format!("{BEFORE}{name}{AFTER}"), format!("page {name}"));
        resource.description = Some("What the page shows now, and its tools".to_owned());
        resource.mime_type = Some("application/json".to_owned());
        listed.push(resource);
    }
    listed
}

/// The snapshot of a page; `None` if the URI is not a page's.
pub(super) async fn snapshot(
    app: &App,
    scope: &Scope,
    uri: &str,
) -> Option<Result<ResourceContents, ErrorData>> {
    let name = uri.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let unknown = || {
        let message = "page not found; resources/list shows all pages";
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let page = app.pages.of_server(&format!("{PREFIX}{name}"));
    let Some(page) = page else {
        return Some(Err(unknown()));
    };
    if !may_read(app, scope, &page).await {
        return Some(Err(unknown()));
    }
    Some(match page.channel.state().await {
        Ok(shown) => Ok(ResourceContents::TextResourceContents {
            uri: uri.to_owned(),
            mime_type: Some("application/json".to_owned()),
            text: shown.to_string(),
            meta: None,
        }),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    })
}
