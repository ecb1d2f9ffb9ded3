//! A small MCP client on the bare wire, of either era.

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::support::TestServer;

/// Which revision is spoken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Era {
    /// With `initialize` and a session.
    Older,
    /// Every request for itself.
    Current,
}

/// A client of one address.
pub struct Client<'a> {
    server: &'a TestServer,
    path: String,
    key: Option<String>,
    era: Era,
    session: Option<String>,
    /// Requests so far; each has a number of its own.
    asked: AtomicU64,
}

impl<'a> Client<'a> {
    pub async fn new(server: &'a TestServer, path: &str, era: Era) -> Self {
        Self::with_key(server, path, era, None).await
    }

    pub async fn with_key(server: &'a TestServer, path: &str, era: Era, key: Option<&str>) -> Self {
        let mut client = Self {
            server,
            path: path.to_owned(),
            key: key.map(str::to_owned),
            era,
            session: None,
            asked: AtomicU64::new(0),
        };
        if era == Era::Older {
            let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "tester", "version": "1" },
            } });
            let response = client.request(&hello).send().await.unwrap();
            assert_eq!(response.status(), 200);
            let session = response.headers().get("mcp-session-id").unwrap();
            client.session = Some(session.to_str().unwrap().to_owned());
            client.notify("notifications/initialized").await;
        }
        client
    }

    fn request(&self, body: &Value) -> RequestBuilder {
        let mut request = self
            .server
            .http
            .post(self.server.url(&self.path))
            .header("accept", "application/json, text/event-stream")
            .json(body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        if let Some(session) = &self.session {
            request = request
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", "2025-11-25");
        }
        request
    }

    /// Says something that has no answer.
    pub async fn notify(&self, method: &str) {
        let body = json!({ "jsonrpc": "2.0", "method": method });
        let status = self.request(&body).send().await.unwrap().status();
        assert_eq!(status, StatusCode::ACCEPTED);
    }

    /// The id of its session.
    pub fn session(&self) -> &str {
        self.session.as_deref().unwrap()
    }

    /// Ends its session; says with which status.
    pub async fn end(&self) -> u16 {
        let request = self.server.http.delete(self.server.url(&self.path));
        let request = request.header("mcp-session-id", self.session());
        request.send().await.unwrap().status().as_u16()
    }

    /// The whole answer to a request.
    pub async fn ask(&self, method: &str, mut params: Value) -> Value {
        if self.era == Era::Current {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
            });
        }
        let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut request = self.request(&body);
        if self.era == Era::Current {
            request = request
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", method);
            let name = params["name"].as_str().or(params["uri"].as_str());
            if let Some(name) = name {
                request = request.header("mcp-name", name);
            }
        }
        let text = request.send().await.unwrap().text().await.unwrap();
        // An answer comes alone, or as the last event of a stream.
        let json = match text.rfind("data: {") {
            Some(at) if !text.starts_with('{') => text[at + 6..].lines().next().unwrap(),
            _ => &text,
        };
        serde_json::from_str(json).unwrap_or_else(|_| panic!("{method}: {text}"))
    }

    /// The names of the tools that are listed.
    pub async fn tools(&self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array();
        let tools = tools.unwrap_or_else(|| panic!("{answer}")).iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The data that a call of a tool answers, or the text of its failure.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", params).await;
        if let Some(error) = answer.get("error") {
            return Err(error["message"].as_str().unwrap().to_owned());
        }
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == true {
            return Err(text.to_owned());
        }
        match result.get("structuredContent") {
            Some(data) => Ok(data.clone()),
            None => Ok(json!(text)),
        }
    }
}
