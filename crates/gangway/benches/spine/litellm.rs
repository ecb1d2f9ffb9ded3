//! LiteLLM's proxy, which many put before their models, from `scripts/setup.sh litellm`.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    machine::{Measured, on_server_core},
    wire::answering,
};

/// Where the setup script puts it.
const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/litellm/bin/litellm"
);

/// It imports for half a minute, on a busy machine for longer.
const START: Duration = Duration::from_secs(180);

/// A running proxy.
pub struct LiteLlm {
    process: Measured,
    /// Kept until the process is gone.
    _folder: TempDir,
}

impl LiteLlm {
    /// One that passes everything on to this model server.
    pub async fn start(model: SocketAddr) -> anyhow::Result<Self> {
        anyhow::ensure!(
            Path::new(PROGRAM).exists(),
            "it is not installed: scripts/setup.sh litellm"
        );
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("config.yaml");
        let settings = format!(
            "model_list:\n- model_name: fake\n  litellm_params:\n    model: openai/fake\n    \
             api_base: http://{model}/v1\n    api_key: none\n"
        );
        std::fs::write(&config, settings)?;
        // Free a moment ago; it cannot choose one itself.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = on_server_core(PROGRAM);
        command
            .args(["--host", "127.0.0.1", "--telemetry", "False"])
            .args(["--port", &address.port().to_string(), "--config"])
            .arg(&config)
            .current_dir(folder.path())
            // Otherwise it asks the network for prices first.
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            // Neither side asks for a key, as neither does on this machine alone.
            .env(
                "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY",
                "true",
            )
            .env("LITELLM_LOG", "ERROR");
        let process = Measured::start_at(command, address)?;
        answering(address, START).await?;
        Ok(Self {
            process,
            _folder: folder,
        })
    }

    /// Its address, and headers for its requests.
    pub fn way(&self) -> (SocketAddr, &str) {
        (self.process.address, "")
    }
}
