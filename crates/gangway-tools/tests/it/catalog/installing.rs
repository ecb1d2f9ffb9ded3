//! Real packages are installed, called, given secrets and removed.

use gangway_testing::{
    mcp_registry::{Page, Registry, listed},
    mcp_servers::installed_file,
};
use reqwest::Method;
use serde_json::{Value, json};

use super::{ask, holders, install, until};
use crate::server::TestServer;

const NPM_VERSION: &str = "2026.8.31";
const PYPI_VERSION: &str = "2026.10.19";

fn everything() -> Value {
    listed(json!({
        "name": "io.test/everything", "description": "Everything", "version": NPM_VERSION,
        "packages": [{
            "registryType": "npm", "identifier": "@modelcontextprotocol/server-everything", "version": NPM_VERSION,
            "transport": { "type": "stdio" },
            "runtimeArguments": [{ "type": "positional", "value": "-y" }],
            "packageArguments": [{ "type": "positional", "value": "stdio" }],
            "environmentVariables": [
                { "name": "PLANTED_KEY", "isRequired": true, "isSecret": true },
                { "name": "GREETING", "value": "hello {who}", "variables": { "who": { "default": "you" } } },
            ],
        }],
    }))
}

async fn environment(server: &TestServer) -> String {
    let call = json!({ "tool": "everything/get-env", "args": {} });
    let (status, answer) = server.post("/api/tools/call", call).await;
    assert_eq!(status, 200, "{answer}");
    answer.to_string()
}

async fn ready(server: &TestServer) {
    until(server, "/api/mcp/servers", |list| {
        list["servers"][0]["state"] == "ready"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_the_catalog_is_installed_from_npm_called_and_removed() {
    let registry = Registry::start(vec![Page::Entries(vec![everything()], None)]).await;
    let url = registry.url.clone();
    let server = TestServer::with(|config| config.tools.catalog_url = url).await;
    server.get("/api/mcp/catalog").await;
    until(&server, "/api/mcp/catalog", |page| {
        page["refresh"]["at"].is_string()
    })
    .await;
    let key = format!("npm:@modelcontextprotocol/server-everything@{NPM_VERSION}");
    let mut request = json!({ "id": "everything", "server": "io.test/everything", "option": key, "inputs": { "who": "tests" } });
    let (status, error) = ask(
        &server,
        Method::POST,
        "/api/mcp/installs",
        Some(request.clone()),
    )
    .await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (400, &json!("invalid_request"))
    );
    assert!(
        error["message"].as_str().unwrap().contains("PLANTED_KEY"),
        "{error}"
    );

    request["inputs"]["PLANTED_KEY"] = json!("planted-in-the-test");
    let installed = install(&server, request.clone()).await;
    assert_eq!(installed["state"], "done", "{installed}");
    let details: Vec<_> = installed["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["state"].as_str().unwrap())
        .collect();
    assert_eq!(details, ["done"; 4]);
    assert_eq!(installed["steps"][1]["detail"], key);
    assert!(!installed["lines"].as_array().unwrap().is_empty());
    let seen = environment(&server).await;
    assert!(
        seen.contains("planted-in-the-test") && seen.contains("hello tests"),
        "{seen}"
    );

    // The secret is where secrets are and nowhere else.
    let files = holders(&server.data(), "planted-in-the-test");
    assert_eq!(files, [server.data().join("secrets/credentials.json")]);
    for path in [
        "/api/mcp/servers",
        "/api/mcp/installs",
        "/api/mcp/catalog",
        "/api/mcp/servers/everything/logs",
    ] {
        let (_, answer) = server.get(path).await;
        assert!(!answer.to_string().contains("planted-in"), "{path}");
    }
    let (_, page) = server.get("/api/mcp/catalog").await;
    assert_eq!(page["servers"][0]["installed"], json!(["everything"]));
    let (status, error) = ask(&server, Method::POST, "/api/mcp/installs", Some(request)).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (409, &json!("server_exists"))
    );

    let secrets = "/api/mcp/servers/everything/secrets";
    let request = json!({ "secrets": { "PLANTED_KEY": "another-one" } });
    let (status, _) = ask(&server, Method::PUT, secrets, Some(request)).await;
    assert_eq!(status, 204);
    ready(&server).await;
    assert!(environment(&server).await.contains("another-one"));
    for (wrong, message) in [
        (json!({ "NONE": "x" }), "PLANTED_KEY"),
        (json!({ "PLANTED_KEY": "" }), "empty"),
    ] {
        let (status, error) = ask(
            &server,
            Method::PUT,
            secrets,
            Some(json!({ "secrets": wrong })),
        )
        .await;
        assert_eq!(status, 400);
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{error}"
        );
    }
    // It starts from what was fetched, after a restart too.
    let server = server.restart().await;
    ready(&server).await;

    assert!(server.data().join("mcp/packages/everything").exists());
    let (status, _) = ask(&server, Method::DELETE, "/api/mcp/servers/everything", None).await;
    assert_eq!(status, 204);
    assert!(!server.data().join("mcp/packages/everything").exists());
    assert!(holders(&server.data(), "another-one").is_empty());
    let (_, list) = server.get("/api/mcp/servers").await;
    assert_eq!(list["servers"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_package_of_pypi_is_installed_and_called() {
    let programs = installed_file("uv/bin");
    let server = TestServer::with(|config| config.tools.programs = vec![programs]).await;
    let request = json!({
        "id": "clock", "package": { "kind": "pypi", "name": "mcp-server-time", "version": PYPI_VERSION },
        "args": ["--local-timezone", "Europe/Berlin"],
    });
    let installed = install(&server, request).await;
    assert_eq!(installed["state"], "done", "{installed}");
    assert_eq!(
        installed["steps"][1]["detail"],
        format!("pypi:mcp-server-time@{PYPI_VERSION}")
    );
    let call = json!({ "tool": "clock/get_current_time", "args": { "timezone": "Etc/UTC" } });
    let (status, answer) = server.post("/api/tools/call", call).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.to_string().contains("Etc/UTC"), "{answer}");
    let (_, runtimes) = server.get("/api/mcp/runtimes").await;
    let found: Vec<_> = runtimes["runtimes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["name"].as_str().unwrap(), &r["found"]))
        .collect();
    assert_eq!(found[..2], [("npx", &json!(true)), ("uvx", &json!(true))]);
    assert_eq!(found[2].0, "pipx");
}
