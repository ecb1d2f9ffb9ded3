//! Sessions over MCP: tools to list, read and message them, and their logs as resources.

use std::{sync::Arc, time::Duration};

use gangway_core::{
    Command, Event, NewSession, OWN, Outcome, Receipt, SessionId, Tool, ToolError, ToolName,
    TurnId, WhenBusy,
};
use gangway_core::{last_used_session, parse_arguments, session_meant, tool_error};
use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents, ResourceTemplate},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{scope::Scope, transcript};
use crate::app::App;

/// Default and maximum seconds to wait for an answer.
const WAIT: u64 = 60;
const LONGEST_WAIT: u64 = 600;

/// Default and maximum number of events in a transcript.
const USUAL: usize = 200;
const MOST: usize = 2000;

/// Bytes of events read at once.
const CHUNK: usize = 256 << 10;

/// Page size of the list.
const PAGE: usize = 50;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct List {
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Read {
    session_id: Option<String>,
    before: Option<u64>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Send {
    prompt: String,
    session_id: Option<String>,
    #[serde(default)]
    new_session: bool,
    wait_seconds: Option<u64>,
}

const NAMES: [&str; 3] = ["list_sessions", "read_session", "send_message"];

pub(super) fn has(tool: &ToolName) -> bool {
    tool.server() == OWN && NAMES.contains(&tool.tool())
}

pub(super) fn tools() -> Vec<Arc<Tool>> {
    let session =
        json!({ "type": "string", "description": "The session; default is the most recent one" });
    vec![
        Tool::own(
            "list_sessions",
            "List the chat sessions, newest first.",
            json!({ "limit": { "type": "integer", "minimum": 1, "maximum": PAGE } }),
            &[],
        ),
        Tool::own(
            "read_session",
            "Read the transcript of a chat session, oldest line first.",
            json!({
                "sessionId": session,
                "before": { "type": "integer", "minimum": 1, "description": "Only lines before this number" },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "description": "Events to read" },
            }),
            &[],
        ),
        Tool::own(
            "send_message",
            "Send a message to the agent of a chat session and wait for its answer. The user sees both.",
            json!({
                "prompt": { "type": "string", "minLength": 1 },
                "sessionId": session,
                "newSession": { "type": "boolean", "description": "Create a new session" },
                "waitSeconds": { "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT },
            }),
            &["prompt"],
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
        "list_sessions" => list(app, scope, tool, arguments).await,
        "read_session" => read_session(app, scope, tool, arguments).await,
        "send_message" => send(app, scope, tool, arguments).await,
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
    let limit = request.limit.unwrap_or(20).clamp(1, PAGE);
    let page = app.hub.list(None, limit).await.map_err(tool_error)?;
    let sessions: Vec<_> = page
        .sessions
        .into_iter()
        .filter(|(_, profile, _)| {
            scope
                .admitted
                .may_use_session_of(&app.http, &app.hub, profile)
        })
        .map(|(id, profile, running)| {
            json!({
                "sessionId": id.to_string(), "title": profile.title, "agent": profile.agent,
                "running": running, "updatedAt": profile.updated_at.to_string(),
            })
        })
        .collect();
    Ok(json!({ "sessions": sessions }))
}

async fn read_session(
    app: &Arc<App>,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: Read = parse_arguments(tool, arguments)?;
    let session = session_meant(&app.hub, &scope.caller(), request.session_id.as_deref()).await?;
    let limit = request.limit.unwrap_or(USUAL).clamp(1, MOST);
    let read = transcript::read(app, session, request.before, limit).await;
    let (lines, older) = read.map_err(tool_error)?;
    Ok(json!({ "sessionId": session.to_string(), "lines": lines, "older": older }))
}

async fn send(
    app: &Arc<App>,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<Value, ToolError> {
    let request: Send = parse_arguments(tool, arguments)?;
    if request.prompt.trim().is_empty() {
        return Err(ToolError::Failed("`prompt` must not be empty".into()));
    }
    if request.new_session && request.session_id.is_some() {
        let message = "`newSession` and `sessionId` are mutually exclusive";
        return Err(ToolError::Failed(message.into()));
    }
    let caller = scope.caller();
    let none_yet = request.session_id.is_none()
        && last_used_session(&app.hub)
            .await
            .map_err(tool_error)?
            .is_none();
    let id = if request.new_session || none_yet {
        let started = app.sessions.create(NewSession::default()).await;
        started.map_err(tool_error)?.0
    } else {
        session_meant(&app.hub, &caller, request.session_id.as_deref()).await?
    };
    let session = app.hub.open(id).await.map_err(tool_error)?;
    let command = Command::Prompt {
        prompt: request.prompt,
        source: caller.source,
        shown: true,
        when_busy: WhenBusy::Queue,
    };
    let Receipt::Accepted { turn } = session.submit(command).await.map_err(tool_error)? else {
        let message = "internal error: the session did not accept the message";
        return Err(ToolError::Failed(message.into()));
    };
    let wait = request.wait_seconds.unwrap_or(WAIT).min(LONGEST_WAIT);
    let mut answer = json!({
        "sessionId": id.to_string(),
        "streamId": TurnId { session: id, seq: turn }.to_string(),
    });
    let mut events = session.subscribe(turn);
    let received =
        tokio::time::timeout(Duration::from_secs(wait), answered(&mut events, turn)).await;
    match received {
        Err(_) => answer["done"] = json!(false),
        Ok(received) => {
            let (outcome, text) = received?;
            answer["done"] = json!(true);
            answer["outcome"] = json!(outcome);
            answer["answer"] = json!(text);
        }
    }
    Ok(answer)
}

pub(super) async fn check(app: &App, scope: &Scope, session: SessionId) -> Result<(), ToolError> {
    let checked = scope
        .admitted
        .check_session(&app.http, &app.hub, session)
        .await;
    checked.map_err(|error| ToolError::Failed(error.message))
}

/// Waits for the end of a turn and returns its text.
async fn answered(
    events: &mut gangway_core::Subscription,
    turn: u64,
) -> Result<(Outcome, String), ToolError> {
    let mut texts: Vec<String> = Vec::new();
    loop {
        let next = events.next(CHUNK).await.map_err(tool_error)?;
        let next = next.map_err(|_| ToolError::Unavailable("the session ended".into()))?;
        for logged in next {
            match &logged.event {
                Event::Message { turn: of, text, .. } if *of == turn => texts.push(text.clone()),
                Event::Failed {
                    turn: of, message, ..
                } if *of == turn => {
                    texts.push(message.clone());
                }
                Event::TurnEnded {
                    turn: of, outcome, ..
                } if *of == turn => return Ok((*outcome, texts.join("\n\n"))),
                _ => {}
            }
        }
    }
}

/// The readable logs, newest first, and the cursor of the next page.
pub(super) async fn logs(
    app: &App,
    scope: &Scope,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), ErrorData> {
    let before = cursor.map(str::parse::<SessionId>).transpose();
    let before = before.map_err(|_| ErrorData::invalid_params("invalid cursor", None))?;
    let page = app.hub.list(before, PAGE).await;
    let page =
        page.map_err(|error| ErrorData::internal_error(tool_error(error).to_string(), None))?;
    let resources = page
        .sessions
        .into_iter()
        .filter(|(_, profile, _)| {
            scope
                .admitted
                .may_use_session_of(&app.http, &app.hub, profile)
        })
        .map(|(id, profile, _)| {
            let mut resource = Resource::new(address(id), id.to_string());
            resource.title = profile.title;
            resource.description = Some("The transcript of this session".to_owned());
            resource.mime_type = Some("application/json".to_owned());
            resource
        })
        .collect();
    Ok((resources, page.next.map(|id| id.to_string())))
}

pub(super) fn template() -> ResourceTemplate {
    let mut template = ResourceTemplate::new("gangway://sessions/{sessionId}/log", "session-log");
    template.description = Some("The transcript of a session, oldest line first".to_owned());
    template.mime_type = Some("application/json".to_owned());
    template
}

pub(super) async fn log(
    app: &App,
    scope: &Scope,
    uri: &str,
) -> Result<ResourceContents, ErrorData> {
    let unknown = || {
        let message = "no such resource; resources/list shows all resources";
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let id = uri.strip_prefix("gangway://sessions/");
    let id = id.and_then(|rest| rest.strip_suffix("/log"));
    let id: SessionId = id.and_then(|id| id.parse().ok()).ok_or_else(unknown)?;
    app.hub.describe(id).await.map_err(|_| unknown())?;
    let admitted = &scope.admitted;
    admitted
        .check_session(&app.http, &app.hub, id)
        .await
        .map_err(|_| unknown())?;
    let reported = transcript::read(app, id, None, MOST).await;
    let (lines, older) =
        reported.map_err(|error| ErrorData::internal_error(tool_error(error).to_string(), None))?;
    let text = json!({ "sessionId": id.to_string(), "lines": lines, "older": older }).to_string();
    Ok(ResourceContents::TextResourceContents {
        uri: address(id),
        mime_type: Some("application/json".to_owned()),
        text,
        meta: None,
    })
}

fn address(id: SessionId) -> String {
    format!("gangway://sessions/{id}/log")
}
