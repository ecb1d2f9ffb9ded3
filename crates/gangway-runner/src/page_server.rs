//! The tools of open pages as an MCP server, for agents that use the Agent Client Protocol. It listens on a socket in the
//! agent's own folder; `gangway agent --pages SOCKET` connects the agent to it over stdio.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_core::ToolError;
use gangway_mcp::ModelNames;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::{NotificationContext, RequestContext, serve_server},
};
use serde_json::{Value, json};
use tokio::{net::UnixListener, sync::Semaphore, task::JoinHandle};

use crate::{executor::TurnSink, pages::Pages};

/// Connections at the same time; an agent has one for each of its sessions.
const CONNECTIONS: usize = 8;

/// The server, until dropped.
pub(crate) struct PageServer {
    socket: PathBuf,
    handler: Handler,
    task: JoinHandle<()>,
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// A turn in which the agent may call tools, until dropped.
pub(crate) struct PageTurn<'a> {
    handler: &'a Handler,
    turn: u64,
}

impl Drop for PageTurn<'_> {
    fn drop(&mut self) {
        self.handler.turn.lock().take();
        self.handler.pages.end_turn(self.turn);
    }
}

impl PageServer {
    pub(crate) fn open(socket: &Path, pages: Arc<Pages>) -> io::Result<Self> {
        // A leftover of a runner that was killed.
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket)?;
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
        let handler = Handler {
            pages,
            turn: Arc::default(),
        };
        Ok(Self {
            socket: socket.to_owned(),
            task: tokio::spawn(accept(listener, handler.clone())),
            handler,
        })
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(crate) fn turn(&self, sink: &TurnSink) -> PageTurn<'_> {
        *self.handler.turn.lock() = Some(sink.clone());
        PageTurn {
            handler: &self.handler,
            turn: sink.turn(),
        }
    }
}

async fn accept(listener: UnixListener, handler: Handler) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            continue;
        };
        let handler = handler.clone();
        tokio::spawn(async move {
            if let Ok(running) = serve_server(handler, stream).await {
                let _ = running.waiting().await;
            }
            drop(place);
        });
    }
}

#[derive(Clone)]
struct Handler {
    pages: Arc<Pages>,
    /// The running turn: calls belong to it.
    turn: Arc<Mutex<Option<TurnSink>>>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let own = Implementation::new("gangway-pages", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions("Tools of the pages that the user has open in this session.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.pages.tools();
        let names = ModelNames::new(tools.iter().map(|tool| &tool.name));
        let listed = tools.iter().filter_map(|tool| {
            let tool = json!({
                "name": names.to_model_name(&tool.name)?, "description": tool.description,
                "inputSchema": tool.input_schema,
            });
            serde_json::from_value::<Tool>(tool).ok()
        });
        Ok(ListToolsResult::with_all_items(listed.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = self.pages.tools();
        let names = ModelNames::new(tools.iter().map(|tool| &tool.name));
        let Some(tool) = names.from_model_name(&request.name) else {
            let name: String = request.name.chars().take(200).collect();
            let message = format!("no open page has a tool {name:?}");
            return Err(ErrorData::invalid_params(message, None));
        };
        let Some(sink) = self.turn.lock().clone() else {
            let message = "tools of pages can only be called during a turn";
            return Err(ErrorData::invalid_request(message, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let cancelled = context.ct.cancelled();
        let result = self.pages.call(&sink, tool, &arguments, cancelled).await;
        Ok(shown(result).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.pages.changes();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }
}

/// A result for the agent: content blocks as they are, anything else as text and, if it is an object, as data.
fn shown(result: Result<Value, ToolError>) -> CallToolResult {
    let value = match result {
        Ok(value) => value,
        Err(error) => return CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    };
    if let Ok(blocks) = serde_json::from_value::<Vec<ContentBlock>>(value.clone())
        && !blocks.is_empty()
    {
        return CallToolResult::success(blocks);
    }
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    if value.is_object() {
        result.structured_content = Some(value);
    }
    result
}
