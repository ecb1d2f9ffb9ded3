//! The command line finds, installs and removes servers, alone and through a running Gangway.

use std::path::Path;

use gangway_testing::{
    mcp_servers::installed_file,
    npm::{brings, npm_that},
};

use crate::support::Gangway;

struct Run {
    ok: bool,
    words: String,
}

fn run(data: &Path, args: &[&str]) -> Run {
    run_with(data, args, &[])
}

fn run_with(data: &Path, args: &[&str], env: &[(&str, &str)]) -> Run {
    let mut command = Gangway::command(data);
    command.envs(env.iter().copied()).args(args);
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run {
        ok: output.status.success(),
        words: text(output.stdout) + &text(output.stderr),
    }
}

/// Settings with no registry, and an npm that brings a server which works.
fn settings(data: &Path) -> tempfile::TempDir {
    let memory = installed_file("node_modules/.bin/mcp-server-memory");
    let memory_file = data.join("memory.json");
    let npm = npm_that(&brings(&format!(
        "MEMORY_FILE_PATH='{}' exec '{}' \"$@\"",
        memory_file.display(),
        memory.display()
    )));
    let yaml = format!(
        "tools: {{ catalog_url: 'off', programs: ['{}'] }}\n",
        npm.path().display()
    );
    std::fs::write(data.join("config.yaml"), yaml).unwrap();
    npm
}

#[test]
fn a_package_is_installed_called_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _npm = settings(data);
    let secret = data.join("key.txt");
    std::fs::write(&secret, "planted-secret\n").unwrap();
    let from = format!("KEY={}", secret.display());
    let installed = run(
        data,
        &[
            "mcp",
            "install",
            "npm:fake@1.0.0",
            "--id",
            "notes",
            "--set",
            "MODE=test",
            "--secret",
            &from,
        ],
    );
    assert!(
        installed.ok && installed.words.contains("Installed notes"),
        "{}",
        installed.words
    );
    assert!(
        installed.words.contains("npm:fake@1.0.0"),
        "{}",
        installed.words
    );
    let called = run(data, &["mcp", "call", "notes/read_graph"]);
    assert!(
        called.ok && called.words.contains("entities"),
        "{}",
        called.words
    );
    let servers = std::fs::read_to_string(data.join("mcp/servers.json")).unwrap();
    assert!(
        servers.contains("${secret:mcp-notes-KEY}") && !servers.contains("planted-secret"),
        "{servers}"
    );
    let again = run(data, &["mcp", "install", "npm:fake", "--id", "notes"]);
    assert!(
        !again.ok && again.words.contains("already"),
        "{}",
        again.words
    );
    let removed = run(data, &["mcp", "remove", "notes"]);
    assert!(removed.ok, "{}", removed.words);
    assert!(!data.join("mcp/packages/notes").exists());
    let secrets = run(data, &["secrets", "list"]);
    assert!(!secrets.words.contains("mcp-notes"), "{}", secrets.words);
}

#[test]
fn a_running_gangway_installs_for_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _npm = settings(data);
    let _server = Gangway::serve(data, &[]);
    let found = run(data, &["mcp", "search", "remember", "people"]);
    assert!(
        found.words.contains("No server in the catalog matches"),
        "{}",
        found.words
    );
    let found = run(data, &["mcp", "search", "remembers", "peo"]);
    assert!(
        found.ok && found.words.contains("io.modelcontextprotocol/memory"),
        "{}",
        found.words
    );
    let installed = run(data, &["mcp", "install", "npm:fake@1.0.0"]);
    assert!(
        installed.ok && installed.words.contains("Installed fake"),
        "{}",
        installed.words
    );
    let called = run(data, &["mcp", "call", "fake/read_graph"]);
    assert!(
        called.ok && called.words.contains("entities"),
        "{}",
        called.words
    );
    let failed = run(data, &["mcp", "install", "npm:fake@2.0.0", "--id", "two"]);
    assert!(
        !failed.ok && failed.words.contains("1.0.0 was installed"),
        "{}",
        failed.words
    );
    let refreshed = run(data, &["mcp", "refresh"]);
    assert!(
        !refreshed.ok && refreshed.words.contains("catalog_url"),
        "{}",
        refreshed.words
    );
    let removed = run(data, &["mcp", "remove", "fake"]);
    assert!(
        removed.ok && !data.join("mcp/packages/fake").exists(),
        "{}",
        removed.words
    );
}

#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _npm = settings(data);
    let missing = run(data, &["mcp", "install", "filesystem"]);
    assert!(
        !missing.ok && missing.words.contains("--set folder=VALUE"),
        "{}",
        missing.words
    );
    let unknown = run(data, &["mcp", "install", "io.test/none"]);
    assert!(
        !unknown.ok && unknown.words.contains("gangway mcp search"),
        "{}",
        unknown.words
    );
    let listed = run(data, &["mcp", "search", "--json"]);
    let page: serde_json::Value = serde_json::from_str(&listed.words).unwrap();
    assert_eq!(page["total"], 7);
    let runtimes = run(data, &["mcp", "runtimes"]);
    assert!(
        runtimes.ok && runtimes.words.contains("npx  11.0.0"),
        "{}",
        runtimes.words
    );
}

#[test]
fn without_a_program_it_says_which_one_and_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    std::fs::write(data.join("config.yaml"), "tools: { catalog_url: 'off' }\n").unwrap();
    let empty = tempfile::tempdir().unwrap();
    let path = [("PATH", empty.path().to_str().unwrap())];
    let failed = run_with(data, &["mcp", "install", "pypi:mcp-server-time"], &path);
    assert!(
        !failed.ok && failed.words.contains("uvx not found"),
        "{}",
        failed.words
    );
    let listed = run_with(data, &["mcp", "search", "time", "zones"], &path);
    assert!(
        listed.words.contains("not available: uvx not found"),
        "{}",
        listed.words
    );
    let runtimes = run_with(data, &["mcp", "runtimes", "--json"], &path);
    let list: serde_json::Value = serde_json::from_str(&runtimes.words).unwrap();
    for one in list["runtimes"].as_array().unwrap() {
        assert_eq!(one["found"], false, "{one}");
        assert!(one["hint"].as_str().unwrap().contains("https://"), "{one}");
    }
}
