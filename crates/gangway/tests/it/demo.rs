//! The demo, as far as it gets without a browser. `web/e2e/tests/demo.spec.ts` plays all of it.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use reqwest::Method;
use serde_json::json;

use crate::support::{Gangway, TestServer};

#[tokio::test]
async fn one_demo_runs_at_a_time_and_leaves_no_key_when_it_is_ended() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/api/demo").await.1, json!({ "demo": null }));
    let (code, demo) = server.post("/api/demo", json!({})).await;
    assert_eq!(
        (code.as_u16(), &demo["state"]),
        (201, &json!("running")),
        "{demo}"
    );
    let launch = demo["launchId"].as_str().unwrap();
    let (code, _) = server.get(&format!("/api/launches/{launch}")).await;
    assert_eq!(code, 200);
    let keys = server.get("/api/keys").await.1;
    let keys = keys["keys"].as_array().unwrap().clone();
    assert_eq!(keys.len(), 1);
    assert!(keys[0]["expiresAt"].is_string());
    assert_eq!(
        keys[0]["scopes"],
        json!(["chat", "tools:gangway/*", "tools:page-packing-list/*"])
    );

    let (code, error) = server.post("/api/demo", json!({})).await;
    assert_eq!(
        (code.as_u16(), &error["error_code"]),
        (409, &json!("demo_running"))
    );

    assert_eq!(server.call(Method::DELETE, "/api/demo", None).await.0, 204);
    assert_eq!(server.get("/api/keys").await.1, json!({ "keys": [] }));
    let ended = server.get("/api/demo?after=0").await.1;
    assert_eq!(ended["demo"]["state"], "stopped");
    assert_eq!(ended["demo"]["sessionId"], demo["sessionId"]);

    let (code, again) = server.post("/api/demo", json!({})).await;
    assert_eq!(code, 201);
    assert_ne!(again["sessionId"], demo["sessionId"]);
}

#[test]
fn ctrl_c_ends_the_demo_of_the_command_line_and_revokes_its_keys() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Gangway::serve(folder.path(), &[]);
    let mut command = Gangway::command(folder.path());
    command.args(["demo", "--print"]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    while !next().starts_with("✓ MCP client: Launched") {}
    assert!(next().starts_with("→ Open this chat"));
    let keys = || String::from_utf8(Gangway::run(folder.path(), &["key", "list"]).stdout).unwrap();
    assert!(keys().contains("Demo: MCP client"));
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert_eq!(next(), "The demo is ended; its keys are revoked.");
    assert!(child.wait().unwrap().success());
    assert!(!keys().contains("Demo"));
}
