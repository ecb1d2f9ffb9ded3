//! Handlers of the MCP requests, each within the scope of its sender.

use std::sync::Arc;

use futures_util::future::select_all;
use gangway_core::ToolError;
use gangway_mcp::{Progress, ProgressSink};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProgressToken, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ResultType, ServerCapabilities, ServerConfig, SubscriptionFilter,
    },
    service::{NotificationContext, Peer, RequestContext, SubscriptionContext},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::{offer::McpHandler, pages, scope::Scope, sessions};

/// Instructions for clients.
const INSTRUCTIONS: &str = "Gangway connects web pages and agents on the user's machine. Tools without a prefix are \
Gangway's own: read and talk in chat sessions, read and change the state of running applets (applet_howto says how). \
Those named page-NAME__tool belong to pages that the user has open: they do what the user could do there. list_pages \
lists these pages, read_page reads what one shows, next_page_event waits for what happens in it. Those named browser__tool use the user's active tab, while the user allows \
that. The others belong to the user's own MCP servers and are named server__tool.";

/// Progress notifications buffered for a slow client; later ones are dropped.
const REPORTS: usize = 16;

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let own = Implementation::new("gangway", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        scope.sees(&app)?;
        Ok(ListToolsResult::with_all_items(
            self.tools(&app, &scope).await,
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        scope.sees(&app)?;
        let token = context.meta.get_progress_token();
        let (progress, reported) = match token {
            Some(token) => {
                let (sink, task) = reports(context.peer.clone(), token);
                (Some(sink), Some(task))
            }
            None => (None, None),
        };
        let result = tokio::select! {
            result = self.call(&app, &scope, request, progress) => result?,
            // Dropping the call cancels it at its server too.
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        // After the response, earlier progress is of no use.
        if let Some(reported) = reported {
            let _ = reported.await;
        }
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        if let Some(server) = scope.through(&app)? {
            let found = app.tools.host.resources(server).await;
            return Ok(ListResourcesResult::with_all_items(items(
                found,
                "resources",
            )?));
        }
        let cursor = request.and_then(|page| page.cursor);
        let first = cursor.is_none();
        let (mut resources, next) = match scope.reads_sessions(&app) {
            true => sessions::logs(&app, &scope, cursor.as_deref()).await?,
            false => Default::default(),
        };
        if first {
            resources.extend(pages::snapshots(&app, &scope).await);
        }
        let mut list = ListResourcesResult::with_all_items(resources);
        list.next_cursor = next;
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        let templates = match scope.through(&app)? {
            Some(server) => items(app.tools.host.resources(server).await, "resourceTemplates")?,
            None if scope.reads_sessions(&app) => vec![sessions::template()],
            None => Vec::new(),
        };
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        if let Some(server) = scope.through(&app)? {
            let read = app.tools.host.read_resource(server, &request.uri).await;
            if let Err(ToolError::Failed(why)) = read {
                let uri = serde_json::json!({ "uri": request.uri });
                return Err(ErrorData::invalid_params(why, Some(uri)));
            }
            let mut result: ReadResourceResult = decoded(read)?;
            result.result_type.get_or_insert(ResultType::COMPLETE);
            return Ok(result.into());
        }
        if let Some(shown) = pages::snapshot(&app, &scope, &request.uri).await {
            return Ok(ReadResourceResult::new(vec![shown?]).into());
        }
        if !scope.reads_sessions(&app) {
            let message = "this key needs the scope chat to read sessions";
            return Err(ErrorData::resource_not_found(message, None));
        }
        let contents = sessions::log(&app, &scope, &request.uri).await?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        let prompts = match scope.through(&app)? {
            Some(server) => {
                let found = app.tools.host.prompts(server).await.map(Value::from);
                found
                    .and_then(|all| serde_json::from_value(all).map_err(|_| invalid_response()))
                    .map_err(error_data)?
            }
            None => Vec::new(),
        };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        let Some(server) = scope.through(&app)? else {
            let message = "/mcp has no prompts; use /mcp/SERVER for those of one server";
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let host = &app.tools.host;
        let filled = host.get_prompt(server, &request.name, arguments).await;
        let mut result: rmcp::model::GetPromptResult = decoded(filled)?;
        result.result_type.get_or_insert(ResultType::COMPLETE);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (app, scope) = (self.app()?, Scope::of(&context)?);
        let Some(server) = scope.through(&app)? else {
            let message = "/mcp has no completions; use /mcp/SERVER for those of one server";
            return Err(ErrorData::invalid_params(message, None));
        };
        let completed = app.tools.host.complete(server, request).await;
        if let Err(ToolError::Failed(why)) = completed {
            return Err(ErrorData::invalid_params(why, None));
        }
        let mut result: CompleteResult = decoded(completed)?;
        result.result_type.get_or_insert(ResultType::COMPLETE);
        Ok(result)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let tools = SubscriptionFilter::builder().tools_list_changed().build();
        Some(requested.intersection(&tools))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let app = self.app()?;
        let changes = app.toolset.changes();
        let sink = context.sink().clone();
        let telling = told_of_changes(changes, || async {
            sink.notify_tool_list_changed().await.is_ok()
        });
        tokio::select! {
            () = telling => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (Ok(app), Some(gone)) = (self.app(), self.client.greet()) else {
            return;
        };
        let (changes, stop) = (app.toolset.changes(), app.http.stop.clone());
        let peer = context.peer;
        tokio::spawn(async move {
            let telling = told_of_changes(changes, || async {
                !peer.is_transport_closed() && peer.notify_tool_list_changed().await.is_ok()
            });
            tokio::select! {
                () = telling => {}
                () = gone.cancelled() => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

/// Notifies a client of changed tools until it disconnects.
async fn told_of_changes<F: Future<Output = bool>>(
    mut changes: Vec<watch::Receiver<u64>>,
    tell: impl Fn() -> F,
) {
    loop {
        let changed = changes.iter_mut().map(|one| Box::pin(one.changed()));
        let (changed, ..) = select_all(changed).await;
        if changed.is_err() || !tell().await {
            return;
        }
    }
}

/// Forwards the progress of a call to its client.
fn reports(peer: Peer<RoleServer>, token: ProgressToken) -> (ProgressSink, JoinHandle<()>) {
    let (reports, mut waiting) = mpsc::channel::<Progress>(REPORTS);
    let task = tokio::spawn(async move {
        while let Some(report) = waiting.recv().await {
            let mut param = ProgressNotificationParam::new(token.clone(), report.progress);
            param.total = report.total;
            param.message = report.message;
            if peer.notify_progress(param).await.is_err() {
                return;
            }
        }
    });
    let sink = Arc::new(move |report| {
        let _ = reports.try_send(report);
    });
    (sink, task)
}

/// The items of a list result.
fn items<T: DeserializeOwned>(
    found: Result<Value, ToolError>,
    key: &str,
) -> Result<Vec<T>, ErrorData> {
    let Value::Array(found) = found.map_err(error_data)?[key].take() else {
        return Ok(Vec::new());
    };
    // An invalid item is skipped.
    let read = found.into_iter().map(serde_json::from_value);
    Ok(read.filter_map(Result::ok).collect())
}

fn decoded<T: DeserializeOwned>(found: Result<Value, ToolError>) -> Result<T, ErrorData> {
    let read =
        found.and_then(|value| serde_json::from_value(value).map_err(|_| invalid_response()));
    read.map_err(error_data)
}

fn invalid_response() -> ToolError {
    ToolError::Failed("the server's response is invalid".to_owned())
}

fn error_data(error: ToolError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
