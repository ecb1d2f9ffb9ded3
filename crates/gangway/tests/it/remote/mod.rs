//! Remote agents that need the whole server or the program: real tmux, the real program in it, and a model server on the real wire.

mod backends;
mod command;
mod confined;
mod crash;
mod early;
mod ending;
mod failing;
mod hostile;
mod origins;
mod pages;
mod process;
mod runner;
mod survival;

pub use backends::backend;
pub use runner::acp::agent as program;

use std::path::PathBuf;

use gangway::config::Config;
use gangway_providers::ModelAccess;
use gangway_remote::config::{PersonaConfig, ProjectConfig};
use gangway_testing::{
    remote_client::{
        self, Persona, RemoteClient, RemoteServer, SKILL, TestAgent, answered, create_request,
    },
    remote_model as model,
    remote_stock::{Stock, Swept, processes, tmux_sessions},
};
use tempfile::TempDir;

use crate::support::TestServer;

type Yard = remote_client::TestRemote<TestServer>;

impl RemoteServer for TestServer {
    type Config = Config;

    fn settings(shop: PathBuf, personas: [Persona; 2]) -> Config {
        let shop = ProjectConfig {
            folder: shop,
            backend: None,
            model: None,
            mcp_servers: None,
        };
        let mut config = Config::default();
        config.projects.insert("shop".into(), shop);
        for Persona {
            slug,
            folder,
            active,
        } in personas
        {
            let persona = PersonaConfig { folder, active };
            config.personas.insert(slug.into(), persona);
        }
        config
    }

    async fn start(
        folder: TempDir,
        config: Config,
        model_url: String,
        program: Option<PathBuf>,
    ) -> Self {
        let access = ModelAccess {
            openai_base_url: Some(model_url),
            openai_model: Some("test-model".into()),
            program: program.map(Into::into),
            ..ModelAccess::default()
        };
        Self::with_access(folder, config, access).await
    }

    async fn restart(self) -> Self {
        Self::restart(self).await
    }

    fn url(&self) -> String {
        self.client.url("")
    }

    fn data(&self) -> PathBuf {
        Self::data(self)
    }
}
