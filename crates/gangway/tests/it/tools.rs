//! Tools: real MCP servers behind the API, the command line and the built-in agent.

use gangway_testing::mcp_servers::installed;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    providers::fake::Fake,
    support::{Gangway, TestServer},
};

fn event(value: Value) -> String {
    format!("data: {value}\n\n")
}

pub async fn with_memory(change: impl FnOnce(&mut gangway::config::Config)) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    // Otherwise it keeps what it learns beside its own code, for every test after this one.
    let memory = folder.path().join("memory.json");
    let server = TestServer::in_folder(folder, |config| {
        let mut entry = installed("memory");
        entry["env"] = json!({ "MEMORY_FILE_PATH": memory });
        let entry = serde_json::from_value(entry).unwrap();
        config.mcp_servers.insert("memory".into(), entry);
        change(config);
    })
    .await;
    let id = "memory".parse().unwrap();
    // The host knows its servers a moment after the start.
    server.app.tools.reload().await;
    server.app.tools.host.ready(&id).await.unwrap();
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_real_server_are_listed_called_and_found_by_a_sentence() {
    let server = with_memory(|_| {}).await;
    let (_, list) = server.get("/api/mcp/servers").await;
    let memory = &list["servers"][0];
    assert_eq!(
        (&memory["id"], &memory["state"], &memory["fromConfig"]),
        (&json!("memory"), &json!("ready"), &json!(true))
    );
    let (_, tools) = server.get("/api/tools").await;
    let names: Vec<_> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert!(
        names.contains(&&json!("memory/create_entities")),
        "{names:?}"
    );

    let entities =
        json!([{ "name": "Ada", "entityType": "person", "observations": ["likes ships"] }]);
    let call = json!({ "tool": "memory/create_entities", "args": { "entities": entities } });
    let (status, answer) = server.post("/api/tools/call", call).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"].to_string().contains("Ada"), "{answer}");

    for (call, status, code) in [
        (
            json!({ "tool": "memory/create_entities", "args": { "entities": 7 } }),
            400,
            "ERR_TOOL_FAILED",
        ),
        (json!({ "tool": "memory/none" }), 404, "ERR_TOOL_NOT_FOUND"),
        (json!({ "tool": "none/none" }), 404, "ERR_TOOL_NOT_FOUND"),
        (json!({ "tool": "none" }), 400, "invalid_request"),
    ] {
        let (found, answer) = server.post("/api/tools/call", call).await;
        assert_eq!(
            (found.as_u16(), &answer["error_code"]),
            (status, &json!(code)),
            "{answer}"
        );
    }

    let (_, route) = server
        .post("/api/tools/route", json!({ "sentence": "Remember this" }))
        .await;
    assert_eq!(route["servers"], json!({ "memory": ["remember"] }));
    let (_, logs) = server.get("/api/mcp/servers/memory/logs").await;
    assert!(!logs["lines"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_builtin_agent_calls_a_tool_and_tells_the_model_what_came_of_it() {
    let call = json!({ "index": 0, "id": "c1", "function": { "name": "memory__read_graph", "arguments": "{}" } });
    let asks = event(
        json!({ "choices": [{ "delta": { "tool_calls": [call] }, "finish_reason": "tool_calls" }] }),
    );
    let says = event(
        json!({ "choices": [{ "delta": { "content": "Nothing yet." }, "finish_reason": "stop" }] }),
    );
    let model = Fake::streams(&[&says]).first_says(&[&asks]);
    let base = model.start().await;
    let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
    let server = with_memory(|config| {
        config.providers = gangway::config::Config::parse(&yaml).unwrap().providers;
        config.default_agent = "builtin".into();
    })
    .await;
    let session = server.session().await;
    let stream = server.say(&session, "What do you remember?").await;
    let frames = server
        .sse(&format!("/api/stream/{stream}"), None)
        .await
        .rest()
        .await;
    let of = |name: &str| {
        frames
            .iter()
            .find(|frame| frame.event == name)
            .unwrap_or_else(|| panic!("{name}: {frames:?}"))
    };
    assert_eq!(of("tool.execution_start").data["tool"], "memory/read_graph");
    assert_eq!(of("tool.execution_complete").data["success"], true);
    assert_eq!(of("assistant.message").data["content"], "Nothing yet.");
    let asked = model.asked();
    let offered: Vec<_> = asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert!(
        offered.contains(&&json!("memory__read_graph")),
        "{offered:?}"
    );
    let last = asked[1]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["role"], &last["tool_call_id"]),
        (&json!("tool"), &json!("c1"))
    );
}

#[tokio::test]
async fn whoever_adds_a_server_shows_a_key_since_it_starts_a_program() {
    let server = TestServer::start().await;
    let wish = json!({ "mcpServers": { "x": { "command": "true" } } });
    let request = server.bare.post(server.url("/api/mcp/servers"));
    let refused = request.json(&wish).send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let add = |wish: Value| {
        let request = server.http.post(server.url("/api/mcp/servers"));
        request.bearer_auth("local-token").json(&wish).send()
    };
    assert_eq!(add(wish.clone()).await.unwrap().status(), 201);
    assert_eq!(add(wish).await.unwrap().status(), 409);
    for wrong in [
        json!({ "mcpServers": { "A b": { "command": "x" } } }),
        json!({ "mcpServers": { "a": {} } }),
        json!({ "mcpServers": { "a": { "url": "file:///etc/passwd" } } }),
    ] {
        assert_eq!(add(wrong).await.unwrap().status(), 400);
    }
    let gone = server
        .http
        .delete(server.url("/api/mcp/servers/x"))
        .bearer_auth("local-token");
    assert_eq!(gone.send().await.unwrap().status(), 204);
    let (status, _) = server
        .call(Method::GET, "/api/mcp/servers/x/logs", None)
        .await;
    assert_eq!(status, 404);
}

#[test]
fn the_command_line_adds_lists_calls_and_removes() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = Gangway::command(folder.path()).args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.success(),
            text(output.stdout) + &text(output.stderr),
        )
    };
    let command = installed("memory")["command"].as_str().unwrap().to_owned();
    let memory = format!(
        "MEMORY_FILE_PATH={}",
        folder.path().join("m.json").display()
    );
    let (ok, words) = run(&["mcp", "add", "notes", "--env", &memory, "--", &command]);
    assert!(ok, "{words}");
    let (ok, words) = run(&["mcp", "add", "notes", "--", &command]);
    assert!(!ok && words.contains("already"), "{words}");
    let (ok, words) = run(&["mcp", "tools", "--json"]);
    assert!(ok && words.contains("notes/read_graph"), "{words}");
    let (ok, words) = run(&["mcp", "call", "notes/read_graph"]);
    assert!(ok && words.contains("entities"), "{words}");
    let (ok, words) = run(&["mcp", "call", "notes/none"]);
    assert!(!ok && words.contains("ERR_TOOL_NOT_FOUND"), "{words}");
    let file = folder.path().join("other.json");
    std::fs::write(
        &file,
        json!({ "mcpServers": { "two": { "command": "x" } } }).to_string(),
    )
    .unwrap();
    let (ok, words) = run(&["mcp", "import", file.to_str().unwrap()]);
    assert!(ok, "{words}");
    let (_, words) = run(&["mcp", "list"]);
    assert!(words.contains("notes") && words.contains("two"), "{words}");
    let (ok, words) = run(&["mcp", "remove", "notes"]);
    assert!(ok, "{words}");
    let (ok, words) = run(&["mcp", "remove", "notes"]);
    assert!(!ok && words.contains("no server"), "{words}");
}

#[test]
fn an_import_without_a_file_asks_about_each_host_that_it_finds() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    for (file, name) in [(".claude.json", "wanted"), (".cursor/mcp.json", "unwanted")] {
        let file = home.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let servers = json!({ "mcpServers": { name: { "command": "x" } } });
        std::fs::write(file, servers.to_string()).unwrap();
    }
    let data = folder.path().join("data");
    // A person is asked at a terminal alone; `script` has one.
    let mut command = std::process::Command::new("script");
    let program = format!("'{}' mcp import", env!("CARGO_BIN_EXE_gangway"));
    command.args(["-qec", &program, "/dev/null"]);
    let mut asking = command
        .env("GANGWAY_DATA", &data)
        .env("HOME", &home)
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(&home)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = asking.stdin.take().unwrap();
    std::io::Write::write_all(&mut answers, b"y\nn\n").unwrap();
    let output = asking.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert_eq!(words.matches("Add them? [y/N]").count(), 2, "{words}");
    let listed = Gangway::run(&data, &["mcp", "list"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names: Vec<_> = listed.split_whitespace().collect();
    assert!(
        names.contains(&"wanted") && !names.contains(&"unwanted"),
        "{listed}"
    );
}

#[test]
fn a_server_sees_what_its_entry_says_and_none_of_gangways_keys() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!("env > '{}'", seen.display());
    let run = |args: &[&str]| {
        let mut command = Gangway::command(folder.path());
        let keys = [
            ("OPENAI_API_KEY", "sk-planted"),
            ("SOME_TOKEN", "planted-too"),
        ];
        command.envs(keys).args(args).output().unwrap()
    };
    run(&[
        "mcp",
        "add",
        "nosy",
        "--env",
        "OWN=given",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    // It is no server and ends at once, but by then it has looked around.
    run(&["mcp", "tools"]);
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(
        seen.contains("OWN=given") && seen.contains("PATH="),
        "{seen}"
    );
    assert!(!seen.contains("planted"), "{seen}");
}
