//! The message types, mapped to requests of the server.

use gangway_client::encode::in_url;
use http::{HeaderValue, Method};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    fields::{
        Active, AnyBody, Audit, Body, CallTool, Catalog, Follow, ForAct, ForAsk, ForSession,
        History, Logs, Name, OfAnyServer, OfAsk, OfChat, OfInstall, OfOrigin, OfResource, OfServer,
        OfSession, Prompt, Question, Search, Secrets, Sessions, ToolCall,
    },
    message::Message,
    problem::Problem,
    server::Rest,
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
pub(crate) enum Work {
    /// One request, whose response is the result.
    Ask(Rest),
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

impl Work {
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
pub(crate) fn read(message: &Message<'_>) -> Option<Result<Work, Problem>> {
    let kind = message.kind.as_ref();
    NAMES.contains(&kind).then(|| work(kind, message))
}

fn work(kind: &str, message: &Message<'_>) -> Result<Work, Problem> {
    let of_server = |what: &str| -> Result<String, Problem> {
        let fields: OfServer = message.fields()?;
        Ok(server(&fields.server_id, what))
    };
    let of_session = |what: &str| -> Result<String, Problem> {
        let fields: OfSession = message.fields()?;
        Ok(session(&fields.session_id, what))
    };
    let for_session = |method: Method, what: &str| -> Result<Rest, Problem> {
        let fields: ForSession = message.fields()?;
        Ok(Rest::new(method, session(&fields.session_id, what)).with(fields.body))
    };
    let body = || message.fields::<Body>().map(|fields| fields.body);
    let rest = match kind {
        "list_servers" => Rest::get(SERVERS),
        "add_server" => Rest::post(SERVERS).with(body()?),
        "remove_server" | "uninstall_server" => Rest::delete(of_server("")?),
        "connect_server" | "start_installed" => Rest::post(of_server("/start")?),
        "disconnect_server" | "stop_installed" | "mcp_disconnect" => {
            Rest::post(of_server("/stop")?)
        }
        "server_login" => Rest::post(of_server("/login")?),
        "server_logout" => Rest::post(of_server("/logout")?),
        "mcp_connect" => return Ok(Work::Connect(message.fields::<OfServer>()?.server_id)),
        "mcp_list_connections" => return Ok(Work::Connections),
        "mcp_list_tools" => return Ok(Work::Tools(message.fields::<OfAnyServer>()?.server_id)),
        "mcp_list_resources" => {
            let fields: OfServer = message.fields()?;
            return Ok(Work::List(fields.server_id, "resources"));
        }
        "mcp_list_prompts" => {
            let fields: OfServer = message.fields()?;
            return Ok(Work::List(fields.server_id, "prompts"));
        }
        "mcp_read_resource" => {
            let fields: OfResource = message.fields()?;
            return Ok(Work::Resource(fields.server_id, fields.uri));
        }
        "mcp_call_tool" => {
            let fields: ToolCall = message.fields()?;
            let call = CallTool {
                tool: &fields.tool,
                args: fields.args.as_deref(),
            };
            Rest::post("/api/tools/call").with(raw(&call)?).patiently()
        }
        "catalog_get" => {
            let fields: Catalog = message.fields()?;
            let parts = [("cursor", fields.cursor), ("limit", number(fields.limit))];
            Rest::get(query("/api/mcp/catalog", &parts))
        }
        "catalog_search" => {
            let fields: Search = message.fields()?;
            let parts = [
                ("q", Some(fields.query)),
                ("cursor", fields.cursor),
                ("limit", number(fields.limit)),
            ];
            Rest::get(query("/api/mcp/catalog", &parts))
        }
        "catalog_refresh" => Rest::post("/api/mcp/catalog/refresh"),
        "check_runtimes" => Rest::get("/api/mcp/runtimes"),
        "install_server" => Rest::post("/api/mcp/installs").with(body()?),
        "list_installed" => return Ok(Work::Installed),
        "cancel_install" => {
            let fields: OfInstall = message.fields()?;
            let id = fields.install_id.in_path();
            Rest::delete(format!("/api/mcp/installs/{id}"))
        }
        "set_server_secrets" => {
            let fields: Secrets = message.fields()?;
            let body = raw(&json!({ "secrets": fields.secrets }))?;
            Rest::new(Method::PUT, server(&fields.server_id, "/secrets")).with(body)
        }
        "get_server_status" => return Ok(Work::Status(message.fields::<OfServer>()?.server_id)),
        "get_server_logs" => {
            let fields: Logs = message.fields()?;
            let path = server(&fields.server_id, "/logs");
            Rest::get(query(&path, &[("after", number(fields.after))]))
        }
        "llm_detect" => Rest::post("/api/providers/detect"),
        "llm_list_providers" => Rest::get("/api/providers"),
        "llm_list_models" => Rest::get("/api/models"),
        "llm_set_active" => {
            let fields: Active = message.fields()?;
            if !(fields.model.is_null() || fields.model.is_string()) {
                return Err(Problem::bad_field("`model` must be a string or null"));
            }
            let body = raw(&json!({ "model": fields.model }))?;
            Rest::new(Method::PUT, "/api/models/default").with(body)
        }
        "llm_chat" => return Ok(Work::Chat(message.fields::<Question>()?.body)),
        "chat_create_session" => {
            let fields: AnyBody = message.fields()?;
            let body = fields.body.map_or_else(|| raw(&json!({})), Ok)?;
            Rest::post("/api/sessions").with(body)
        }
        "chat_list_sessions" => {
            let fields: Sessions = message.fields()?;
            let parts = [("limit", number(fields.limit)), ("before", fields.before)];
            Rest::get(query("/api/sessions", &parts))
        }
        "chat_get_session" => Rest::get(of_session("")?),
        "chat_update_session" => for_session(Method::PATCH, "")?,
        "chat_delete_session" => Rest::delete(of_session("")?),
        "chat_clear_messages" => {
            return Ok(Work::Clear(message.fields::<OfSession>()?.session_id));
        }
        "chat_send_message" => {
            let fields: Prompt = message.fields()?;
            let name = fields.idempotency_key.map(HeaderValue::try_from);
            let mut rest = Rest::post(session(&fields.session_id, "/messages")).with(fields.body);
            rest.once = name.transpose().map_err(|_| {
                Problem::bad_field("`idempotency_key` must have 1 to 200 printable characters")
            })?;
            rest
        }
        "chat_stop" => Rest::post(of_session("/stop")?),
        "chat_answer" => for_session(Method::POST, "/answers")?,
        "chat_history" => {
            let fields: History = message.fields()?;
            let parts = [
                ("session", Some(fields.session_id.as_str().to_owned())),
                ("before", number(fields.before)),
                ("limit", number(fields.limit)),
            ];
            Rest::get(query("/api/history", &parts))
        }
        "chat_follow" => {
            let fields: Follow = message.fields()?;
            let path = session(&fields.session_id, "/events");
            let path = query(&path, &[("since", number(fields.since))]);
            return Ok(Work::Follow(path));
        }
        "list_agents" => Rest::get("/api/agents"),
        "permission_list" => Rest::get("/api/permissions"),
        "permission_set" => Rest::new(Method::PATCH, "/api/permissions").with(body()?),
        "permission_forget" => {
            let fields: OfOrigin = message.fields()?;
            let origin = Some(fields.origin.as_str().to_owned());
            Rest::delete(query("/api/permissions", &[("origin", origin)]))
        }
        "ask_list" => Rest::get("/api/asks"),
        "ask_get" => Rest::get(ask(&message.fields::<OfAsk>()?.ask)),
        "ask_answer" => {
            let fields: ForAsk = message.fields()?;
            Rest::post(ask(&fields.ask)).with(fields.body)
        }
        "ask_dismiss" => Rest::delete(ask(&message.fields::<OfAsk>()?.ask)),
        "ask_watch" => {
            let fields: OfAsk = message.fields()?;
            let asked = Some(fields.ask.as_str().to_owned());
            return Ok(Work::Follow(query("/ws/asks", &[("ask", asked)])));
        }
        "permission_audit" => {
            let fields: Audit = message.fields()?;
            let parts = [
                ("origin", fields.origin.map(|o| o.as_str().to_owned())),
                ("before", number(fields.before)),
                ("limit", number(fields.limit)),
            ];
            Rest::get(query("/api/permissions/audit", &parts))
        }
        "panel_enter" => Rest::post("/api/panel").with(body()?),
        "panel_close" => {
            let fields: OfChat = message.fields()?;
            Rest::delete(format!("/api/panel/{}", fields.chat_id.in_path()))
        }
        "browser_attach" => return Ok(Work::Follow("/ws/browser".to_owned())),
        "browser_answer" => {
            let fields: ForAct = message.fields()?;
            let path = format!("/api/browser/acts/{}", fields.act.in_path());
            Rest::post(path).with(fields.body)
        }
        _ => return Err(Problem::unknown_type(kind)),
    };
    Ok(Work::Ask(rest))
}
