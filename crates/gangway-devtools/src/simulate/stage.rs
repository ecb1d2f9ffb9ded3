//! The app launched on the run's own server, and the agent's channel to it.

use anyhow::{Context, bail, ensure};
use gangway_client::{ServerClient, encode::in_url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Host,
    script::{AppMessage, LaunchWith, Reply},
    wire::Wire,
};

/// Default name of the agent.
const AGENT: &str = "simulator";

pub(super) struct Stage {
    pub(super) host: Host,
    client: ServerClient,
    pub(super) launch: String,
    pub(super) url: String,
    pub(super) warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launched {
    launch_id: String,
    url: String,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct LaunchState {
    /// Number of connected pages.
    open: usize,
    /// Whether an agent is attached.
    attached: bool,
}

/// A message of the app with its id.
#[derive(Debug)]
pub(super) struct ReceivedMessage {
    id: String,
    pub(super) message: AppMessage,
}

pub(super) struct AppSocket {
    wire: Wire,
}

impl Stage {
    pub(super) async fn set(
        host: Host,
        app: &str,
        with: &LaunchWith,
        reload: bool,
    ) -> anyhow::Result<(Self, AppSocket)> {
        let client = ServerClient::to(host.note.clone())?;
        let agent = with.agent.as_deref().unwrap_or(AGENT);
        let request = json!({
            "agent": {
                "name": agent,
                "version": with.version.as_deref().unwrap_or("1.0.0"),
                "capabilities": with.capabilities.as_deref().unwrap_or_default(),
            },
            "data": with.data,
            "config": with.config,
            "reload": reload,
        });
        let path = format!("/api/apps/{}/launch", in_url(app));
        let launched: Launched = client.post(&path, &request).await?;
        let stage = Self {
            host,
            client,
            launch: launched.launch_id,
            url: launched.url,
            warnings: launched.warnings,
        };
        ensure!(
            !stage.state().await?.attached,
            "{agent} is one of Gangway's own agents; choose another name",
        );
        let (url, token) = stage.client.address();
        let address = url.trim_start_matches("http://").parse()?;
        let path = format!("/ws/launches/{}?token={token}", stage.launch);
        let mut wire = Wire::open(address, &path).await?;
        let welcome = wire.receive().await?;
        ensure!(
            welcome["type"] == "welcome",
            "the server sent {welcome} instead of welcome"
        );
        Ok((stage, AppSocket { wire }))
    }

    pub(super) async fn is_open(&self) -> anyhow::Result<bool> {
        Ok(self.state().await?.open > 0)
    }

    async fn state(&self) -> anyhow::Result<LaunchState> {
        self.client
            .get(&format!("/api/launches/{}", self.launch))
            .await
    }
}

impl AppSocket {
    /// The app's next message; cancel safe.
    pub(super) async fn receive(&mut self) -> anyhow::Result<ReceivedMessage> {
        loop {
            let mut message = self
                .wire
                .receive()
                .await
                .context("receiving from the app")?;
            let kind = message["type"].as_str().unwrap_or_default().to_owned();
            let (request, name, id, with) = match kind.as_str() {
                "weblet-event" => (false, "event", "id", "payload"),
                "weblet-request" => (true, "action", "requestId", "params"),
                "error" => bail!("the server refused a message: {}", message["error"]),
                "closing" => bail!("the server closed the channel: {}", message["message"]),
                _ => continue,
            };
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            return Ok(ReceivedMessage {
                id: word(&message[id]),
                message: AppMessage {
                    request,
                    name: word(&message[name]),
                    with: message[with].take(),
                },
            });
        }
    }

    pub(super) async fn reply(
        &mut self,
        received: &ReceivedMessage,
        reply: &Reply,
    ) -> anyhow::Result<()> {
        let (id, name) = (&received.id, &received.message.name);
        let refusal = |code: &str, message: String| {
            let error = json!({ "code": code, "message": message });
            json!({ "type": "weblet-response", "requestId": id, "success": false, "error": error })
        };
        let message = match reply {
            Reply::Ack => json!({ "type": "weblet-ack", "id": id }),
            Reply::Result(result) => {
                json!({ "type": "weblet-response", "requestId": id, "success": true, "result": result })
            }
            Reply::Deny(why) if why.is_empty() => {
                refusal("E-AGT-004", format!("Agent denied request: {name}"))
            }
            Reply::Deny(why) => refusal("E-AGT-004", why.clone()),
            Reply::Unknown => refusal(
                "E-AGT-006",
                format!("Agent does not support action: {name}"),
            ),
        };
        self.wire.send_message(&message).await
    }

    pub(super) async fn send(&mut self, event: &str, payload: &Value) -> anyhow::Result<()> {
        let message = json!({ "type": "agent-event", "event": event, "payload": payload });
        self.wire.send_message(&message).await
    }
}
