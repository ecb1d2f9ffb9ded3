//! A registry of npm packages on a real socket.

use std::{collections::BTreeMap, process::Command};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use super::super::write;

/// Packages by name and version: what their `package.json` says besides, and their files.
type Packages = [(
    &'static str,
    &'static str,
    Value,
    &'static [(&'static str, &'static str)],
)];

/// What a registry answers, by path.
type Answers = BTreeMap<String, Vec<u8>>;

async fn answer(State(answers): State<Answers>, Path(path): Path<String>) -> Response {
    match answers.get(&path) {
        Some(bytes) => bytes.clone().into_response(),
        None => (StatusCode::NOT_FOUND, Json(json!({ "error": "Not found" }))).into_response(),
    }
}

/// A registry with these packages; the newest version is the last of a name.
async fn registry(packages: &Packages) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut answers = Answers::new();
    let mut documents: BTreeMap<&str, Value> = BTreeMap::new();
    for (number, (name, version, more, files)) in packages.iter().enumerate() {
        let mut about = more.clone();
        about["name"] = json!(name);
        about["version"] = json!(version);
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("package"), files);
        write(
            folder.path(),
            &[("package/package.json", &about.to_string())],
        );
        let tar = Command::new("tar")
            .args(["-czf", "packed.tgz", "package"])
            .current_dir(folder.path())
            .status();
        assert!(tar.unwrap().success());
        let tarball = std::fs::read(folder.path().join("packed.tgz")).unwrap();
        answers.insert(format!("{number}.tgz"), tarball);
        about["dist"] = json!({ "tarball": format!("{url}/{number}.tgz") });
        about["hasInstallScript"] = json!(!about["scripts"].is_null());
        let document = documents
            .entry(*name)
            .or_insert_with(|| json!({ "name": name, "dist-tags": {}, "versions": {} }));
        document["dist-tags"]["latest"] = json!(version);
        document["versions"][*version] = about;
    }
    for (name, document) in documents {
        answers.insert(name.to_owned(), document.to_string().into_bytes());
    }
    let routes = Router::new()
        .route("/{*path}", get(answer))
        .with_state(answers);
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

/// Packages as authors publish them: ES modules, CommonJS, and one that wants a repository.
pub async fn usual_registry() -> String {
    let module = |more: Value| {
        let mut about = json!({ "type": "module", "exports": "./index.js" });
        about
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        about
    };
    let script = "node -e \"require('fs').writeFileSync('ran', '')\"";
    registry(&[
        (
            "tiny",
            "1.2.0",
            module(json!({
                "dependencies": { "@scope/helper": "^2.0.0" },
                "scripts": { "preinstall": script, "install": script, "postinstall": script },
            })),
            &[(
                "index.js",
                r#"import { help } from "@scope/helper"; export const word = help("tiny");"#,
            )],
        ),
        (
            "tiny",
            "2.0.0",
            module(json!({})),
            &[("index.js", "export {};")],
        ),
        (
            "@scope/helper",
            "2.0.1",
            module(json!({})),
            &[("index.js", "export const help = (word) => word;")],
        ),
        (
            "old-style",
            "1.0.0",
            json!({ "main": "lib/index" }),
            &[("lib/index.js", "module.exports = 1;")],
        ),
        (
            "leads-away",
            "1.0.0",
            module(json!({ "dependencies": { "x": "git+https://127.0.0.1:1/x.git" } })),
            &[("index.js", "export {};")],
        ),
    ])
    .await
}
