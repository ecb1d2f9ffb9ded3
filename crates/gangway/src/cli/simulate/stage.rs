//! A Gangway of a run's own with the app launched in it, and the fake agent's line to the app.

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc};

use anyhow::{Context, bail, ensure};
use gangway_core::{AppAgent, Launch, Store, secret::new_secret};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use super::{
    script::{LaunchWith, Reply, Said},
    wire::Wire,
};
use crate::{
    config::Config,
    launches::{Side, Wish},
    models::ModelAccess,
    server::{App, Server},
};

/// What a fake agent is called.
const AGENT: &str = "simulator";

/// A server with one launch.
pub(super) struct Stage {
    app: Arc<App>,
    launch: Launch,
    /// The address of the app's page.
    pub(super) url: String,
    /// What might not be as it was meant.
    pub(super) warnings: Vec<String>,
    /// What no program that is started from here may see in its environment.
    pub(super) withheld: Vec<String>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    data: TempDir,
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
    /// Starts a server and launches the app in it.
    pub(super) async fn set(
        apps: Vec<PathBuf>,
        app: &str,
        with: &LaunchWith,
        reload: bool,
    ) -> anyhow::Result<(Self, Line)> {
        let mut config = Config {
            apps,
            default_agent: "demo".into(),
            ..Config::default()
        };
        // Nothing of the person's own is part of a run.
        config.models.detect = false;
        config.tools.catalog_url = "off".into();
        let known = ModelAccess::read(&config, |name| std::env::var(name).ok())?;
        let withheld = known.withheld().map(str::to_owned).collect();
        let data = TempDir::with_prefix("gangway-simulate-").context("making a folder for data")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("listening on 127.0.0.1")?;
        let address = listener.local_addr()?;
        let store = Store::open(data.path())?;
        let access = ModelAccess::default();
        let token = new_secret();
        let server = Server::new(config, data.path(), store, access, address, &token).await?;
        let app_state = Arc::clone(server.app());
        let agent = AppAgent {
            name: with.agent.clone().unwrap_or_else(|| AGENT.to_owned()),
            version: with.version.clone().unwrap_or_else(|| "1.0.0".to_owned()),
            capabilities: with.capabilities.clone().unwrap_or_default(),
        };
        ensure!(
            app_state.hub.agents().get(&agent.name).is_err(),
            "{} is an agent of Gangway itself; give the fake one another name",
            agent.name
        );
        let wish = Wish {
            agent: Some(agent),
            data: with.data.clone(),
            config: with.config.clone(),
            reload,
            ..Wish::default()
        };
        let launched = app_state.launch_app(app, wish).await;
        let launched = launched.map_err(|error| anyhow::anyhow!("{}", error.message))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            if let Err(error) = server.listen(listener, stopped).await {
                tracing::error!(%error, "the server ended");
            }
        });
        let stage = Self {
            app: app_state,
            launch: launched.launch,
            url: launched.url,
            warnings: launched.warnings,
            withheld,
            stop,
            serving,
            data,
        };
        let path = format!("/ws/launches/{}?token={token}", stage.launch.id);
        let mut wire = Wire::open(address, &path).await?;
        let welcome = wire.hear().await?;
        ensure!(
            welcome["type"] == "welcome",
            "the server said {welcome} instead of welcome"
        );
        Ok((stage, Line { wire }))
    }

    /// The launch's name.
    pub(super) fn launch(&self) -> String {
        self.launch.id.to_string()
    }

    /// Whether a page of the app is connected.
    pub(super) fn is_open(&self) -> bool {
        self.app.launches.present(self.launch.id, Side::Page) > 0
    }

    /// Stops the server, and removes what it kept.
    pub(super) async fn end(self) {
        let _ = self.stop.send(());
        self.serving.await.ok();
        drop(self.data);
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
                "error" => bail!("the server would not take it: {}", message["error"]),
                "closing" => bail!("the server ended the line: {}", message["message"]),
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
