//! The formats in which hosts configure MCP servers.

use std::collections::BTreeMap;

use crate::entry::ServerEntry;
use serde_json::{Map, Value};

/// A parsed server, or why it could not be parsed.
type Listed = Result<ServerEntry, String>;

/// Finds the servers under each of the keys that hosts use. The first of a name wins.
pub(super) fn servers(settings: &Value) -> Option<BTreeMap<String, Listed>> {
    // Claude Desktop, Claude Code, Cursor, Gemini, Windsurf; VS Code; Zed; opencode; Codex; goose.
    let places = [
        &settings["mcpServers"],
        &settings["servers"],
        &settings["mcp"]["servers"],
        &settings["mcp.servers"],
        &settings["context_servers"],
        &settings["mcp"],
        &settings["mcp_servers"],
        &settings["extensions"],
    ];
    let mut found: Vec<&Map<String, Value>> = Vec::new();
    found.extend(places.iter().filter_map(|place| place.as_object()));
    // Claude Code keeps project servers beside the user's.
    let projects = settings["projects"].as_object().into_iter().flatten();
    found.extend(projects.filter_map(|(_, project)| project["mcpServers"].as_object()));
    if found.is_empty() {
        return None;
    }
    let mut servers = BTreeMap::new();
    for (name, written) in found.into_iter().flatten() {
        // `mcp` of VS Code also has inputs.
        if written.is_object()
            && !["servers", "inputs"].contains(&name.as_str())
            && let Some(listed) = entry(written)
        {
            servers.entry(name.clone()).or_insert(listed);
        }
    }
    Some(servers)
}

/// A valid server id: `My Server` becomes `my-server`.
pub(super) fn id(name: &str) -> String {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let small = name.trim().to_lowercase();
    let plain: String = small
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect();
    plain.trim_matches('-').chars().take(64).collect()
}

/// One server; `None` if it is built into its host.
fn entry(written: &Value) -> Option<Listed> {
    let kind = written["type"].as_str().unwrap_or_default();
    if ["builtin", "platform", "frontend", "inline_python"].contains(&kind) {
        return None;
    }
    Some(understood(written))
}

fn understood(written: &Value) -> Listed {
    let mut entry = ServerEntry::default();
    match &written["command"] {
        Value::String(command) => entry.command = Some(command.clone()),
        // opencode writes one list, older versions of Zed an object.
        Value::Array(words) => {
            let mut words = words.iter().map(text);
            entry.command = words.next().transpose()?;
            entry.args = words.collect::<Result<_, _>>()?;
        }
        Value::Object(command) => {
            entry.command = command.get("path").map(text).transpose()?;
            let args = command.get("args").unwrap_or(&Value::Null);
            entry.args = list(args)?;
            entry.env = pairs(command.get("env").unwrap_or(&Value::Null))?;
        }
        _ => entry.command = written["cmd"].as_str().map(str::to_owned),
    }
    entry.args.extend(list(&written["args"])?);
    for name in ["env", "envs", "environment"] {
        entry.env.extend(pairs(&written[name])?);
    }
    for name in ["env_keys", "env_vars"] {
        for key in list(&written[name])? {
            let value = format!("${{{key}}}");
            entry.env.entry(key).or_insert(value);
        }
    }
    let url = ["httpUrl", "url", "serverUrl", "uri"];
    let url = url.iter().find_map(|name| written[*name].as_str());
    entry.url = url.map(str::to_owned);
    for name in ["headers", "http_headers"] {
        entry.headers.extend(pairs(&written[name])?);
    }
    for (header, variable) in pairs(&written["env_http_headers"])? {
        entry.headers.insert(header, format!("${{{variable}}}"));
    }
    if let Some(variable) = written["bearer_token_env_var"].as_str() {
        let token = format!("Bearer ${{{variable}}}");
        entry.headers.insert("Authorization".to_owned(), token);
    }
    entry.cwd = written["cwd"].as_str().map(Into::into);
    entry.disabled = written["disabled"] == true || written["enabled"] == false;
    entry.timeout_seconds = seconds(written);
    if entry.command.is_some() && entry.url.is_some() {
        entry.url = None;
    }
    Ok(entry)
}

/// The timeout of a call. Codex and goose write seconds, Gemini and opencode milliseconds.
fn seconds(written: &Value) -> Option<u64> {
    let own = written["timeout_seconds"].as_u64();
    let seconds = own.or_else(|| {
        written["tool_timeout_sec"]
            .as_f64()
            .map(|s| s.ceil() as u64)
    });
    let timeout = written["timeout"].as_u64();
    // Values from 1000 are milliseconds: no call takes 1000 seconds or ends within one.
    let timeout = timeout.map(|time| {
        if time >= 1000 {
            time.div_ceil(1000)
        } else {
            time
        }
    });
    seconds.or(timeout).filter(|seconds| *seconds > 0)
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        other => Err(format!("{other} is not a string")),
    }
}

fn list(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(text).collect(),
        other => Err(format!("{other} is not a list of strings")),
    }
}

fn pairs(value: &Value) -> Result<BTreeMap<String, String>, String> {
    match value {
        Value::Null => Ok(BTreeMap::new()),
        Value::Object(fields) => {
            let set = fields.iter().filter(|(_, value)| !value.is_null());
            set.map(|(name, value)| Ok((name.clone(), text(value)?)))
                .collect()
        }
        _ => Err("`env` or `headers` is not an object of strings".to_owned()),
    }
}
