//! The tools that `/mcp` offers, and their calls.

use std::sync::{
    Arc, Mutex, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use gangway_core::{OWN, ToolError, ToolName};
use gangway_mcp::{ModelNames, ProgressSink, read_result};
use gangway_pages::{is_reader, reader_tools};
use rmcp::{
    ErrorData,
    model::{CallToolRequestParams, CallToolResult},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    convert, pages,
    scope::{Scope, fault},
    sessions, sources,
};
use crate::app::App;

/// The MCP handler; cloned per client.
#[derive(Clone)]
pub(super) struct McpHandler {
    /// Weak: the server owns its routes.
    app: Weak<App>,
    names: Arc<Mutex<(u64, Arc<ModelNames>)>>,
    pub(super) client: Arc<Client>,
}

/// One client of an older revision, for the time of its session.
#[derive(Default)]
pub(super) struct Client {
    greeted: AtomicBool,
    gone: CancellationToken,
}

impl Client {
    /// A token for the session's background tasks, on the first `initialized` only.
    pub(super) fn greet(&self) -> Option<CancellationToken> {
        let again = self.greeted.swap(true, Ordering::Relaxed);
        (!again).then(|| self.gone.clone())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.gone.cancel();
    }
}

impl McpHandler {
    pub(super) fn new(app: &Arc<App>) -> Self {
        Self {
            app: Arc::downgrade(app),
            names: Arc::default(),
            client: Arc::default(),
        }
    }

    /// A handler for another client.
    pub(super) fn opened(&self) -> Self {
        Self {
            client: Arc::default(),
            ..self.clone()
        }
    }

    pub(super) fn app(&self) -> Result<Arc<App>, ErrorData> {
        self.app
            .upgrade()
            .ok_or_else(|| fault("the server has stopped"))
    }

    /// Names of the MCP tools for models; recomputed only when tools change.
    fn names(&self, app: &App) -> Arc<ModelNames> {
        let now = *app.tools.host.changes().borrow();
        let mut stored = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.0 != now || now == 0 {
            let tools = app.tools.host.tools();
            let names = ModelNames::new(tools.iter().map(|tool| &tool.name));
            *stored = (now, Arc::new(names));
        }
        Arc::clone(&stored.1)
    }

    pub(super) async fn tools(&self, app: &App, scope: &Scope) -> Vec<rmcp::model::Tool> {
        let mut own = sessions::tools();
        own.extend(reader_tools(true));
        own.extend(sources::own(app).await);
        own.push(read_result::tool());
        own.retain(|tool| scope.allows_own(app, &tool.name));
        let mut listed: Vec<_> = own.iter().filter_map(|tool| convert::own(tool)).collect();
        let names = self.names(app);
        for (tool, described) in app.tools.host.described() {
            if !scope.allows(app, &tool.name) {
                continue;
            }
            let name = match &scope.server {
                Some(_) => Some(tool.name.tool()),
                None => names.to_model_name(&tool.name),
            };
            listed.extend(name.and_then(|n| convert::listed(described, n, &tool.input_schema)));
        }
        listed.extend(sources::tools(app, scope).await);
        listed
    }

    pub(super) async fn call(
        &self,
        app: &Arc<App>,
        scope: &Scope,
        request: CallToolRequestParams,
        progress: Option<ProgressSink>,
    ) -> Result<CallToolResult, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let name = request.name.as_ref();
        if let Some(own) = own_named(app, name)
            && scope.allows_own(app, &own)
        {
            return match self.call_own(app, scope, &own, arguments).await {
                Ok(value) => Ok(convert::own_result(value)),
                Err(error) => convert::refused(error),
            };
        }
        if scope.server.is_none()
            && self.names(app).from_model_name(name).is_none()
            && let Some(tool) = sources::named(app, scope, name).await
        {
            return sources::call(app, scope, &tool, arguments).await;
        }
        let tool = match &scope.server {
            Some(server) => ToolName::new(server.as_str(), name).ok(),
            None => self.names(app).from_model_name(name).cloned(),
        };
        let tool = tool.filter(|tool| scope.allows(app, tool));
        let Some(tool) = tool else {
            let name: String = name.chars().take(200).collect();
            let message = format!("there is no tool {name:?}; tools/list shows all tools");
            return Err(ErrorData::invalid_params(message, None));
        };
        let caller = scope.admitted.caller();
        let host = &app.tools.host;
        let answer = host
            .forward(&scope.connection(), &tool, arguments, progress)
            .await;
        let answer = convert::forwarded(answer)?;
        Ok(match &scope.server {
            // At its own address, a server's results are passed on unchanged.
            Some(_) => answer,
            None => convert::bounded(host, &caller, answer),
        })
    }

    async fn call_own(
        &self,
        app: &Arc<App>,
        scope: &Scope,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        if read_result::is_read_result(tool) {
            let caller = scope.admitted.caller();
            return app.toolset.read_on(&caller, tool, arguments);
        }
        // An invalid id is rejected by the tool itself; without one, only chats are meant.
        let named = arguments["sessionId"].as_str();
        if let Some(session) = named.and_then(|id| id.parse().ok()) {
            sessions::check(app, scope, session).await?;
        }
        if let Some(done) = sessions::call(app, scope, tool, arguments.clone()).await {
            return done;
        }
        if let Some(done) = pages::call(app, scope, tool, arguments.clone()).await {
            return done;
        }
        match app.toolset.source_of(tool) {
            Some(source) => source.call(&scope.caller(), tool, arguments).await,
            None => Err(ToolError::NotFound(tool.clone())),
        }
    }
}

/// The built-in tool of this short name.
fn own_named(app: &App, name: &str) -> Option<ToolName> {
    let tool = ToolName::new(OWN, name).ok()?;
    let known = sessions::has(&tool) || is_reader(&tool) || read_result::is_read_result(&tool);
    (known || app.toolset.source_of(&tool).is_some()).then_some(tool)
}
