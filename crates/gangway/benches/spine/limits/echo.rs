//! A minimal MCP server: one thread, one line in, one line out, and one tool that echoes its input.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// Answers on standard output what comes on standard input, until there is no more.
pub fn run() -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        // What has no id wants no answer.
        let Some(id) = message.get("id") else {
            continue;
        };
        let body = match message["method"].as_str() {
            Some("initialize") => ("result", begin(&message["params"])),
            Some("tools/list") => ("result", tools()),
            Some("tools/call") => ("result", said(&message["params"])),
            Some("ping") => ("result", json!({})),
            _ => (
                "error",
                json!({ "code": -32601, "message": "there is no such method" }),
            ),
        };
        let mut answer = json!({ "jsonrpc": "2.0", "id": id });
        answer[body.0] = body.1;
        let mut text = serde_json::to_vec(&answer)?;
        text.push(b'\n');
        output.write_all(&text)?;
        output.flush()?;
    }
    Ok(())
}

fn begin(params: &Value) -> Value {
    json!({
        "protocolVersion": params["protocolVersion"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "echo", "version": "1" },
    })
}

fn tools() -> Value {
    json!({ "tools": [{
        "name": "echo",
        "description": "Says what it was told",
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
        },
    }] })
}

fn said(params: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": params["arguments"]["text"] }] })
}
