//! One config file of each host, as documented.

use std::path::Path;

use super::{ImportedServers, find, forms, read, variables};

fn found(name: &str, text: &str) -> ImportedServers {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    read(&file).unwrap()
}

/// One line per server: command or URL, then environment and headers.
fn lines(name: &str, text: &str) -> Vec<String> {
    let found = found(name, text);
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    let servers = found.servers.into_iter();
    let line = |(id, entry): (String, crate::entry::ServerEntry)| {
        let target = entry.command.or(entry.url).unwrap();
        let pairs = entry.env.iter().chain(&entry.headers);
        let pairs = pairs.map(|(name, value)| format!("{name}={value}"));
        let mut parts = vec![id, target];
        parts.extend(entry.args);
        parts.extend(pairs);
        parts.extend(entry.disabled.then(|| "off".to_owned()));
        parts.extend(entry.timeout_seconds.map(|s| format!("{s}s")));
        parts.join(" ")
    };
    servers.map(line).collect()
}

#[test]
fn claude_code_keeps_the_users_servers_and_of_projects() {
    let text = r#"{ "numStartups": 3, "mcpServers": { "a": { "type": "stdio", "command": "npx", "args": ["-y", "x"] } },
        "projects": { "/p": { "mcpServers": { "b": { "type": "http", "url": "https://b.example/mcp",
            "headers": { "Authorization": "Bearer ${GANGWAY_NO_SUCH:-t}" } } } }, "/q": {} } }"#;
    assert_eq!(
        lines(".claude.json", text),
        [
            "a npx -y x",
            "b https://b.example/mcp Authorization=Bearer t"
        ]
    );
}

#[test]
fn claude_desktop_and_cursor_write_the_common_form() {
    let text = r#"{ "mcpServers": { "My Server": { "command": "node", "args": ["s.js"], "env": { "N": 1 } } } }"#;
    assert_eq!(
        lines("claude_desktop_config.json", text),
        ["my-server node s.js N=1"]
    );
}

#[test]
fn vs_code_has_comments_and_its_own_key() {
    let text = r#"{
        // who serves
        "inputs": [],
        "servers": { "a": { "type": "sse", "url": "https://a.example/sse", /* no */ }, },
    }"#;
    assert_eq!(lines("mcp.json", text), ["a https://a.example/sse"]);
    let text = r#"{ "editor.tabSize": 2, "mcp": { "inputs": [], "servers": { "a": { "command": "x//y" } } } }"#;
    assert_eq!(lines("settings.json", text), ["a x//y"]);
    let asks = r#"{ "servers": { "a": { "command": "x", "env": { "K": "${input:key}" } }, "b": { "command": "y" } } }"#;
    let found = found("mcp.json", asks);
    assert!(found.notes[0].contains("${input:key}"), "{:?}", found.notes);
    assert!(found.servers.contains_key("b"));
}

#[test]
fn zed_writes_context_servers() {
    let text = r#"{ "theme": "One", // dark
        "context_servers": {
            "a": { "source": "custom", "command": "x", "args": ["1"], "env": {} },
            "b": { "command": { "path": "y", "args": ["2"], "env": { "K": "v" } } },
            "c": { "url": "https://c.example", "enabled": false } } }"#;
    assert_eq!(
        lines("settings.json", text),
        ["a x 1", "b y 2 K=v", "c https://c.example off"]
    );
}

#[test]
fn gemini_and_windsurf_have_names_of_their_own_for_urls() {
    let text = r#"{ "mcpServers": { "a": { "httpUrl": "https://a.example", "timeout": 5000 },
        "b": { "serverUrl": "https://b.example", "disabled": true } } }"#;
    assert_eq!(
        lines("settings.json", text),
        ["a https://a.example 5s", "b https://b.example off"]
    );
}

#[test]
fn opencode_writes_a_command_as_one_list() {
    let text = r#"{ "$schema": "x", "mcp": {
        "a": { "type": "local", "command": ["bun", "x", "s"], "environment": { "K": "v" }, "enabled": true },
        "b": { "type": "remote", "url": "https://b.example" } } }"#;
    assert_eq!(
        lines("opencode.jsonc", text),
        ["a bun x s K=v", "b https://b.example"]
    );
}

#[test]
fn codex_writes_toml() {
    let text = r#"
        model = "o3"
        [mcp_servers.a]
        command = "npx"
        args = ["-y", "x"]
        tool_timeout_sec = 45
        [mcp_servers.a.env]
        K = "v"
        [mcp_servers.b]
        url = "https://b.example"
        http_headers = { X = "1" }
        enabled = false
    "#;
    assert_eq!(
        lines("config.toml", text),
        ["a npx -y x K=v 45s", "b https://b.example X=1 off"]
    );
}

#[test]
fn goose_writes_yaml_with_extensions_of_its_own_among_them() {
    let text = "GOOSE_MODEL: x\nextensions:\n  developer:\n    type: builtin\n    enabled: true\n  a:\n    type: stdio\n    \
        cmd: uvx\n    args: [mcp-a]\n    envs: { K: v }\n    timeout: 300\n    enabled: true\n  b:\n    type: streamable_http\n    \
        uri: https://b.example\n    enabled: false\n";
    assert_eq!(
        lines("config.yaml", text),
        ["a uvx mcp-a K=v 300s", "b https://b.example off"]
    );
}

#[test]
fn variables_are_filled_in_and_those_without_a_value_are_named() {
    let fill = |text: &str| {
        let entry = crate::entry::ServerEntry {
            command: Some(text.to_owned()),
            ..Default::default()
        };
        let env = |name: &str| (name == "KEY").then(|| "k".to_owned());
        let filled = variables::filled(entry, Path::new("/project/.cursor"), env);
        filled.map(|entry| entry.command.unwrap())
    };
    for (text, wanted) in [
        ("${env:KEY}/${KEY}", "k/k"),
        ("{env:KEY}", "k"),
        ("${NONE:-d}-${KEY:-d}", "d-k"),
        ("${workspaceFolder}/x", "/project/x"),
        ("${secret:NAME}", "${secret:NAME}"),
        ("$KEY ${", "$KEY ${"),
    ] {
        assert_eq!(fill(text).as_deref(), Ok(wanted), "{text}");
    }
    assert!(fill("${env:NONE}").unwrap_err().contains("NONE"));
}

#[test]
fn what_is_no_settings_of_a_host_is_reported_and_names_are_made_to_fit() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.json", "{"),
        ("b.json", "{}"),
        ("c.toml", "="),
        ("d.yaml", "- x"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    assert_eq!(forms::id("  GitHub (work) "), "github--work");
    let broken = r#"{ "mcpServers": { "a": { "command": "x", "args": "y" }, "b": {} } }"#;
    assert_eq!(found("mcp.json", broken).notes.len(), 2);
}

#[test]
fn files_of_known_hosts_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let codex = folder.path().join(".codex/config.toml");
    std::fs::create_dir_all(codex.parent().unwrap()).unwrap();
    std::fs::write(&codex, "").unwrap();
    let files = find::files_in(Some(folder.path()), None);
    assert_eq!(files, [("Codex", codex)]);
}
