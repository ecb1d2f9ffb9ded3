//! MCP servers on the command line, while a Gangway runs.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use super::{fails, ok};
use crate::support::Gangway;

/// Runs a command and gives it something to read.
fn told(mut command: std::process::Command, message: &str) -> Output {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(message.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[test]
fn a_call_that_fails_says_its_code_through_a_running_server_too() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Gangway::serve(folder.path(), &[]);
    let message = fails(folder.path(), &["mcp", "call", "nobody/nothing", "{}"]);
    assert!(message.contains("(ERR_TOOL_NOT_FOUND)"), "{message}");
}

#[test]
fn the_tools_of_a_server_that_was_just_added_are_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _server = Gangway::serve(data, &[]);
    let server = gangway_testing::mcp_servers::installed("memory");
    let memory = format!("MEMORY_FILE_PATH={}", data.join("m.json").display());
    let command = server["command"].as_str().unwrap();
    ok(
        data,
        &["mcp", "add", "notes", "--env", &memory, "--", command],
    );
    assert!(ok(data, &["mcp", "tools"]).contains("notes/read_graph"));
}

#[test]
fn a_server_that_failed_is_named_beside_the_tools_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    ok(folder.path(), &["mcp", "add", "broken", "--", "false"]);
    let mut command = Gangway::command(folder.path());
    let output = command.args(["mcp", "tools"]).output().unwrap();
    let (said, complaint) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.is_empty(), "{output:?}");
    assert!(complaint.contains("broken has no tools"), "{complaint}");
    assert!(complaint.contains("mcp logs broken"), "{complaint}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Gangway::command(folder.path());
    let command = command.args(["mcp", "tools", "--json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && message.is_empty(), "{message}");
}

#[test]
fn a_server_that_is_removed_takes_its_login_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _server = Gangway::serve(data, &[]);
    ok(data, &["mcp", "add", "far", "http://127.0.0.1:9/mcp"]);
    let mut set = Gangway::command(data);
    set.args(["secrets", "set", "mcp-login-far"]);
    assert!(told(set, "kept").status.success());
    assert!(ok(data, &["secrets", "list"]).contains("mcp-login-far"));
    ok(data, &["mcp", "remove", "far"]);
    assert!(!ok(data, &["secrets", "list"]).contains("mcp-login-far"));
}

#[test]
fn nothing_that_a_server_is_called_moves_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    ok(data, &["mcp", "add", "odd", "--", "x\u{1b}[2J"]);
    let listed = ok(data, &["mcp", "list"]);
    assert!(
        listed.contains("odd") && !listed.contains('\u{1b}'),
        "{listed:?}"
    );
}
