//! Shared by Gangway's own tools: the caller, its arguments, and the session that a call refers to.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Error, Hub, OWN, SessionId, Source, Tool, ToolError, ToolName};

/// The caller of a tool.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The session that the caller is bound to, if any; it cannot access others.
    pub session: Option<SessionId>,
    /// The caller's name, recorded with its changes.
    pub source: Source,
    /// Its version, if known.
    pub version: Option<String>,
}

/// The qualified name of one of Gangway's own tools.
#[must_use]
pub fn own_tool(tool: &str) -> ToolName {
    // These names are constants in our own code, and valid.
    ToolName::new(OWN, tool).unwrap_or_else(|_| unreachable!("{tool} is a name"))
}

impl Tool {
    /// One of Gangway's own tools, which takes these properties, and no others.
    #[must_use]
    pub fn own(name: &str, description: &str, properties: Value, required: &[&str]) -> Arc<Self> {
        Self::new(own_tool(name), description, properties, required)
    }
}

/// The session that was used last; a session with a running turn is in use now.
pub async fn last_used_session(hub: &Hub) -> crate::Result<Option<SessionId>> {
    let sessions = hub.list(None, 100).await?.sessions;
    // Sessions of remote agents and pages are not chats.
    let is_chat = |agent: &str| {
        let agent = hub.agents().get(agent);
        agent.is_ok_and(|agent| agent.is_for_choosing())
    };
    let last = sessions
        .into_iter()
        .filter(|(_, profile, _)| is_chat(&profile.agent))
        .max_by_key(|(_, profile, running)| (*running, profile.updated_at.max(profile.created_at)));
    Ok(last.map(|(id, ..)| id))
}

/// The named session, else the caller's own, else the one that was used last.
pub async fn session_meant(
    hub: &Hub,
    caller: &Caller,
    named: Option<&str>,
) -> Result<SessionId, ToolError> {
    let session = match (named, caller.session) {
        (Some(named), bound) => {
            let id: SessionId = named.parse().map_err(|error| {
                ToolError::Failed(format!(
                    "`sessionId`: {error}; `list_sessions` lists valid ids; omit it for the default"
                ))
            })?;
            if bound.is_some_and(|bound| bound != id) {
                let message = "this agent can only access its own session; omit `sessionId`";
                return Err(ToolError::Failed(message.to_owned()));
            }
            id
        }
        (None, Some(bound)) => bound,
        (None, None) => {
            let message = "no session exists; open the chat or send a message first";
            last_used_session(hub)
                .await
                .map_err(tool_error)?
                .ok_or_else(|| ToolError::Failed(message.to_owned()))?
        }
    };
    hub.describe(session).await.map_err(tool_error)?;
    Ok(session)
}

/// Parses the arguments of a call; an error names the invalid field.
pub fn parse_arguments<T: DeserializeOwned>(
    tool: &ToolName,
    arguments: Value,
) -> Result<T, ToolError> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    serde_path_to_error::deserialize(arguments).map_err(|error| ToolError::BadArguments {
        tool: tool.clone(),
        reason: format!("{}: {}", error.path(), error.inner()),
    })
}

/// Maps a core error for the caller of a tool.
pub fn tool_error(error: Error) -> ToolError {
    match error {
        Error::Storage(_) | Error::StorageReadOnly(_) | Error::NewerData { .. } => {
            tracing::error!(%error, "a built-in tool failed");
            ToolError::Failed("the store failed; see Gangway's log".to_owned())
        }
        Error::Stopping => ToolError::Unavailable(error.to_string()),
        _ => ToolError::Failed(error.to_string()),
    }
}
