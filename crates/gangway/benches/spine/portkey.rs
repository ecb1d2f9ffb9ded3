//! Portkey's gateway, which many put before their models, from `scripts/setup.sh portkey`.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    time::Duration,
};

use crate::{
    machine::{Measured, on_server_core},
    wire::answering,
};

/// Where the setup script puts it.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/portkey/node_modules/@portkey-ai/gateway/build/start-server.js"
);

/// A running gateway.
pub struct Portkey {
    process: Measured,
    /// Headers of each request, which select the model server.
    headers: String,
}

impl Portkey {
    /// One that passes everything on to this model server.
    pub async fn start(model: SocketAddr) -> anyhow::Result<Self> {
        anyhow::ensure!(
            Path::new(SCRIPT).exists(),
            "it is not installed: scripts/setup.sh portkey"
        );
        // Free a moment ago; it cannot choose one itself.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = on_server_core("node");
        command
            .arg(SCRIPT)
            .arg(format!("--port={}", address.port()))
            .arg("--headless")
            // It does not connect to this machine otherwise.
            .env("TRUSTED_CUSTOM_HOSTS", "127.0.0.1");
        let process = Measured::start_at(command, address)?;
        answering(address, Duration::from_secs(60)).await?;
        let headers = format!(
            "x-portkey-provider: openai\r\nx-portkey-custom-host: http://{model}/v1\r\n\
             Authorization: Bearer none\r\n"
        );
        Ok(Self { process, headers })
    }

    /// Its address, and headers for its requests.
    pub fn way(&self) -> (SocketAddr, &str) {
        (self.process.address, &self.headers)
    }
}
