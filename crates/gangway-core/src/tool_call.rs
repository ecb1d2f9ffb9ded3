//! What the tools of Gangway's own share: who calls, their arguments, and which session is meant.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Error, Hub, OWN, SessionId, Source, ToolError, ToolName};

/// The caller of a tool.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The session that the caller works in, if it is bound to one. It reaches no other.
    pub session: Option<SessionId>,
    /// Who is told to have changed things.
    pub source: Source,
    /// Which version of it this is, where it says so.
    pub version: Option<String>,
}

/// One of Gangway's own tools by its short name.
#[must_use]
pub fn own_tool(tool: &str) -> ToolName {
    // These names are all in our own code, and hold nothing that a name may not hold.
    ToolName::new(OWN, tool).unwrap_or_else(|_| unreachable!("{tool} is a name"))
}

/// The session that was last in use; one that is answering is in use now.
pub async fn last_used_session(hub: &Hub) -> crate::Result<Option<SessionId>> {
    let sessions = hub.list(None, 100).await?.sessions;
    // Sessions of remote agents and pages are nobody's chat.
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

/// The session that is meant: the named one, the caller's own, or the one that was last in use.
pub async fn session_meant(
    hub: &Hub,
    caller: &Caller,
    named: Option<&str>,
) -> Result<SessionId, ToolError> {
    let session = match (named, caller.session) {
        (Some(named), bound) => {
            let id: SessionId = named.parse().map_err(|error| {
                ToolError::Failed(format!(
                    "`sessionId`: {error}; list_sessions shows them, or leave it out"
                ))
            })?;
            if bound.is_some_and(|bound| bound != id) {
                let words = "this agent works in its own session alone; leave `sessionId` out";
                return Err(ToolError::Failed(words.to_owned()));
            }
            id
        }
        (None, Some(bound)) => bound,
        (None, None) => {
            let words = "there is no session yet; open the chat, or send a message first";
            last_used_session(hub)
                .await
                .map_err(tool_error)?
                .ok_or_else(|| ToolError::Failed(words.to_owned()))?
        }
    };
    hub.describe(session).await.map_err(tool_error)?;
    Ok(session)
}

/// Arguments of a call; an error names the field that is wrong.
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

/// An error of core as the caller of a tool sees it.
pub fn tool_error(error: Error) -> ToolError {
    match error {
        Error::Storage(_) | Error::StorageReadOnly(_) | Error::NewerData { .. } => {
            tracing::error!(%error, "a tool of Gangway's own failed");
            ToolError::Failed("the store failed; Gangway's log says why".to_owned())
        }
        Error::Stopping => ToolError::Unavailable(error.to_string()),
        _ => ToolError::Failed(error.to_string()),
    }
}
