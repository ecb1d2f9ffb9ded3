//! The message types, mapped to requests of the server.

use gangway_client::encode::in_url;
use http::{HeaderValue, Method};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    fields::{
        Active, AnyBody, AnyServerFields, AskFields, AskPath, Audit, Body, BrowserActFields,
        CallTool, Catalog, ChatFields, Follow, History, InstallFields, Logs, Name, OriginFields,
        Prompt, Question, ResourceFields, Search, Secrets, ServerFields, SessionFields,
        SessionPathFields, Sessions, ToolCall,
    },
    message::Message,
    problem::Problem,
    server::RestCall,
};

/// Message types that need the server.
pub const NAMES: &[&str] = &[
    "list_servers",
    "add_server",
    "remove_server",
    "connect_server",
    "disconnect_server",
    "server_login",
    "server_logout",
    "mcp_connect",
    "mcp_disconnect",
    "mcp_list_connections",
    "mcp_list_tools",
    "mcp_list_resources",
    "mcp_list_prompts",
    "mcp_read_resource",
    "mcp_call_tool",
    "catalog_get",
    "catalog_search",
    "catalog_refresh",
    "check_runtimes",
    "install_server",
    "list_installed",
    "cancel_install",
    "uninstall_server",
    "start_installed",
    "stop_installed",
    "set_server_secrets",
    "get_server_status",
    "get_server_logs",
    "llm_detect",
    "llm_list_providers",
    "llm_list_models",
    "llm_set_active",
    "llm_chat",
    "chat_create_session",
    "chat_list_sessions",
    "chat_get_session",
    "chat_update_session",
    "chat_delete_session",
    "chat_clear_messages",
    "chat_send_message",
    "chat_stop",
    "chat_answer",
    "chat_history",
    "chat_follow",
    "list_agents",
    "permission_list",
    "permission_set",
    "permission_forget",
    "ask_list",
    "ask_get",
    "ask_answer",
    "ask_dismiss",
    "ask_watch",
    "permission_audit",
    "panel_enter",
    "panel_close",
    "browser_attach",
    "browser_answer",
];

/// The work for a message.
pub(crate) enum Operation {
    /// One request, whose response is the result.
    Ask(RestCall),
    /// Start an MCP server, and wait until it is ready or failed.
    Connect(Name),
    /// MCP servers that are ready or starting.
    Connections,
    /// The tools of one server or all.
    Tools(Option<Name>),
    /// A paginated list of an MCP server.
    List(Name, &'static str),
    Resource(Name, String),
    /// Installed servers and running installations.
    Installed,
    /// The status of an MCP server.
    Status(Name),
    /// Replace a session by a new one.
    Clear(Name),
    /// Stream a model's answer.
    Chat(Map<String, Value>),
    /// Forward a WebSocket.
    Follow(String),
}

impl Operation {
    /// Whether events come before the answer.
    pub(crate) fn streams(&self) -> bool {
        matches!(self, Self::Chat(_) | Self::Follow(_))
    }
}

pub(crate) const SERVERS: &str = "/api/mcp/servers";

fn server(of: &Name, what: &str) -> String {
    format!("{SERVERS}/{}{what}", of.in_path())
}

fn session(of: &Name, what: &str) -> String {
    format!("/api/sessions/{}{what}", of.in_path())
}

fn ask(of: &Name) -> String {
    format!("/api/asks/{}", of.in_path())
}

/// A path with the query parameters that have a value.
fn query(path: &str, parts: &[(&str, Option<String>)]) -> String {
    let mut whole = path.to_owned();
    for (name, value) in parts {
        if let Some(value) = value {
            whole.push(if whole.contains('?') { '&' } else { '?' });
            whole += &format!("{name}={}", in_url(value));
        }
    }
    whole
}

fn number(number: Option<u64>) -> Option<String> {
    number.map(|number| number.to_string())
}

pub(crate) fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Problem> {
    serde_json::value::to_raw_value(value).map_err(|error| Problem::internal(error.to_string()))
}

/// `None` for an unknown type.
pub(crate) fn read(message: &Message<'_>) -> Option<Result<Operation, Problem>> {
    let kind = message.kind.as_ref();
    NAMES.contains(&kind).then(|| work(kind, message))
}

fn work(kind: &str, message: &Message<'_>) -> Result<Operation, Problem> {
    let of_server = |what: &str| -> Result<String, Problem> {
        let fields: ServerFields = message.fields()?;
        Ok(server(&fields.server_id, what))
    };
    let of_session = |what: &str| -> Result<String, Problem> {
        let fields: SessionPathFields = message.fields()?;
        Ok(session(&fields.session_id, what))
    };
    let for_session = |method: Method, what: &str| -> Result<RestCall, Problem> {
        let fields: SessionFields = message.fields()?;
        Ok(RestCall::new(method, session(&fields.session_id, what)).with(fields.body))
    };
    let body = || message.fields::<Body>().map(|fields| fields.body);
    let rest = match kind {
        "list_servers" => RestCall::get(SERVERS),
        "add_server" => RestCall::post(SERVERS).with(body()?),
        "remove_server" | "uninstall_server" => RestCall::delete(of_server("")?),
        "connect_server" | "start_installed" => RestCall::post(of_server("/start")?),
        "disconnect_server" | "stop_installed" | "mcp_disconnect" => {
            RestCall::post(of_server("/stop")?)
        }
        "server_login" => RestCall::post(of_server("/login")?),
        "server_logout" => RestCall::post(of_server("/logout")?),
        "mcp_connect" => {
            return Ok(Operation::Connect(
                message.fields::<ServerFields>()?.server_id,
            ));
        }
        "mcp_list_connections" => return Ok(Operation::Connections),
        "mcp_list_tools" => {
            return Ok(Operation::Tools(
                message.fields::<AnyServerFields>()?.server_id,
            ));
        }
        "mcp_list_resources" => {
            let fields: ServerFields = message.fields()?;
            return Ok(Operation::List(fields.server_id, "resources"));
        }
        "mcp_list_prompts" => {
            let fields: ServerFields = message.fields()?;
            return Ok(Operation::List(fields.server_id, "prompts"));
        }
        "mcp_read_resource" => {
            let fields: ResourceFields = message.fields()?;
            return Ok(Operation::Resource(fields.server_id, fields.uri));
        }
        "mcp_call_tool" => {
            let fields: ToolCall = message.fields()?;
            let call = CallTool {
                tool: &fields.tool,
                args: fields.args.as_deref(),
            };
            RestCall::post("/api/tools/call")
                .with(raw(&call)?)
                .patiently()
        }
        "catalog_get" => {
            let fields: Catalog = message.fields()?;
            let parts = [("cursor", fields.cursor), ("limit", number(fields.limit))];
            RestCall::get(query("/api/mcp/catalog", &parts))
        }
        "catalog_search" => {
            let fields: Search = message.fields()?;
            let parts = [
                ("q", Some(fields.query)),
                ("cursor", fields.cursor),
                ("limit", number(fields.limit)),
            ];
            RestCall::get(query("/api/mcp/catalog", &parts))
        }
        "catalog_refresh" => RestCall::post("/api/mcp/catalog/refresh"),
        "check_runtimes" => RestCall::get("/api/mcp/runtimes"),
        "install_server" => RestCall::post("/api/mcp/installs").with(body()?),
        "list_installed" => return Ok(Operation::Installed),
        "cancel_install" => {
            let fields: InstallFields = message.fields()?;
            let id = fields.install_id.in_path();
            RestCall::delete(format!("/api/mcp/installs/{id}"))
        }
        "set_server_secrets" => {
            let fields: Secrets = message.fields()?;
            let body = raw(&json!({ "secrets": fields.secrets }))?;
            RestCall::new(Method::PUT, server(&fields.server_id, "/secrets")).with(body)
        }
        "get_server_status" => {
            return Ok(Operation::Status(
                message.fields::<ServerFields>()?.server_id,
            ));
        }
        "get_server_logs" => {
            let fields: Logs = message.fields()?;
            let path = server(&fields.server_id, "/logs");
            RestCall::get(query(&path, &[("after", number(fields.after))]))
        }
        "llm_detect" => RestCall::post("/api/providers/detect"),
        "llm_list_providers" => RestCall::get("/api/providers"),
        "llm_list_models" => RestCall::get("/api/models"),
        "llm_set_active" => {
            let fields: Active = message.fields()?;
            if !(fields.model.is_null() || fields.model.is_string()) {
                return Err(Problem::bad_field("`model` must be a string or null"));
            }
            let body = raw(&json!({ "model": fields.model }))?;
            RestCall::new(Method::PUT, "/api/models/default").with(body)
        }
        "llm_chat" => return Ok(Operation::Chat(message.fields::<Question>()?.body)),
        "chat_create_session" => {
            let fields: AnyBody = message.fields()?;
            let body = fields.body.map_or_else(|| raw(&json!({})), Ok)?;
            RestCall::post("/api/sessions").with(body)
        }
        "chat_list_sessions" => {
            let fields: Sessions = message.fields()?;
            let parts = [("limit", number(fields.limit)), ("before", fields.before)];
            RestCall::get(query("/api/sessions", &parts))
        }
        "chat_get_session" => RestCall::get(of_session("")?),
        "chat_update_session" => for_session(Method::PATCH, "")?,
        "chat_delete_session" => RestCall::delete(of_session("")?),
        "chat_clear_messages" => {
            return Ok(Operation::Clear(
                message.fields::<SessionPathFields>()?.session_id,
            ));
        }
        "chat_send_message" => {
            let fields: Prompt = message.fields()?;
            let name = fields.idempotency_key.map(HeaderValue::try_from);
            let mut rest =
                RestCall::post(session(&fields.session_id, "/messages")).with(fields.body);
            rest.once = name.transpose().map_err(|_| {
                Problem::bad_field("`idempotency_key` must have 1 to 200 printable characters")
            })?;
            rest
        }
        "chat_stop" => RestCall::post(of_session("/stop")?),
        "chat_answer" => for_session(Method::POST, "/answers")?,
        "chat_history" => {
            let fields: History = message.fields()?;
            let parts = [
                ("session", Some(fields.session_id.as_str().to_owned())),
                ("before", number(fields.before)),
                ("limit", number(fields.limit)),
            ];
            RestCall::get(query("/api/history", &parts))
        }
        "chat_follow" => {
            let fields: Follow = message.fields()?;
            let path = session(&fields.session_id, "/events");
            let path = query(&path, &[("since", number(fields.since))]);
            return Ok(Operation::Follow(path));
        }
        "list_agents" => RestCall::get("/api/agents"),
        "permission_list" => RestCall::get("/api/permissions"),
        "permission_set" => RestCall::new(Method::PATCH, "/api/permissions").with(body()?),
        "permission_forget" => {
            let fields: OriginFields = message.fields()?;
            let origin = Some(fields.origin.as_str().to_owned());
            RestCall::delete(query("/api/permissions", &[("origin", origin)]))
        }
        "ask_list" => RestCall::get("/api/asks"),
        "ask_get" => RestCall::get(ask(&message.fields::<AskPath>()?.ask)),
        "ask_answer" => {
            let fields: AskFields = message.fields()?;
            RestCall::post(ask(&fields.ask)).with(fields.body)
        }
        "ask_dismiss" => RestCall::delete(ask(&message.fields::<AskPath>()?.ask)),
        "ask_watch" => {
            let fields: AskPath = message.fields()?;
            let asked = Some(fields.ask.as_str().to_owned());
            return Ok(Operation::Follow(query("/ws/asks", &[("ask", asked)])));
        }
        "permission_audit" => {
            let fields: Audit = message.fields()?;
            let parts = [
                ("origin", fields.origin.map(|o| o.as_str().to_owned())),
                ("before", number(fields.before)),
                ("limit", number(fields.limit)),
            ];
            RestCall::get(query("/api/permissions/audit", &parts))
        }
        "panel_enter" => RestCall::post("/api/panel").with(body()?),
        "panel_close" => {
            let fields: ChatFields = message.fields()?;
            RestCall::delete(format!("/api/panel/{}", fields.chat_id.in_path()))
        }
        "browser_attach" => return Ok(Operation::Follow("/ws/browser".to_owned())),
        "browser_answer" => {
            let fields: BrowserActFields = message.fields()?;
            let path = format!("/api/browser/acts/{}", fields.act.in_path());
            RestCall::post(path).with(fields.body)
        }
        _ => return Err(Problem::unknown_type(kind)),
    };
    Ok(Operation::Ask(rest))
}
