//! Gangway's own tools: what an agent can do with the applets of a session.

use std::sync::{Arc, OnceLock, Weak};

use gangway_core::{
    AppletState, Command, Error, Hub, OWN, Receipt, SessionId, Slug, Source, Tool, ToolError,
    ToolName,
};
use gangway_mcp::ServerId;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{questions::Questions, writing};
use crate::applets::Shelf;

/// What an agent is told about applets.
const HOWTO: &str = include_str!("howto.md");

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The session that the caller works in, if it is bound to one. It reaches no other.
    pub session: Option<SessionId>,
    /// Who is told to have changed things.
    pub source: Source,
    /// Which version of it this is, where it says so.
    pub version: Option<String>,
}

/// The tools, for the sessions of a hub.
#[derive(Default)]
pub struct Applets {
    /// Set when there is one: the hub's agents have these tools.
    hub: OnceLock<Weak<Hub>>,
    /// Where applets are found, and who asks the person whether one may be written.
    written: OnceLock<(Arc<Shelf>, Arc<Questions>)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    session_id: Option<String>,
    applet: Option<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    data: Map<String, Value>,
    session_id: Option<String>,
    applet: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reload {
    session_id: Option<String>,
    applet: Option<String>,
}

impl Applets {
    /// From now on these are the sessions.
    pub fn attach(&self, hub: &Arc<Hub>, shelf: &Arc<Shelf>, questions: &Arc<Questions>) {
        let _ = self.hub.set(Arc::downgrade(hub));
        let written = (Arc::clone(shelf), Arc::clone(questions));
        let _ = self.written.set(written);
    }

    pub(super) fn shelf(&self) -> Result<&Arc<Shelf>, ToolError> {
        let written = self.written.get().map(|(shelf, _)| shelf);
        written.ok_or_else(|| failed(Error::Stopping))
    }

    pub(super) fn questions(&self) -> Result<&Arc<Questions>, ToolError> {
        let written = self.written.get().map(|(_, questions)| questions);
        written.ok_or_else(|| failed(Error::Stopping))
    }

    /// The server that these tools belong to.
    pub fn server() -> ServerId {
        OWN.parse()
            .unwrap_or_else(|_| unreachable!("{OWN} is a name"))
    }

    /// One of Gangway's own tools by its short name.
    #[must_use]
    pub fn name(tool: &str) -> ToolName {
        // These names are all in our own code, and hold nothing that a name may not hold.
        ToolName::new(OWN, tool).unwrap_or_else(|_| unreachable!("{tool} is a name"))
    }

    /// What can be called.
    #[must_use]
    pub fn tools() -> Vec<Arc<Tool>> {
        let session =
            json!({ "type": "string", "description": "The session; the latest one when absent" });
        let applet = json!({ "type": "string", "description": "The applet; the one that is open when absent" });
        let one = |name: &str, description: &str, properties: Value, required: &[&str]| {
            let input_schema = json!({
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            });
            Arc::new(Tool {
                name: Self::name(name),
                description: description.to_owned(),
                input_schema,
            })
        };
        let mut tools = vec![
            one(
                "get_applet_state",
                "Read what a running applet shows and shares: its state, or one key of it.",
                json!({
                    "sessionId": session, "applet": applet,
                    "key": { "type": "string", "description": "Only this key" },
                }),
                &[],
            ),
            one(
                "set_applet_state",
                "Change the state of a running applet; it sees the change at once. Keys are merged, null takes a key away.",
                json!({
                    "data": { "type": "object", "description": "The keys to change" },
                    "sessionId": session, "applet": applet,
                }),
                &["data"],
            ),
            one(
                "applet_howto",
                "How applets work and how to use their state.",
                json!({}),
                &[],
            ),
            one(
                "reload_page",
                "Load the pages of a session, or one applet in them, anew.",
                json!({
                    "sessionId": session,
                    "applet": { "type": "string", "description": "Only this applet" },
                }),
                &[],
            ),
        ];
        tools.extend(writing::tools());
        tools
    }

    /// What can be called before there is an applet.
    #[must_use]
    pub fn first_tools() -> Vec<Arc<Tool>> {
        let first = ["applet_howto", "write_applet", "open_applet"];
        let mut tools = Self::tools();
        tools.retain(|tool| first.contains(&tool.name.tool()));
        tools
    }

    /// Whether a session has applets that these tools can do something with.
    pub async fn in_use(&self, session: SessionId) -> bool {
        let (Ok(hub), Ok(shelf)) = (self.hub(), self.shelf()) else {
            return false;
        };
        let meant = shelf.meant(&hub, session).await;
        meant.is_ok_and(|meant| !meant.is_empty())
    }

    /// Calls one.
    pub async fn call(
        &self,
        caller: &Caller,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        match tool.tool() {
            "get_applet_state" => self.get(caller, read(tool, arguments)?).await,
            "set_applet_state" => self.set(caller, read(tool, arguments)?).await,
            "applet_howto" => Ok(Value::String(HOWTO.to_owned())),
            "reload_page" => self.reload(caller, read(tool, arguments)?).await,
            "write_applet" => self.write(caller, tool, arguments).await,
            "open_applet" => self.open(caller, tool, arguments).await,
            _ => Err(ToolError::NotFound(tool.clone())),
        }
    }

    async fn get(&self, caller: &Caller, wish: Get) -> Result<Value, ToolError> {
        let hub = self.hub()?;
        let session = latest(&hub, caller, wish.session_id.as_deref()).await?;
        let applet = self.chosen(&hub, session, wish.applet.as_deref()).await?;
        let state = hub.state(session, &applet).await.map_err(failed)?;
        let AppletState { version, data } = state.unwrap_or_default();
        let mut answer =
            json!({ "sessionId": session.to_string(), "applet": applet, "version": version });
        match wish.key {
            Some(key) => answer["value"] = data.get(&key).cloned().unwrap_or_default(),
            None => answer["data"] = Value::Object(data),
        }
        if let Some(about) = self.shelf()?.find(&applet).await.and_then(|a| a.state) {
            answer["about"] = json!(about);
        }
        Ok(answer)
    }

    async fn set(&self, caller: &Caller, wish: Set) -> Result<Value, ToolError> {
        let hub = self.hub()?;
        let session = latest(&hub, caller, wish.session_id.as_deref()).await?;
        let applet = self.chosen(&hub, session, wish.applet.as_deref()).await?;
        let command = Command::SetState {
            applet: applet.clone(),
            patch: wish.data,
            source: caller.source.clone(),
        };
        let open = hub.open(session).await.map_err(failed)?;
        match open.submit(command).await.map_err(failed)? {
            Receipt::State { version, .. } => Ok(
                json!({ "sessionId": session.to_string(), "applet": applet, "version": version }),
            ),
            other => Err(ToolError::Failed(format!(
                "the session answered {other:?}; this is a fault in Gangway"
            ))),
        }
    }

    async fn reload(&self, caller: &Caller, wish: Reload) -> Result<Value, ToolError> {
        let hub = self.hub()?;
        let session = latest(&hub, caller, wish.session_id.as_deref()).await?;
        let applet = wish.applet.as_deref().map(slug).transpose()?;
        let open = hub.open(session).await.map_err(failed)?;
        let command = Command::Reload { applet };
        open.submit(command).await.map_err(failed)?;
        Ok(json!({ "sessionId": session.to_string(), "reloaded": true }))
    }

    /// The applet that is meant: the named one, or the only one that is open or has a state.
    async fn chosen(
        &self,
        hub: &Arc<Hub>,
        session: SessionId,
        named: Option<&str>,
    ) -> Result<Slug, ToolError> {
        if let Some(named) = named {
            return slug(named);
        }
        let mut meant = self.shelf()?.meant(hub, session).await.map_err(failed)?;
        match (meant.pop(), meant.as_slice()) {
            (Some(only), []) => Ok(only),
            (None, _) => Err(ToolError::Failed(
                "no applet is open in this session or has a state; say which one you mean with `applet`"
                    .to_owned(),
            )),
            (Some(last), rest) => {
                let names: Vec<_> = rest.iter().chain([&last]).map(Slug::as_str).collect();
                Err(ToolError::Failed(format!(
                    "this session has several applets; say which one with `applet`: {}",
                    names.join(", ")
                )))
            }
        }
    }

    pub(super) fn hub(&self) -> Result<Arc<Hub>, ToolError> {
        let hub = self.hub.get().and_then(Weak::upgrade);
        hub.ok_or_else(|| failed(Error::Stopping))
    }
}

/// The session that was last in use; one that is answering is in use now.
pub async fn last_used(hub: &Hub) -> gangway_core::Result<Option<SessionId>> {
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
pub async fn latest(
    hub: &Arc<Hub>,
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
            last_used(hub)
                .await
                .map_err(failed)?
                .ok_or_else(|| ToolError::Failed(words.to_owned()))?
        }
    };
    hub.describe(session).await.map_err(failed)?;
    Ok(session)
}

pub(super) fn slug(text: &str) -> Result<Slug, ToolError> {
    text.parse()
        .map_err(|error| ToolError::Failed(format!("`applet`: {error}")))
}

/// Arguments as they are meant.
pub fn read<T: DeserializeOwned>(tool: &ToolName, arguments: Value) -> Result<T, ToolError> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    serde_path_to_error::deserialize(arguments).map_err(|error| ToolError::BadArguments {
        tool: tool.clone(),
        reason: format!("{}: {}", error.path(), error.inner()),
    })
}

/// What core says, to whoever called a tool.
pub fn failed(error: Error) -> ToolError {
    match error {
        Error::Storage(_) | Error::StorageReadOnly(_) | Error::NewerData { .. } => {
            tracing::error!(%error, "a tool of Gangway's own failed");
            ToolError::Failed("the store failed; Gangway's log says why".to_owned())
        }
        Error::Stopping => ToolError::Unavailable(error.to_string()),
        _ => ToolError::Failed(error.to_string()),
    }
}
