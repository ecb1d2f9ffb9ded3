//! Built-in tools for the applets of a session.

use std::{future::ready, sync::Arc};

use futures_util::future::BoxFuture;
use gangway_core::{
    AppletState, Asks, Caller, Command, Hub, HubHandle, OWN, Receipt, SessionId, Slug, Tool,
    ToolError, ToolName, ToolSource, parse_arguments, session_meant, tool_error,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{AppletRegistry, write_tools};

/// The text of `applet_howto`.
const HOWTO: &str = include_str!("howto.md");

const NAMES: [&str; 6] = [
    "get_applet_state",
    "set_applet_state",
    "applet_howto",
    "reload_page",
    "write_applet",
    "open_applet",
];

pub struct AppletTools {
    hub: HubHandle,
    pub(crate) registry: Arc<AppletRegistry>,
    /// Asks the user whether an applet may be written.
    pub(crate) asks: Arc<Asks>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetParams {
    session_id: Option<String>,
    applet: Option<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetParams {
    data: Map<String, Value>,
    session_id: Option<String>,
    applet: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReloadParams {
    session_id: Option<String>,
    applet: Option<String>,
}

impl AppletTools {
    #[must_use]
    pub fn new(hub: HubHandle, registry: Arc<AppletRegistry>, asks: Arc<Asks>) -> Self {
        Self {
            hub,
            registry,
            asks,
        }
    }

    fn every() -> Vec<Arc<Tool>> {
        let session = json!({ "type": "string", "description": "The session; default is the most recent one" });
        let applet =
            json!({ "type": "string", "description": "The applet; default is the open one" });
        let mut tools = vec![
            Tool::own(
                "get_applet_state",
                "Read the state of a running applet, or one key of it.",
                json!({
                    "sessionId": session, "applet": applet,
                    "key": { "type": "string", "description": "Only this key" },
                }),
                &[],
            ),
            Tool::own(
                "set_applet_state",
                "Change the state of a running applet; it is notified at once. Keys are merged, null removes a key.",
                json!({
                    "data": { "type": "object", "description": "The keys to change" },
                    "sessionId": session, "applet": applet,
                }),
                &["data"],
            ),
            Tool::own(
                "applet_howto",
                "How applets work and how to use their state.",
                json!({}),
                &[],
            ),
            Tool::own(
                "reload_page",
                "Reload the pages of a session, or one applet in them.",
                json!({
                    "sessionId": session,
                    "applet": { "type": "string", "description": "Only this applet" },
                }),
                &[],
            ),
        ];
        tools.extend(write_tools::tools());
        tools
    }

    /// Tools that are available before there is an applet.
    fn first() -> Vec<Arc<Tool>> {
        let first = ["applet_howto", "write_applet", "open_applet"];
        let mut tools = Self::every();
        tools.retain(|tool| first.contains(&tool.name.tool()));
        tools
    }

    /// Whether a session has applets for these tools.
    async fn in_use(&self, session: SessionId) -> bool {
        let Ok(hub) = self.hub.get() else {
            return false;
        };
        let target = self.registry.meant(&hub, session).await;
        target.is_ok_and(|target| !target.is_empty())
    }

    async fn dispatch(
        &self,
        caller: &Caller,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        match tool.tool() {
            "get_applet_state" => self.get(caller, parse_arguments(tool, arguments)?).await,
            "set_applet_state" => self.set(caller, parse_arguments(tool, arguments)?).await,
            "applet_howto" => Ok(Value::String(HOWTO.to_owned())),
            "reload_page" => self.reload(caller, parse_arguments(tool, arguments)?).await,
            "write_applet" => self.write(caller, tool, arguments).await,
            "open_applet" => self.open(caller, tool, arguments).await,
            _ => Err(ToolError::NotFound(tool.clone())),
        }
    }

    async fn get(&self, caller: &Caller, request: GetParams) -> Result<Value, ToolError> {
        let hub = self.hub()?;
        let session = session_meant(&hub, caller, request.session_id.as_deref()).await?;
        let applet = self
            .chosen(&hub, session, request.applet.as_deref())
            .await?;
        let state = hub.state(session, &applet).await.map_err(tool_error)?;
        let AppletState { version, data } = state.unwrap_or_default();
        let mut answer =
            json!({ "sessionId": session.to_string(), "applet": applet, "version": version });
        match request.key {
            Some(key) => answer["value"] = data.get(&key).cloned().unwrap_or_default(),
            None => answer["data"] = Value::Object(data),
        }
        if let Some(about) = self.registry.find(&applet).await.and_then(|a| a.state) {
            answer["about"] = json!(about);
        }
        Ok(answer)
    }

    async fn set(&self, caller: &Caller, request: SetParams) -> Result<Value, ToolError> {
        let hub = self.hub()?;
        let session = session_meant(&hub, caller, request.session_id.as_deref()).await?;
        let applet = self
            .chosen(&hub, session, request.applet.as_deref())
            .await?;
        let command = Command::SetState {
            applet: applet.clone(),
            patch: request.data,
            source: caller.source.clone(),
        };
        let open = hub.open(session).await.map_err(tool_error)?;
        match open.submit(command).await.map_err(tool_error)? {
            Receipt::State { version, .. } => Ok(
                json!({ "sessionId": session.to_string(), "applet": applet, "version": version }),
            ),
            other => Err(ToolError::Failed(format!(
                "internal error: the session answered {other:?}"
            ))),
        }
    }

    async fn reload(&self, caller: &Caller, request: ReloadParams) -> Result<Value, ToolError> {
        let hub = self.hub()?;
        let session = session_meant(&hub, caller, request.session_id.as_deref()).await?;
        let applet = request.applet.as_deref().map(slug).transpose()?;
        let open = hub.open(session).await.map_err(tool_error)?;
        let command = Command::Reload { applet };
        open.submit(command).await.map_err(tool_error)?;
        Ok(json!({ "sessionId": session.to_string(), "reloaded": true }))
    }

    /// The given applet, or the only one that is open or has a state.
    async fn chosen(
        &self,
        hub: &Arc<Hub>,
        session: SessionId,
        named: Option<&str>,
    ) -> Result<Slug, ToolError> {
        if let Some(named) = named {
            return slug(named);
        }
        let mut target = self
            .registry
            .meant(hub, session)
            .await
            .map_err(tool_error)?;
        match (target.pop(), target.as_slice()) {
            (Some(only), []) => Ok(only),
            (None, _) => Err(ToolError::Failed(
                "no applet is open in this session or has a state; set `applet`".to_owned(),
            )),
            (Some(last), rest) => {
                let names: Vec<_> = rest.iter().chain([&last]).map(Slug::as_str).collect();
                Err(ToolError::Failed(format!(
                    "this session has several applets; set `applet` to one of: {}",
                    names.join(", ")
                )))
            }
        }
    }

    pub(crate) fn hub(&self) -> Result<Arc<Hub>, ToolError> {
        self.hub.get().map_err(tool_error)
    }
}

impl ToolSource for AppletTools {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            if self.in_use(session).await {
                Self::every()
            } else if sentence.to_lowercase().contains("applet") {
                Self::first()
            } else {
                Vec::new()
            }
        })
    }

    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>> {
        Box::pin(ready(Self::every()))
    }

    fn servers(&self) -> Vec<String> {
        vec![OWN.to_owned()]
    }

    fn has(&self, tool: &ToolName) -> bool {
        tool.server() == OWN && NAMES.contains(&tool.tool())
    }

    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.dispatch(caller, tool, arguments))
    }
}

pub(crate) fn slug(text: &str) -> Result<Slug, ToolError> {
    text.parse()
        .map_err(|error| ToolError::Failed(format!("`applet`: {error}")))
}
