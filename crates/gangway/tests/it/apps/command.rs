//! `gangway app`, as an author uses it.

use std::{path::Path, process::Output};

use serde_json::Value;

use super::{plain, write};
use crate::support::Gangway;

/// Runs a command where nothing of the person's own is found.
fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Gangway::command(&home.join("data"));
    command.env("HOME", home).env_remove("WEBLET_PATH");
    command.current_dir(home).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(home: &Path, arguments: &[&str]) -> Value {
    let output = run(home, arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_app_that_was_begun_is_valid_listed_and_shown() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let made = json(home, &["app", "init", "weblets/hello-there", "--json"]);
    assert_eq!(
        made["files"],
        serde_json::json!(["APP.md", "index.html", "app.ts"])
    );
    let valid = run(home, &["app", "validate", "weblets/hello-there"]);
    assert!(valid.status.success(), "{}", said(&valid));
    assert_eq!(said(&valid), "hello-there is valid.\n");
    let list = json(home, &["app", "list", "--json"]);
    assert_eq!(list["untrusted"][0]["apps"], 1);
    let message = said(&run(home, &["app", "list"]));
    assert!(message.contains("gangway app trust /"), "{message}");
    let trusted = run(home, &["app", "trust", "weblets"]);
    assert!(said(&trusted).ends_with("weblets are loaded.\n"));
    let list = json(home, &["app", "list", "--json"]);
    let mine = |list: &Value| {
        let apps = list["apps"].as_array().unwrap().clone();
        apps.into_iter().find(|app| app["name"] == "hello-there")
    };
    let mine_now = mine(&list).unwrap();
    assert_eq!(
        (&mine_now["origin"], &mine_now["title"]),
        (&"folder".into(), &"Hello there".into())
    );
    assert!(mine(&json(home, &["app", "list", "greeting", "--json"])).is_some());
    assert!(mine(&json(home, &["app", "list", "xylophone", "--json"])).is_none());
    assert!(
        mine(&json(
            home,
            &[
                "app",
                "list",
                "--category",
                "Example",
                "--tag",
                "example",
                "--json"
            ]
        ))
        .is_some()
    );
    assert!(
        mine(&json(
            home,
            &["app", "list", "--category", "other", "--json"]
        ))
        .is_none()
    );
    let info = json(home, &["app", "info", "hello-there", "--json"]);
    assert_eq!(info["context"]["data"]["who"]["default"], "world");
    assert_eq!(info["events"][0]["name"], "greeting-answered");
    let shown = said(&run(home, &["app", "info", "hello-there"]));
    assert!(
        shown.contains("Hello there 0.1.0 (hello-there)") && shown.contains("data.who: a string"),
        "{shown}"
    );

    run(home, &["app", "untrust", "weblets"]);
    assert!(mine(&json(home, &["app", "list", "--json"])).is_none());
    let missing = run(home, &["app", "trust", "nowhere"]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("nowhere cannot be trusted"));

    let again = run(home, &["app", "init", "weblets/hello-there"]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("is not empty"));
    let odd = run(home, &["app", "init", "My App"]);
    assert!(String::from_utf8_lossy(&odd.stderr).contains("--name"));
    assert!(
        run(home, &["app", "init", "My App", "--name", "my-app"])
            .status
            .success()
    );
    let unknown = run(home, &["app", "info", "nobody"]);
    assert!(
        !unknown.status.success()
            && String::from_utf8_lossy(&unknown.stderr).contains("gangway app list")
    );
}

#[test]
fn validating_reports_every_problem_with_its_line_and_fails() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write(
        home,
        &[
            (
                "bad/APP.md",
                "---\nname: bad\nentry: ../x.html\nlicence: MIT\n---\n",
            ),
            ("bad/index.html", ""),
        ],
    );
    let output = run(home, &["app", "validate", "bad"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        said(&output),
        "APP.md:1: error: `description` is missing: describe the app in one sentence\n\
         APP.md:3: error: `entry` is \"../x.html\", but it contains `..`; a path cannot leave the folder\n\
         APP.md:4: warning: unknown key `licence`\n"
    );
    let output = run(home, &["app", "validate", "bad/APP.md", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let message: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (
            &message["valid"],
            &message["problems"][1]["line"],
            &message["problems"][2]["severity"]
        ),
        (&false.into(), &3.into(), &"warning".into())
    );
    write(home, &[("odd name/APP.md", "nothing")]);
    assert_eq!(
        run(home, &["app", "validate", "odd name"]).status.code(),
        Some(1)
    );
    let missing = run(home, &["app", "validate", "nowhere"]);
    assert!(
        !missing.status.success()
            && String::from_utf8_lossy(&missing.stderr).contains("is not a folder")
    );
}

#[test]
fn apps_are_listed_from_folders_that_are_named_and_others_are_reported() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write(
        home,
        &[
            ("a/same/APP.md", &plain("same")),
            ("a/same/index.html", ""),
            ("b/same/APP.md", &plain("same")),
            ("b/same/index.html", ""),
        ],
    );
    let list = json(
        home,
        &["app", "list", "--apps", "a", "--apps", "b", "--json"],
    );
    let same: Vec<&Value> = list["apps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|app| app["name"] == "same")
        .collect();
    assert_eq!((same.len(), &same[0]["origin"]), (1, &"named".into()));
    assert!(
        list["strays"][0]["problems"][0]["message"]
            .as_str()
            .unwrap()
            .contains("hidden by")
    );
    let shown = said(&run(home, &["app", "list", "--apps", "a", "--apps", "b"]));
    assert!(
        shown.contains("An app for tests.") && shown.contains("hidden by"),
        "{shown}"
    );
}

#[tokio::test]
async fn an_app_runs_alone_without_an_agent() {
    let home = tempfile::tempdir().unwrap();
    assert!(run(home.path(), &["app", "init", "hello"]).status.success());
    let mut command = Gangway::command(home.path());
    command
        .current_dir(home.path())
        .args(["app", "run", "hello", "--no-open"]);
    let server = Gangway::spawn(command);
    let port = server
        .url
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .unwrap()
        .to_owned();
    assert!(
        server.url.starts_with("http://hello.localhost:"),
        "{}",
        server.url
    );
    let http = gangway_models::http_client();
    let get = async |path: &str, host: &str| {
        let request = http
            .get(format!("http://127.0.0.1:{port}{path}"))
            .header("host", host);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (status, page) = get("/", "hello.localhost").await;
    assert!(
        status == 200 && page.contains("src=\"./app.ts\"") && !page.contains("nonce"),
        "{page}"
    );
    let (status, script) = get("/app.ts", &format!("hello.localhost:{port}")).await;
    assert!(
        status == 200
            && script.contains("window.__AGENT_CONTEXT__")
            && !script.contains("declare global"),
        "{script}"
    );
    assert_eq!(get("/", "evil.example").await.0, 421);
}
