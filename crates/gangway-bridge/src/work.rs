//! Messages that take more than one request to the server.

use std::time::Duration;

use gangway_client::encode::in_header;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{
    fields::Name,
    frame,
    named::{SERVERS, raw},
    out::{ResponseText, too_long},
    problem::Problem,
    server::{Core, RestCall},
};

/// Polling interval and timeout of a starting MCP server.
const LOOK: Duration = Duration::from_millis(100);
const START: Duration = Duration::from_secs(30);

/// Page limit of a list of an MCP server.
const LISTED: usize = 100;

/// The MCP revision without sessions.
const REVISION: &str = "2026-07-28";

impl Core {
    async fn json(&self, rest: &RestCall) -> Result<Value, Problem> {
        let answer = self.ask(rest).await?;
        serde_json::from_str(&answer.json).map_err(|error| Problem::internal(error.to_string()))
    }

    /// A list in a response, by field name.
    async fn list(&self, path: &str, name: &str) -> Result<Vec<Value>, Problem> {
        let mut whole = self.json(&RestCall::get(path)).await?;
        match whole.get_mut(name).map(Value::take) {
            Some(Value::Array(list)) => Ok(list),
            _ => Err(Problem::internal("unexpected answer from the server")),
        }
    }

    pub(crate) async fn server_status(&self, id: &Name) -> Result<Value, Problem> {
        let servers = self.list(SERVERS, "servers").await?;
        let found = servers
            .into_iter()
            .find(|server| server["id"] == id.as_str());
        found.ok_or_else(|| {
            let shown: String = id.as_str().chars().take(80).collect();
            let message = format!("MCP server {shown:?} not found; list_servers shows all servers");
            let error = gangway_http::error::ApiError::new(
                http::StatusCode::NOT_FOUND,
                "server_not_found",
                message,
            );
            error.into()
        })
    }

    pub(crate) async fn connect_server(&self, id: &Name) -> Result<Value, Problem> {
        let start = format!("{SERVERS}/{}/start", id.in_path());
        self.ask(&RestCall::post(start)).await?;
        let until = Instant::now() + START;
        loop {
            let server = self.server_status(id).await?;
            if server["state"] != "starting" || Instant::now() >= until {
                return Ok(server);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(crate) async fn connections(&self) -> Result<Value, Problem> {
        let mut servers = self.list(SERVERS, "servers").await?;
        servers.retain(|server| server["state"] == "ready" || server["state"] == "starting");
        Ok(json!({ "servers": servers }))
    }

    pub(crate) async fn tools(&self, of: Option<&Name>) -> Result<Value, Problem> {
        let mut tools = self.list("/api/tools", "tools").await?;
        if let Some(server) = of {
            tools.retain(|tool| tool["serverId"] == server.as_str());
        }
        Ok(json!({ "tools": tools }))
    }

    pub(crate) async fn installed(&self) -> Result<Value, Problem> {
        let installs = self.list("/api/mcp/installs", "installs").await?;
        let servers = self.list(SERVERS, "servers").await?;
        Ok(json!({ "installs": installs, "servers": servers }))
    }

    /// Replaces a session by a new one with the same settings.
    pub(crate) async fn clear_session(&self, id: &Name) -> Result<ResponseText, Problem> {
        let path = format!("/api/sessions/{}", id.in_path());
        let old = self.json(&RestCall::get(&path)).await?;
        let mut like = Map::new();
        for name in ["agent", "model", "title", "cwd"] {
            // A session's own folder is removed with it; the new session gets its own.
            let own = name == "cwd" && is_own(&old["cwd"], &old["sessionId"]);
            if !(old[name].is_null() || own) {
                like.insert(name.to_owned(), old[name].clone());
            }
        }
        let made = RestCall::post("/api/sessions").with(raw(&like)?);
        let made = self.ask(&made).await?;
        if let Err(problem) = self.ask(&RestCall::delete(path)).await {
            // The old session could not be deleted, so remove the new one.
            let new: Value = serde_json::from_str(&made.json).unwrap_or_default();
            if let Some(id) = new["sessionId"].as_str() {
                let _ = self
                    .ask(&RestCall::delete(format!("/api/sessions/{id}")))
                    .await;
            }
            return Err(problem);
        }
        Ok(made)
    }

    /// Reads all pages of a list of an MCP server.
    pub(crate) async fn list_of_server(&self, of: &Name, what: &str) -> Result<Value, Problem> {
        let (mut all, mut cursor, mut bytes) = (Vec::new(), None::<String>, 0);
        for _ in 0..LISTED {
            let mut params = json!({});
            if let Some(cursor) = cursor.take() {
                params["cursor"] = cursor.into();
            }
            let mut page = self.mcp(of, &format!("{what}/list"), params).await?;
            bytes += page.to_string().len();
            if bytes > frame::MESSAGE {
                return Err(too_long());
            }
            if let Some(Value::Array(some)) = page.get_mut(what).map(Value::take) {
                all.extend(some);
            }
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return Ok(json!({ what: all }));
            }
        }
        Err(Problem::too_large(format!(
            "a list of an MCP server can have at most {LISTED} pages"
        )))
    }

    pub(crate) async fn resource(&self, of: &Name, uri: &str) -> Result<Value, Problem> {
        let params = json!({ "uri": uri });
        let mut read = self.mcp(of, "resources/read", params).await?;
        Ok(json!({ "contents": read["contents"].take() }))
    }

    async fn mcp(&self, of: &Name, method: &str, mut params: Value) -> Result<Value, Problem> {
        let mut headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", REVISION.to_owned()),
            ("mcp-method", method.to_owned()),
        ];
        headers.extend(
            params["uri"]
                .as_str()
                .map(|uri| ("mcp-name", in_header(uri))),
        );
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {
                "name": "gangway-bridge", "version": env!("CARGO_PKG_VERSION"),
            },
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let rest = RestCall::post(format!("/mcp/{}", of.in_path())).with(raw(&request)?);
        let answer = self.while_there(async {
            let response = self.send(&rest, &headers).await?;
            self.text(response).await
        });
        let answer = answer.await?.json;
        // The response is alone, or the last event of a stream.
        let last = answer.lines().rev();
        let last = last.filter_map(|line| line.strip_prefix("data:"));
        let json = match answer.trim_start().starts_with('{') {
            true => Some(answer.as_str()),
            false => last.map(str::trim).find(|data| data.starts_with('{')),
        };
        let answer: Value = json
            .and_then(|json| serde_json::from_str(json).ok())
            .ok_or_else(|| Problem::internal("the MCP server did not answer"))?;
        if let Some(result) = answer.get("result") {
            return Ok(result.clone());
        }
        // `/mcp/SERVER` answers the same for a missing server and a refusal.
        self.server_status(of).await?;
        Err(refused_by(&answer))
    }
}

fn refused_by(answer: &Value) -> Problem {
    let message = answer["error"]["message"].as_str();
    let message = message.unwrap_or("the MCP server refused without a reason");
    let mut problem = Problem::internal(message.chars().take(2000).collect::<String>());
    problem.code = match answer["error"]["code"].as_i64() {
        Some(-32601) => "not_supported".to_owned(),
        Some(-32002) => "resource_not_found".to_owned(),
        _ => "mcp_refused".to_owned(),
    };
    problem
}

fn is_own(folder: &Value, session: &Value) -> bool {
    let name = |path: &str| std::path::Path::new(path).file_name().map(|n| n.to_owned());
    match (folder.as_str(), session.as_str()) {
        (Some(folder), Some(session)) => name(folder).is_some_and(|name| name == session),
        _ => false,
    }
}
