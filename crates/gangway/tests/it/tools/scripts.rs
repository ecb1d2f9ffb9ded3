//! Install scripts of npm packages, with the real npm and a registry on its real wire.

use std::{path::Path, process::Command};

use axum::{Json, Router, routing::get};
use serde_json::json;

use crate::support::Gangway;

/// An MCP server in one file, whose only tool says whether its install script ran.
const SERVER: &str = r#"#!/usr/bin/env node
const name = require("fs").existsSync(__dirname + "/ran") ? "script_ran" : "script_skipped";
const tools = [{ name, inputSchema: { type: "object" } }];
const results = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
  "tools/list": { tools },
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
"#;

/// A registry with the package `scripted`, which has an install script.
async fn registry(folder: &Path) -> String {
    let package = folder.join("package");
    std::fs::create_dir(&package).unwrap();
    let about = json!({
        "name": "scripted", "version": "1.0.0", "bin": { "scripted": "server.js" },
        "scripts": { "postinstall": "node -e \"require('fs').writeFileSync('ran', '')\"" },
    });
    std::fs::write(package.join("package.json"), about.to_string()).unwrap();
    std::fs::write(package.join("server.js"), SERVER).unwrap();
    let tar = Command::new("tar")
        .args(["-czf", "scripted.tgz", "package"])
        .current_dir(folder)
        .status();
    assert!(tar.unwrap().success());
    let tarball = std::fs::read(folder.join("scripted.tgz")).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut version = about;
    version["dist"] = json!({ "tarball": format!("{url}/scripted.tgz") });
    version["hasInstallScript"] = json!(true);
    let document = json!({
        "name": "scripted", "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": version },
    });
    let routes = Router::new()
        .route("/scripted", get(move || async move { Json(document) }))
        .route("/scripted.tgz", get(move || async move { tarball }));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn install_scripts_of_npm_packages_run_only_when_they_are_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path()).await;
    let cache = folder.path().join("npm-cache");
    for (flags, message, tool) in [
        (
            &[][..],
            "install scripts did not run: scripted",
            "scripted/script_skipped",
        ),
        (
            &["--allow-scripts"][..],
            "scripted@1.0.0",
            "scripted/script_ran",
        ),
    ] {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(
            data.path().join("config.yaml"),
            "tools: { catalog_url: 'off' }\n",
        )
        .unwrap();
        let run = |args: &[&str]| {
            let mut command = Gangway::command(data.path());
            // What the person set for npm does not outweigh what they were asked here.
            command.env("npm_config_ignore_scripts", "false");
            command.env("npm_config_registry", &registry);
            command.env("npm_config_cache", &cache).args(args);
            let output = command.output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            text(&output.stdout) + &text(&output.stderr)
        };
        let mut install = vec!["mcp", "install", "npm:scripted"];
        install.extend(flags);
        let (install, tools) =
            tokio::task::block_in_place(|| (run(&install), run(&["mcp", "tools"])));
        assert!(install.contains(message), "{install}");
        assert!(tools.contains(tool), "{install}\n{tools}");
    }
}
