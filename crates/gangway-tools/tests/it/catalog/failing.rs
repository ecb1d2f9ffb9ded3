//! An install that fails or is cancelled leaves nothing behind.

use std::{path::Path, time::Duration};

use gangway_testing::{
    mcp_registry::{Page, Registry, listed},
    npm::{brings, npm_that},
};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ask, holders, install, until};
use crate::server::TestServer;

async fn with(npm: &TempDir) -> TestServer {
    let programs = vec![npm.path().to_owned()];
    TestServer::with(|config| config.tools.programs = programs).await
}

fn install_request() -> Value {
    json!({
        "id": "fake", "package": { "kind": "npm", "name": "fake", "version": "1.0.0" },
        "secrets": { "KEY": "planted-secret" },
    })
}

/// Nothing of an install is left.
async fn is_clean(server: &TestServer) {
    let (_, list) = server.get("/api/mcp/servers").await;
    assert_eq!(list["servers"], json!([]));
    assert_clean(&server.data());
}

fn assert_clean(data: &Path) {
    assert!(!data.join("mcp/packages/fake").exists());
    assert_eq!(
        holders(data, "planted-secret"),
        Vec::<std::path::PathBuf>::new()
    );
    let servers = std::fs::read_to_string(data.join("mcp/servers.json")).unwrap_or_default();
    assert!(!servers.contains("fake"), "{servers}");
}

fn runs(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// A file once someone has written it.
async fn written(file: &Path) -> String {
    for _ in 0..2400 {
        match std::fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    panic!("{} is not written", file.display());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_npm_does_not_know_is_reported_with_its_message() {
    let server = TestServer::start().await;
    let request = json!({
        "id": "fake", "secrets": { "KEY": "planted-secret" },
        "package": { "kind": "npm", "name": "@modelcontextprotocol/server-everything", "version": "0.0.0-none.1" },
    });
    let failed = install(&server, request).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    let problem = failed["problem"].as_str().unwrap();
    assert!(problem.starts_with("npm could not install"), "{problem}");
    assert!(problem.contains("0.0.0-none.1"), "{problem}");
    let states: Vec<_> = failed["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["done", "failed", "waiting", "waiting"]);
    is_clean(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_start_is_withdrawn_and_its_last_output_is_stored() {
    let npm = npm_that(&brings("echo \"no key like $KEY\" >&2; exit 3"));
    let server = with(&npm).await;
    let failed = install(&server, install_request()).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(failed["steps"][3]["state"], "failed");
    let lines = failed["lines"].to_string();
    assert!(lines.contains("no key like [secret]"), "{lines}");
    assert!(!failed.to_string().contains("planted-secret"), "{failed}");
    is_clean(&server).await;
    // What failed can be tried again, and what is over can be forgotten.
    let again = install(&server, install_request()).await;
    assert_eq!(again["state"], "failed");
    let (_, list) = server.get("/api/mcp/installs").await;
    assert_eq!(list["installs"].as_array().unwrap().len(), 2);
    for install in list["installs"].as_array().unwrap() {
        let path = format!("/api/mcp/installs/{}", install["install"].as_str().unwrap());
        let (status, _) = ask(&server, Method::DELETE, &path, None).await;
        assert_eq!(status, 204);
    }
    let (_, list) = server.get("/api/mcp/installs").await;
    assert_eq!(list["installs"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packages_that_are_not_what_they_should_be_are_refused() {
    let other = brings("true").replace("1.0.0", "6.6.6");
    let outside = brings("true").replace("ln -s ../fake/run", "ln -s /bin/sh");
    let no_program = brings("true").replace("\"bin\":\"run\"", "\"bin\":{}");
    for (does, message) in [
        (other.as_str(), "6.6.6 was installed"),
        (&outside, "outside"),
        (&no_program, "no program"),
        ("true", "package.json"),
        (
            "echo 'npm error code E1' >&2; echo 'npm error The reason' >&2; exit 1",
            "The reason",
        ),
    ] {
        let npm = npm_that(does);
        let server = with(&npm).await;
        let failed = install(&server, install_request()).await;
        assert_eq!(failed["state"], "failed", "{failed}");
        let problem = failed["problem"].as_str().unwrap();
        assert!(problem.contains(message), "{problem}");
        is_clean(&server).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_package_manager_that_takes_too_long_is_ended() {
    let npm = npm_that("exec sleep 600");
    let programs = vec![npm.path().to_owned()];
    let server = TestServer::with(|config| {
        config.tools.programs = programs;
        config.tools.install_seconds = 1;
    })
    .await;
    let failed = install(&server, install_request()).await;
    assert!(
        failed["problem"]
            .as_str()
            .unwrap()
            .contains("within 1 seconds"),
        "{failed}"
    );
    is_clean(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_install_ends_what_it_started_and_leaves_nothing() {
    let notes = tempfile::tempdir().unwrap();
    let pid = notes.path().join("pid");
    let npm = npm_that(&format!(
        "echo fetching; mkdir -p node_modules/half; sleep 600 & echo $! > '{}'; wait",
        pid.display()
    ));
    let server = with(&npm).await;
    let (status, begun) = ask(
        &server,
        Method::POST,
        "/api/mcp/installs",
        Some(install_request()),
    )
    .await;
    assert_eq!(status, 202, "{begun}");
    let path = format!("/api/mcp/installs/{}", begun["install"].as_str().unwrap());
    let child = written(&pid).await;
    assert!(runs(&child));
    until(&server, &path, |install| {
        install["lines"] == json!(["fetching"])
    })
    .await;
    // One id is installed once.
    let (status, error) = ask(
        &server,
        Method::POST,
        "/api/mcp/installs",
        Some(install_request()),
    )
    .await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (409, &json!("server_exists"))
    );
    let (status, _) = ask(&server, Method::DELETE, &path, None).await;
    assert_eq!(status, 204);
    let ended = until(&server, &path, |install| install["state"] != "fetching").await;
    assert_eq!(
        (&ended["state"], ended.get("problem")),
        (&json!("cancelled"), None)
    );
    assert!(!runs(&child));
    is_clean(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_installs_and_leaves_nothing() {
    let notes = tempfile::tempdir().unwrap();
    let pid = notes.path().join("pid");
    let npm = npm_that(&format!("sleep 600 & echo $! > '{}'; wait", pid.display()));
    let server = with(&npm).await;
    ask(
        &server,
        Method::POST,
        "/api/mcp/installs",
        Some(install_request()),
    )
    .await;
    let child = written(&pid).await;
    let left = server.data().join("mcp/packages/left");
    let server = server.restart().await;
    assert!(!runs(&child));
    is_clean(&server).await;
    // What a process that was killed could not undo goes when the next one starts.
    std::fs::create_dir_all(left.join("node_modules")).unwrap();
    let server = server.restart().await;
    server.service.tools.sweep().await;
    assert!(!left.exists());
    let (_, list) = server.get("/api/mcp/installs").await;
    assert_eq!(list["installs"], json!([]));
}

#[tokio::test]
async fn a_remote_server_that_is_not_there_is_not_kept() {
    let remote = json!({
        "type": "streamable-http", "url": "http://127.0.0.1:1/mcp",
        "headers": [{ "name": "X-Key", "isRequired": true, "isSecret": true }],
    });
    let entry = listed(
        json!({ "name": "io.test/far", "version": "1.0.0", "description": "", "remotes": [remote] }),
    );
    let registry = Registry::start(vec![Page::Entries(vec![entry], None)]).await;
    let url = registry.url.clone();
    let server = TestServer::with(|config| config.tools.catalog_url = url).await;
    server.get("/api/mcp/catalog").await;
    until(&server, "/api/mcp/catalog", |page| {
        page["refresh"]["at"].is_string()
    })
    .await;
    let request =
        json!({ "id": "fake", "server": "io.test/far", "inputs": { "X-Key": "planted-secret" } });
    let failed = install(&server, request).await;
    assert_eq!(
        (&failed["state"], &failed["steps"][1]["state"]),
        (&json!("failed"), &json!("done"))
    );
    is_clean(&server).await;
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let npm = npm_that("exit 1");
    let server = with(&npm).await;
    let package = json!({ "kind": "npm", "name": "fake" });
    let evil = |name: &str, version: &str| json!({ "id": "a", "package": { "kind": "npm", "name": name, "version": version } });
    for (request, status, code) in [
        (json!({ "id": "a" }), 400, "invalid_request"),
        (
            json!({ "id": "A b", "package": package }),
            400,
            "invalid_request",
        ),
        (
            json!({ "id": "a", "package": package, "server": "x/y" }),
            400,
            "invalid_request",
        ),
        (
            json!({ "id": "a", "package": package, "inputs": { "x": "y" } }),
            400,
            "invalid_request",
        ),
        (
            json!({ "id": "a", "package": package, "env": { "A B": "y" } }),
            400,
            "invalid_request",
        ),
        (
            json!({ "id": "a", "package": package, "secrets": { "A": "" } }),
            400,
            "invalid_request",
        ),
        (
            json!({ "id": "a", "package": package, "unknown": 1 }),
            400,
            "invalid_request",
        ),
        (evil("--prefix=/", "1.0.0"), 400, "invalid_request"),
        (evil("../x", "1.0.0"), 400, "invalid_request"),
        (evil("fake", "^1.0.0"), 400, "invalid_request"),
        (evil("fake", "https://x/y.tgz"), 400, "invalid_request"),
        (
            json!({ "id": "a", "server": "io.test/none" }),
            404,
            "catalog_server_not_found",
        ),
        (
            json!({ "id": "a", "server": "io.modelcontextprotocol/everything", "option": "none" }),
            400,
            "invalid_request",
        ),
        (
            json!({ "id": "a", "server": "io.modelcontextprotocol/filesystem" }),
            400,
            "invalid_request",
        ),
    ] {
        let (found, error) = ask(
            &server,
            Method::POST,
            "/api/mcp/installs",
            Some(request.clone()),
        )
        .await;
        assert_eq!(
            (found.as_u16(), &error["error_code"]),
            (status, &json!(code)),
            "{request}: {error}"
        );
    }
    let (status, _) = ask(
        &server,
        Method::PUT,
        "/api/mcp/servers/none/secrets",
        Some(json!({ "secrets": {} })),
    )
    .await;
    assert_eq!(status, 404);
}
