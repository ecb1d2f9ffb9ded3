//! The calls of pages, by method.

use std::sync::Arc;

use gangway_core::Scope;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    SiteError, SiteServerMessage, Sites, Stream, Visit, WebAgent,
    permissions::{Actor, AskId, PermissionDenied, PermissionUse},
};

/// Size limit of a call's parameters.
const PARAMS: usize = 1 << 20;

/// Starts a call; its answer is sent through the page's outbox.
pub fn start(
    agent: &Arc<WebAgent>,
    visit: &Arc<Visit>,
    id: u64,
    stop: CancellationToken,
    method: String,
    params: Value,
) {
    let (agent, visit) = (Arc::clone(agent), Arc::clone(visit));
    let feeds = agent.http.sockets.clone();
    feeds.spawn(async move {
        let stream = Stream {
            visit: Arc::clone(&visit),
            call: id,
            stop: stop.clone(),
        };
        // Calls that leave something behind end themselves on cancellation, and report how.
        let ends_itself = matches!(
            method.as_str(),
            "run" | "text.prompt" | "mcp.register" | "chat.open"
        );
        let result = if ends_itself {
            call(&agent, &stream, &method, params).await
        } else {
            tokio::select! {
                result = call(&agent, &stream, &method, params) => result,
                () = stop.cancelled() => Err(SiteError::aborted("the call was aborted")),
            }
        };
        // The server is stopping; the page did not abort the call.
        let result = match result {
            Err(error) if error.code == "ERR_ABORTED" && agent.http.stop.is_cancelled() => {
                Err(SiteError::stopping())
            }
            other => other,
        };
        visit.finish(id);
        note_refusal(&agent, &visit, &method, &result);
        visit.send(match result {
            Ok(result) => SiteServerMessage::Result { id, result },
            Err(error) => SiteServerMessage::Error { id, error },
        });
    });
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    #[serde(default)]
    args: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    session_id: String,
    input: String,
}

#[derive(Deserialize)]
struct Ask {
    ask: String,
}

#[derive(Deserialize)]
struct Frame {
    origin: String,
}

#[derive(Deserialize)]
struct Delegated {
    token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    server_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChatName {
    chat_id: String,
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, SiteError> {
    let params = match params {
        Value::Null => json!({}),
        other => other,
    };
    serde_json::from_value(params)
        .map_err(|error| SiteError::wrong(format!("invalid parameters of {method}: {error}")))
}

async fn call(
    agent: &Arc<WebAgent>,
    stream: &Stream,
    method: &str,
    params: Value,
) -> Result<Value, SiteError> {
    let visit = &stream.visit;
    let sites = &agent.sites;
    let asks = matches!(
        method,
        "permissions.request" | "permissions.closed" | "frame.delegate" | "frame.accept"
    );
    if visit.is_locked() && !asks {
        return unknown(visit, method);
    }
    let size = serde_json::to_vec(&params).map_or(0, |bytes| bytes.len());
    if size > PARAMS {
        let code = match method {
            "tools.call" => "ERR_TOOL_FAILED",
            _ => "ERR_INTERNAL",
        };
        let message = format!("the parameters must be at most {PARAMS} bytes");
        return Err(SiteError::new(code, message));
    }
    let asked = |ask: &AskId| {
        visit.send(SiteServerMessage::Ask {
            id: stream.call,
            ask: ask.to_string(),
            url: format!("/permit?ask={ask}"),
        });
    };
    Ok(match method {
        "permissions.request" => sites.request(visit, read(method, params)?, asked).await?,
        "permissions.closed" => {
            let Ask { ask } = read(method, params)?;
            sites.window_closed(visit, &ask);
            Value::Null
        }
        "frame.delegate" => {
            let Frame { origin } = read(method, params)?;
            sites.delegate(visit, &origin)?
        }
        "frame.accept" => {
            let Delegated { token } = read(method, params)?;
            sites.accept_delegation(visit, &token)?;
            Value::Null
        }
        "permissions.list" => sites.permissions(visit),
        "tools.list" => {
            allowed(agent, visit, Scope::ToolsList, method)?;
            sites.list_tools(visit)
        }
        "tools.call" => {
            let Call { tool, args } = read(method, params)?;
            sites.call_for_page(visit, &tool, args).await?
        }
        "text.create" => {
            let id = agent.open_text(visit, read(method, params)?)?;
            json!({ "sessionId": id })
        }
        "text.prompt" => {
            let Prompt { session_id, input } = read(method, params)?;
            agent.prompt(stream, &session_id, input).await?;
            Value::Null
        }
        "text.destroy" => {
            let Session { session_id } = read(method, params)?;
            agent.close_text(visit, &session_id).await?;
            Value::Null
        }
        "run" => {
            agent.run(stream, read(method, params)?).await?;
            Value::Null
        }
        "providers.list" => {
            allowed(agent, visit, Scope::ModelList, method)?;
            providers(agent)
        }
        "capabilities" => {
            allowed(agent, visit, Scope::ModelList, method)?;
            capabilities(agent)
        }
        "native.begin" => {
            allowed(agent, visit, Scope::ModelPrompt, method)?;
            Value::Null
        }
        "tab.readability" => {
            allowed(agent, visit, Scope::ActiveTabRead, method)?;
            Value::Null
        }
        // The extension does it in the page, once it is allowed.
        "tab.elements" | "tab.click" | "tab.fill" | "tab.screenshot" => {
            if visit.by != Actor::Extension {
                return Err(SiteError::needs_extension(method));
            }
            allowed(agent, visit, tab_scope(method), method)?;
            Value::Null
        }
        "mcp.register" => {
            let own = agent.http.guard.own_origins();
            let own: Vec<u16> = own.filter_map(|origin| port(&origin)).collect();
            let registration = read(method, params)?;
            sites.register(stream, registration, &own, asked).await?
        }
        "mcp.unregister" => {
            let Server { server_id } = read(method, params)?;
            sites.unregister(visit, &server_id).await?
        }
        "chat.canOpen" => json!(sites.can_open_chat(visit)),
        "chat.open" => agent.open_chat(visit, read(method, params)?).await?,
        "chat.close" => {
            let ChatName { chat_id } = read(method, params)?;
            agent.close_chat(visit, &chat_id).await
        }
        other => {
            let shown: String = other.chars().take(80).collect();
            return Err(SiteError::wrong(format!("unknown method {shown:?}")));
        }
    })
}

/// The result before the user has made a decision in this page: the same as without grants, whatever its origin has
/// elsewhere.
fn unknown(visit: &Visit, method: &str) -> Result<Value, SiteError> {
    let needed = match method {
        "permissions.list" => return Ok(Sites::no_permissions(visit)),
        "chat.canOpen" => return Ok(json!("readily")),
        "chat.open" => return Ok(Sites::no_chat()),
        "tools.list" => Scope::ToolsList,
        "tools.call" => Scope::ToolsCall,
        "run" => Scope::ModelTools,
        "providers.list" | "capabilities" => Scope::ModelList,
        "text.create" | "text.prompt" | "text.destroy" | "native.begin" => Scope::ModelPrompt,
        "tab.elements" | "tab.click" | "tab.fill" | "tab.screenshot" => {
            return Err(SiteError::needs_extension(method));
        }
        "tab.readability" => Scope::ActiveTabRead,
        "mcp.register" | "mcp.unregister" => Scope::ServersRegister,
        other => {
            let shown: String = other.chars().take(80).collect();
            return Err(SiteError::wrong(format!("unknown method {shown:?}")));
        }
    };
    Err(PermissionDenied::ScopeRequired(needed).into())
}

/// The scope for a call about the page itself.
fn tab_scope(method: &str) -> Scope {
    match method {
        "tab.click" => Scope::ActiveTabClick,
        "tab.fill" => Scope::ActiveTabFill,
        "tab.screenshot" => Scope::ActiveTabScreenshot,
        _ => Scope::ActiveTabRead,
    }
}

/// Allows and logs what needs no more than a scope.
fn allowed(agent: &WebAgent, visit: &Visit, scope: Scope, what: &str) -> Result<(), SiteError> {
    agent.permissions.check(&visit.origin, scope)?;
    let used = PermissionUse {
        scope,
        what: what.to_owned(),
        outcome: "ok",
        by: visit.by,
    };
    agent.permissions.note(&visit.origin, used);
    Ok(())
}

/// The port of one of our own origins.
fn port(origin: &str) -> Option<u16> {
    let (scheme, rest) = origin.split_once("://")?;
    match rest.rsplit_once(':').map(|(_, port)| port.parse()) {
        Some(Ok(port)) => Some(port),
        _ if scheme == "https" => Some(443),
        _ => Some(80),
    }
}

/// Logs a denied call.
fn note_refusal(agent: &WebAgent, visit: &Visit, method: &str, result: &Result<Value, SiteError>) {
    let scope = match method {
        "tools.list" => Scope::ToolsList,
        "tools.call" => Scope::ToolsCall,
        "text.create" | "text.prompt" | "native.begin" => Scope::ModelPrompt,
        "run" => Scope::ModelTools,
        "providers.list" | "capabilities" => Scope::ModelList,
        "tab.readability" | "tab.elements" | "tab.click" | "tab.fill" | "tab.screenshot" => {
            tab_scope(method)
        }
        "mcp.register" | "mcp.unregister" => Scope::ServersRegister,
        _ => return,
    };
    if let Err(error) = result
        && matches!(error.code, "ERR_SCOPE_REQUIRED" | "ERR_PERMISSION_DENIED")
    {
        let used = PermissionUse {
            scope,
            what: method.to_owned(),
            outcome: error.code,
            by: visit.by,
        };
        agent.permissions.note(&visit.origin, used);
    }
}

/// The providers without private details such as URLs and the source of keys.
fn providers(agent: &WebAgent) -> Value {
    let known = agent.models.describe();
    let default = known.default.and_then(|default| default.model);
    let instances = agent.models.registry.instances();
    let shown = known.providers.into_iter().map(|one| {
        let mut shown = json!({
            "id": one.id, "type": one.kind, "name": one.name, "available": one.available,
            "isDefault": one.is_default, "isTypeDefault": one.is_type_default,
            "supportsTools": one.supports_tools, "isNative": false, "runtime": "bridge",
            "downloadRequired": one.download_required,
        });
        if let Some(instance) = instances.iter().find(|instance| instance.spec.id == one.id) {
            shown["models"] = json!(instance.models());
        }
        if let Some(model) = default.as_ref().filter(|_| one.is_default) {
            shown["defaultModel"] = json!(model);
        }
        if let Some(progress) = one.download_progress {
            shown["downloadProgress"] = json!(progress);
        }
        shown
    });
    Value::Array(shown.collect())
}

fn capabilities(agent: &WebAgent) -> Value {
    let known = agent.models.describe().providers;
    let usable: Vec<_> = known
        .into_iter()
        .filter(|one| one.available)
        .map(|one| one.id)
        .collect();
    json!({ "available": !usable.is_empty(), "bridgeConnected": true, "providers": usable })
}
