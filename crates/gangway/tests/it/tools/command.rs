//! `gangway mcp`, with real MCP servers.

use gangway_testing::mcp_servers::installed;
use serde_json::json;

use crate::support::Gangway;

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
    let (ok, message) = run(&["mcp", "add", "notes", "--env", &memory, "--", &command]);
    assert!(ok, "{message}");
    let (ok, message) = run(&["mcp", "add", "notes", "--", &command]);
    assert!(!ok && message.contains("already"), "{message}");
    let (ok, message) = run(&["mcp", "tools", "--json"]);
    assert!(ok && message.contains("notes/read_graph"), "{message}");
    let (ok, message) = run(&["mcp", "call", "notes/read_graph"]);
    assert!(ok && message.contains("entities"), "{message}");
    let (ok, message) = run(&["mcp", "call", "notes/none"]);
    assert!(!ok && message.contains("ERR_TOOL_NOT_FOUND"), "{message}");
    let file = folder.path().join("other.json");
    std::fs::write(
        &file,
        json!({ "mcpServers": { "two": { "command": "x" } } }).to_string(),
    )
    .unwrap();
    let (ok, message) = run(&["mcp", "import", file.to_str().unwrap()]);
    assert!(ok, "{message}");
    let (_, message) = run(&["mcp", "list"]);
    assert!(
        message.contains("notes") && message.contains("two"),
        "{message}"
    );
    let (ok, message) = run(&["mcp", "remove", "notes"]);
    assert!(ok, "{message}");
    let (ok, message) = run(&["mcp", "remove", "notes"]);
    assert!(
        !ok && message.contains("server notes not found"),
        "{message}"
    );
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
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{message}");
    assert_eq!(message.matches("Add them? [y/N]").count(), 2, "{message}");
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
