//! The minimal MCP server without HTTP: called line by line, and through the host in this process.

use std::{process::Stdio, sync::Arc};

use anyhow::Context;
use gangway_core::ToolName;
use gangway_mcp::{Host, ServerSpec, Settings};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{gateways::server, machine::on_server_core};

/// The least a client can do: one write for a request, one line for its answer.
pub struct Direct {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Direct {
    /// Starts the server on its core and says hello.
    pub async fn start() -> anyhow::Result<Self> {
        let [program, part] = server()?;
        let mut command = Command::from(on_server_core(&program));
        let mut child = command
            .arg(part)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().context("its input")?;
        let output = child.stdout.take().context("its output")?;
        let mut direct = Self {
            _child: child,
            input,
            output: BufReader::new(output),
            line: String::new(),
        };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
        direct.ask("initialize", params).await?;
        let ready = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        direct.input.write_all(ready).await?;
        Ok(direct)
    }

    async fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut text = serde_json::to_vec(&request)?;
        text.push(b'\n');
        self.input.write_all(&text).await?;
        self.line.clear();
        self.output.read_line(&mut self.line).await?;
        Ok(serde_json::from_str(&self.line)?)
    }

    /// Calls the tool once.
    pub async fn call(&mut self) -> anyhow::Result<()> {
        let params = json!({ "name": "echo", "arguments": { "text": "hello" } });
        let answer = self.ask("tools/call", params).await?;
        anyhow::ensure!(
            answer["result"]["content"][0]["text"] == "hello",
            "{answer}"
        );
        Ok(())
    }
}

/// The host in this process, as the built-in agent uses it, with its server on the server's core.
pub struct InProcess {
    host: Arc<Host>,
    tool: ToolName,
}

impl InProcess {
    /// Starts it and waits for its server.
    pub async fn start() -> anyhow::Result<Self> {
        let [program, part] = server()?;
        let command = on_server_core(&program);
        let message = command.get_args().map(Into::into);
        let message = message.chain([part.into()]).collect();
        let id: gangway_mcp::ServerId = "echo".parse()?;
        let host = Host::new(Settings::default(), None);
        let spec = ServerSpec::stdio(id.clone(), command.get_program(), message);
        host.set_up(vec![spec]).await;
        host.ready(&id).await.map_err(anyhow::Error::msg)?;
        Ok(Self {
            host,
            tool: "echo/echo".parse()?,
        })
    }

    /// Calls the tool once.
    pub async fn call(&self) -> anyhow::Result<()> {
        let arguments = json!({ "text": "hello" });
        let answer = self.host.call("bench", &self.tool, arguments, None).await?;
        anyhow::ensure!(answer[0]["text"] == "hello", "{answer}");
        Ok(())
    }
}
