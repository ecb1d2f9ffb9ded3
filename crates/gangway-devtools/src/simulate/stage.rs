//! The app launched on the run's own server, and the fake agent's line to the app.

use anyhow::{Context, bail, ensure};
use gangway_client::{ServerClient, encode::in_url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Host,
    script::{LaunchWith, Reply, Said},
    wire::Wire,
};

/// What a fake agent is called.
const AGENT: &str = "simulator";

/// A server with one launch.
pub(super) struct Stage {
    pub(super) host: Host,
    client: ServerClient,
    /// The launch's id.
    pub(super) launch: String,
    /// The address of the app's page.
    pub(super) url: String,
    /// What might not be as it was meant.
    pub(super) warnings: Vec<String>,
}

/// The answer to a launch.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launched {
    launch_id: String,
    url: String,
    warnings: Vec<String>,
}

/// A launch as it is now.
#[derive(Deserialize)]
struct LaunchState {
    /// Pages that are connected.
    open: usize,
    /// Whether an agent has it.
    attached: bool,
}

/// Something that an app said, and the name by which it is answered.
#[derive(Debug)]
pub(super) struct Heard {
    id: String,
    /// What it said.
    pub(super) said: Said,
}

/// The agent's side of the channel.
pub(super) struct Line {
    wire: Wire,
}

impl Stage {
    /// Launches the app.
    pub(super) async fn set(
        host: Host,
        app: &str,
        with: &LaunchWith,
        reload: bool,
    ) -> anyhow::Result<(Self, Line)> {
        let client = ServerClient::to(host.note.clone())?;
        let agent = with.agent.as_deref().unwrap_or(AGENT);
        let wish = json!({
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
        let launched: Launched = client.post(&path, &wish).await?;
        let stage = Self {
            host,
            client,
            launch: launched.launch_id,
            url: launched.url,
            warnings: launched.warnings,
        };
        ensure!(
            !stage.state().await?.attached,
            "{agent} is one of Gangway's own agents; give the simulated one another name",
        );
        let (url, token) = stage.client.address();
        let address = url.trim_start_matches("http://").parse()?;
        let path = format!("/ws/launches/{}?token={token}", stage.launch);
        let mut wire = Wire::open(address, &path).await?;
        let welcome = wire.hear().await?;
        ensure!(
            welcome["type"] == "welcome",
            "the server said {welcome} instead of welcome"
        );
        Ok((stage, Line { wire }))
    }

    /// Whether a page of the app is connected.
    pub(super) async fn is_open(&self) -> anyhow::Result<bool> {
        Ok(self.state().await?.open > 0)
    }

    async fn state(&self) -> anyhow::Result<LaunchState> {
        self.client
            .get(&format!("/api/launches/{}", self.launch))
            .await
    }
}

impl Line {
    /// What the app says next; can be dropped before it came.
    pub(super) async fn hear(&mut self) -> anyhow::Result<Heard> {
        loop {
            let mut message = self.wire.hear().await.context("hearing the app")?;
            let kind = message["type"].as_str().unwrap_or_default().to_owned();
            let (request, name, id, with) = match kind.as_str() {
                "weblet-event" => (false, "event", "id", "payload"),
                "weblet-request" => (true, "action", "requestId", "params"),
                "error" => bail!("the server refused a message: {}", message["error"]),
                "closing" => bail!("the server closed the channel: {}", message["message"]),
                _ => continue,
            };
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            return Ok(Heard {
                id: word(&message[id]),
                said: Said {
                    request,
                    name: word(&message[name]),
                    with: message[with].take(),
                },
            });
        }
    }

    /// Replies to something.
    pub(super) async fn reply(&mut self, heard: &Heard, reply: &Reply) -> anyhow::Result<()> {
        let (id, name) = (&heard.id, &heard.said.name);
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
        self.wire.say(&message).await
    }

    /// Says something to the app.
    pub(super) async fn send(&mut self, event: &str, payload: &Value) -> anyhow::Result<()> {
        let message = json!({ "type": "agent-event", "event": event, "payload": payload });
        self.wire.say(&message).await
    }
}
