//! nginx with one worker and no log, which serves a folder as it is.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    machine::{Measured, on_server_core},
    wire::Connection,
};

/// Where Debian puts it, which is on the path of root alone.
const PLACES: [&str; 3] = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"];

const START: Duration = Duration::from_secs(10);

/// A running nginx.
pub struct Nginx {
    /// Its process.
    pub process: Measured,
    /// Kept until the process is gone.
    _folder: TempDir,
}

impl Nginx {
    /// Serves this folder.
    pub async fn start(root: &Path) -> anyhow::Result<Self> {
        let found = PLACES.iter().find(|place| Path::new(place).exists());
        let Some(program) = found else {
            anyhow::bail!("it is not installed: scripts/setup.sh nginx");
        };
        let folder = tempfile::tempdir()?;
        // Free a moment ago; it cannot choose one and say so.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, settings(root, folder.path(), address))?;
        let mut command = on_server_core(program);
        command.arg("-e").arg(folder.path().join("error.log"));
        command.arg("-p").arg(folder.path()).arg("-c").arg(&config);
        let process = Measured::start_at(command, address)?;
        let begin = Instant::now();
        while !answers(address).await {
            if begin.elapsed() > START {
                let log = std::fs::read_to_string(folder.path().join("error.log"));
                anyhow::bail!("it did not start: {}", log.unwrap_or_default());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self {
            process,
            _folder: folder,
        })
    }
}

/// As Debian sets it up, but one process in all, no log, and connections that are kept as long as the driver's are.
fn settings(root: &Path, folder: &Path, address: SocketAddr) -> String {
    let (root, own) = (root.display(), folder.display());
    format!(
        "daemon off;
master_process off;
pid {own}/pid;
events {{ worker_connections 768; }}
http {{
  sendfile on;
  tcp_nopush on;
  types {{ text/html html; }}
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {own}/body;
  proxy_temp_path {own}/proxy;
  fastcgi_temp_path {own}/fastcgi;
  uwsgi_temp_path {own}/uwsgi;
  scgi_temp_path {own}/scgi;
  server {{ listen {address}; root {root}; index index.html; }}
}}
"
    )
}

async fn answers(address: SocketAddr) -> bool {
    let asked = async {
        let mut connection = Connection::open(address).await?;
        connection.request("GET", "/", "").await
    };
    asked.await.is_ok_and(|(status, _)| status == 200)
}
