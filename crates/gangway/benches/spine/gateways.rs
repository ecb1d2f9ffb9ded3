//! Gateways to an MCP server over HTTP: ours, and others from `scripts/setup.sh mcp-gateways`.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context;
use serde_json::{Value, json};

use crate::{
    machine::{Measured, on_server_core},
    wire::Connection,
};

/// Where the setup script puts the others.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/mcp-gateways");

/// They import for seconds, on a busy machine for longer.
const START: Duration = Duration::from_secs(60);

/// A way to call the tool: where to post, with which headers, what.
#[derive(Clone)]
pub struct Way {
    address: SocketAddr,
    path: String,
    headers: String,
    body: String,
    /// Whether the body has a place for the number of the request, which is another one each time.
    numbered: bool,
    /// What is in each answer.
    answer: String,
}

/// One caller on one kept connection.
pub struct Caller {
    connection: Connection,
    way: Way,
    next: usize,
}

impl Way {
    /// Gangway's own call of a tool.
    pub fn rest(address: SocketAddr) -> Self {
        Self {
            address,
            path: "/api/tools/call".to_owned(),
            headers: String::new(),
            body: r#"{"tool":"echo/echo","args":{"text":"hello"}}"#.to_owned(),
            numbered: false,
            answer: "\"hello\"".to_owned(),
        }
    }

    /// Calls a tool over streamable HTTP, as a client of 2026 does: without a session.
    pub fn of_tool(address: SocketAddr, tool: &str, arguments: &Value, answer: &str) -> Self {
        let version = "2026-07-28";
        let params = json!({ "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" } } });
        let accept = "Accept: application/json, text/event-stream";
        Self {
            address,
            path: "/mcp".to_owned(),
            headers: format!(
                "{accept}\r\nMCP-Protocol-Version: {version}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
            ),
            body: numbered(&params),
            numbered: true,
            answer: answer.to_owned(),
        }
    }

    /// Calls `echo` in a session over streamable HTTP, as a client of 2025 begins it.
    pub async fn streamable(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let params = json!({ "name": "echo", "arguments": { "text": "hello" } });
        let mut way = Self {
            address,
            path: path.to_owned(),
            headers: "Accept: application/json, text/event-stream\r\n".to_owned(),
            body: numbered(&params),
            numbered: true,
            answer: "\"hello\"".to_owned(),
        };
        let mut connection = Connection::open(address).await?;
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        connection
            .send_with("POST", path, &way.headers, hello)
            .await?;
        let (head, body) = connection.whole_answer().await?;
        anyhow::ensure!(
            String::from_utf8_lossy(&body).contains("serverInfo"),
            "{head}{}",
            String::from_utf8_lossy(&body)
        );
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("mcp-session-id")
                .then(|| value.trim().to_owned())
        });
        way.headers += "MCP-Protocol-Version: 2025-06-18\r\n";
        if let Some(session) = session {
            way.headers += &format!("Mcp-Session-Id: {session}\r\n");
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        connection
            .send_with("POST", path, &way.headers, ready)
            .await?;
        connection.whole_answer().await?;
        Ok(way)
    }

    /// A caller of its own, with numbers of its own.
    pub async fn caller(&self, number: usize) -> anyhow::Result<Caller> {
        Ok(Caller {
            connection: Connection::open(self.address).await?,
            way: self.clone(),
            next: 1 + number * 1_000_000,
        })
    }
}

fn numbered(params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{params}}}"#)
}

impl Caller {
    /// Calls the tool once.
    pub async fn call(&mut self) -> anyhow::Result<()> {
        let Way { path, headers, .. } = &self.way;
        let mut body = self.way.body.clone();
        if self.way.numbered {
            self.next += 1;
            body = body.replacen("NUMBER", &self.next.to_string(), 1);
        }
        self.connection
            .send_with("POST", path, headers, &body)
            .await?;
        let (head, body) = self.connection.whole_answer().await?;
        anyhow::ensure!(
            crate::wire::find(&body, self.way.answer.as_bytes()).is_some(),
            "{head}{}",
            String::from_utf8_lossy(&body)
        );
        Ok(())
    }
}

/// The command line of the bare server.
pub fn server() -> anyhow::Result<[String; 2]> {
    let own = std::env::current_exe()?;
    Ok([own.display().to_string(), "--part=echo".to_owned()])
}

/// mcp-proxy from PyPI before the bare server.
pub async fn mcp_proxy() -> anyhow::Result<(Measured, Way)> {
    let program = installed("python/bin/mcp-proxy")?;
    let address = free()?;
    let mut command = on_server_core(&program.to_string_lossy());
    command
        .args(["--host", "127.0.0.1", "--log-level", "ERROR", "--port"])
        .arg(address.port().to_string())
        .arg("--")
        .args(server()?);
    begun(Measured::start_at(command, address)?).await
}

/// supergateway from npm before the bare server. By default it would start a server for each request; so it keeps one.
pub async fn supergateway() -> anyhow::Result<(Measured, Way)> {
    let program = installed("node_modules/supergateway/dist/index.js")?;
    let address = free()?;
    let mut command = on_server_core("node");
    command
        .arg(program)
        .args([
            "--outputTransport",
            "streamableHttp",
            "--stateful",
            "--logLevel",
            "none",
            "--port",
        ])
        .arg(address.port().to_string())
        .arg("--stdio")
        .arg(server()?.join(" "));
    begun(Measured::start_at(command, address)?).await
}

fn installed(path: &str) -> anyhow::Result<PathBuf> {
    let found = Path::new(FOLDER).join(path);
    anyhow::ensure!(
        found.exists(),
        "it is not installed: scripts/setup.sh mcp-gateways"
    );
    Ok(found)
}

/// Free a moment ago; they cannot choose one and say so.
fn free() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

async fn begun(process: Measured) -> anyhow::Result<(Measured, Way)> {
    let begin = Instant::now();
    loop {
        match Way::streamable(process.address, "/mcp").await {
            Ok(way) => return Ok((process, way)),
            Err(error) if begin.elapsed() > START => return Err(error.context("it did not start")),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Waits until Gangway has this many servers, all ready.
pub async fn all_ready(gangway: &Measured, count: usize) -> anyhow::Result<()> {
    let begin = Instant::now();
    let mut connection = Connection::open(gangway.address).await?;
    loop {
        let (_, body) = connection.request("GET", "/api/mcp/servers", "").await?;
        let list: Value = serde_json::from_slice(&body)?;
        let servers = list["servers"].as_array().context("servers")?;
        let ready = servers.iter().filter(|one| one["state"] == "ready");
        if servers.len() == count && ready.count() == count {
            return Ok(());
        }
        anyhow::ensure!(begin.elapsed() < START, "not ready: {list}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
