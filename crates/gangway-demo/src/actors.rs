//! The actors from outside: an MCP client at `/mcp` and an external agent on the relay, each with a key of its own.

use std::{sync::Arc, time::Duration};

use gangway_core::ToolName;
use gangway_devtools::relay_client::{RelayUrl, Wire, error_text};
use gangway_mcp::{Host, ServerSpec, Settings, Transport, UrlPolicy};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::stage::{Played, Stage, failed};

/// How long a step without the person may take.
const PROMPT: Duration = Duration::from_secs(30);

/// The server as the MCP client knows it.
const SERVER: &str = "gangway";

/// An MCP client, as other programs have one.
pub(super) struct McpClient(Arc<Host>);

impl McpClient {
    pub(super) const NAME: &str = "Travel planner (MCP client)";

    /// Connects with this key.
    pub(super) async fn connect(stage: &Stage, key: &str) -> Played<Self> {
        let id = SERVER.parse().map_err(|_| failed("invalid server id"))?;
        let url = format!("{}/mcp", stage.services.http.own_url);
        let mut spec = ServerSpec::http(id, url, UrlPolicy::Any);
        if let Transport::Http { headers, .. } = &mut spec.transport {
            headers.insert("authorization".to_owned(), format!("Bearer {key}"));
        }
        let host = Host::new(
            Settings {
                client_name: Self::NAME.to_owned(),
                tries: 1,
                start_timeout: PROMPT,
                ..Settings::default()
            },
            None,
        );
        let id = spec.id.clone();
        host.set_up(vec![spec]).await;
        let ready = host.ready(&id).await;
        ready.map_err(|error| failed(format!("The MCP client could not connect: {error}")))?;
        Ok(Self(host))
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Played<Value> {
        let name = ToolName::new(SERVER, tool).map_err(|error| failed(error.to_string()))?;
        let called = self.0.call(Self::NAME, &name, arguments, None).await;
        called.map_err(|error| failed(format!("The MCP client called {tool}: {error}")))
    }

    /// Waits until a tool is offered to it; the server says when its list of tools changes.
    pub(super) async fn offered(&self, tool: &str) -> Played<()> {
        let name = ToolName::new(SERVER, tool).map_err(|error| failed(error.to_string()))?;
        let mut changes = self.0.changes();
        let listed =
            async { while self.0.entry(&name).is_none() && changes.changed().await.is_ok() {} };
        let listed = timeout(PROMPT, listed).await;
        listed.map_err(|_| {
            failed(format!(
                "The MCP client was not offered {tool}. If another packing list is open, close it and start the demo again."
            ))
        })
    }
}

/// An external agent, which connects for each of its turns.
pub(super) struct ExternalAgent {
    url: RelayUrl,
    key: String,
    page: String,
}

impl ExternalAgent {
    pub(super) const NAME: &str = "harbour-agent";

    pub(super) fn new(stage: &Stage, key: String, page: &str) -> Played<Self> {
        let url = stage.services.http.own_url.parse().map_err(failed)?;
        let page = page.to_owned();
        Ok(Self { url, key, page })
    }

    /// Reads the page, and calls one of its tools.
    pub(super) async fn act(&self, tool: &str, params: Value, reason: &str) -> Played<()> {
        let wrong = |error: anyhow::Error| failed(format!("The external agent failed: {error:#}"));
        let wire = Wire::open(&self.url, Some(&self.key)).await;
        let mut wire = wire.map_err(wrong)?;
        let join = json!({ "role": "agent", "sessionId": self.page, "clientId": Self::NAME });
        let call = json!({ "toolName": tool, "params": params, "reason": reason });
        for (kind, payload) in [
            ("relay.join", join),
            ("snapshot.get", json!({})),
            ("tool.call", call),
        ] {
            let answer = wire.ask(kind, payload, PROMPT).await.map_err(wrong)?;
            if answer["type"] == "error" {
                let why = error_text(&answer["payload"]);
                return Err(failed(format!("The external agent sent {kind}: {why}")));
            }
        }
        Ok(())
    }
}
