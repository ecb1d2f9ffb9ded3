//! `gangway app vendor`, with the real npm, and a registry on its real wire.

mod registry;

use std::{path::Path, process::Output};

use serde_json::{Value, json};

use self::registry::usual_registry;
use super::AppSite;
use crate::support::{Gangway, TestServer};

/// The page of an app that imports a package, in a script of the page and in one of its own.
const PAGE: [(&str, &str); 2] = [
    (
        "index.html",
        r#"<!doctype html><script type="module">import { word } from "tiny";</script>"#,
    ),
    ("app.js", r#"import { word } from "tiny";"#),
];

/// Runs the command with this registry, and with settings of the person's that would let scripts run.
fn vendor(site: &AppSite, registry: &str, arguments: &[&str]) -> Output {
    let home = site.folder.path().join("home");
    let mut command = Gangway::command(&home.join("data"));
    command
        .env("HOME", &home)
        .env_remove("WEBLET_PATH")
        .env("npm_config_registry", registry)
        .env("npm_config_ignore_scripts", "false")
        .env("npm_config_fetch_retries", "0")
        .current_dir(site.folder.path())
        .args(["app", "vendor"])
        .args(arguments);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The files below a folder, by path.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let path = entry.path();
                    let path = path.strip_prefix(folder).unwrap();
                    found.push(path.to_str().unwrap().to_owned());
                }
            }
        }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packages_come_into_vendor_with_what_they_need_and_pages_import_them_without_a_restart() {
    let registry = usual_registry().await;
    let site = AppSite::with("dependencies: { tiny: ^1.0.0 }", &PAGE);
    assert_eq!(site.visit("/").await.text(), PAGE[0].1);
    assert_eq!(site.get("/app.js").await.text(), PAGE[1].1);
    let before = files(&site.path());

    let output = tokio::task::block_in_place(|| vendor(&site, &registry, &["site"]));
    let message = said(&output);
    assert!(output.status.success(), "{message}");
    for reason in [
        "tiny 1.2.0",
        "transitive dependencies: 1",
        "Install scripts did not run: tiny",
    ] {
        assert!(message.contains(reason), "{message}");
    }
    let added: Vec<String> = files(&site.path())
        .into_iter()
        .filter(|file| !before.contains(file))
        .collect();
    // No script ran, and nothing of npm's own is left.
    assert_eq!(
        added,
        [
            "vendor/.gangway.json",
            "vendor/@scope/helper/index.js",
            "vendor/@scope/helper/package.json",
            "vendor/tiny/index.js",
            "vendor/tiny/package.json",
        ]
    );
    let page = site.visit("/").await;
    let entry = r#""tiny":"./vendor/tiny/index.js""#;
    assert!(page.text().contains(entry), "{}", page.text());
    let script = site.get("/app.js").await;
    assert_eq!(
        script.text(),
        r#"import { word } from "./vendor/tiny/index.js";"#
    );
    let module = site.get("/vendor/tiny/index.js").await;
    let helper = r#"from "../../vendor/@scope/helper/index.js";"#;
    assert!(module.text().contains(helper), "{}", module.text());

    // Once more: what the manifest no longer names goes.
    let manifest = "---\nname: site\ndescription: An app.\ndependencies: ['tiny@2']\n---\n";
    site.write(&[("APP.md", manifest)]);
    let path = site.path();
    let arguments = [path.to_str().unwrap(), "--json"];
    let output = tokio::task::block_in_place(|| vendor(&site, &registry, &arguments));
    let message: Value = serde_json::from_slice(&output.stdout).unwrap();
    let wanted = json!([{ "name": "tiny", "version": "2.0.0" }]);
    assert_eq!(
        (&message["packages"], &message["neededByThem"]),
        (&wanted, &json!([]))
    );
    assert!(!site.path().join("vendor/@scope/helper").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_fetched_is_reported_with_the_reason_and_leaves_the_app_as_it_was() {
    let registry = usual_registry().await;
    for (lines, registry, reason) in [
        (
            "dependencies: { tiny: ^1, no-such-package: '1' }",
            registry.as_str(),
            "package no-such-package@1 was not found in the registry",
        ),
        (
            "dependencies: { tiny: ^9.9.9 }",
            &registry,
            "No matching version found for tiny@^9.9.9",
        ),
        ("dependencies: { leads-away: '1' }", &registry, "git"),
        (
            "dependencies: { tiny: ^1 }",
            "http://127.0.0.1:1",
            "the registry cannot be reached (ECONNREFUSED)",
        ),
    ] {
        let site = AppSite::with(lines, &PAGE);
        let before = files(&site.path());
        let output = tokio::task::block_in_place(|| vendor(&site, registry, &["site"]));
        let message = said(&output);
        assert!(
            !output.status.success() && message.contains(reason),
            "{message}"
        );
        assert_eq!(files(&site.path()), before);
        assert!(!site.path().join("vendor").exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commonjs_package_is_reported_and_packages_of_the_author_are_kept() {
    let registry = usual_registry().await;
    let mut own = PAGE.to_vec();
    own.push(("vendor/tiny/index.js", "export const word = 'mine';"));
    let site = AppSite::with("dependencies: { tiny: ^1, old-style: '*' }", &own);
    let output = tokio::task::block_in_place(|| vendor(&site, &registry, &["site"]));
    let message = said(&output);
    assert!(output.status.success(), "{message}");
    for text in [
        "old-style 1.0.0",
        "Packages of the app's author were kept: tiny",
        "no ES modules (only CommonJS): old-style;",
    ] {
        assert!(message.contains(text), "{message}");
    }
    let mine = std::fs::read_to_string(site.path().join("vendor/tiny/index.js")).unwrap();
    assert_eq!(mine, own[2].1);
}

#[test]
fn what_is_not_a_version_of_the_registry_is_refused_before_npm_is_asked() {
    let refused = |site: &AppSite, app: &str| {
        // Nothing answers there, and npm would say so.
        let output = vendor(site, "http://127.0.0.1:1", &[app]);
        assert!(!output.status.success());
        assert!(!site.path().join("vendor").exists());
        said(&output)
    };
    let site = AppSite::with(
        "dependencies: { a: 'git+ssh://git@example.org/a.git', b: 'file:../b', c: 'npm:other@1', d: a/b, e: { x: 1 }, '../f': '1' }",
        &[],
    );
    let message = refused(&site, "site");
    for reason in [
        "a is \"git+ssh://git@example.org/a.git\", which is a git repository: it could bring in anything",
        "b is \"file:../b\", which is a path",
        "c is \"npm:other@1\", which is an alias of another package",
        "d is \"a/b\", which is a git repository",
        "e is \"(a map)\", which is not a version range",
        "\"../f\" is not an npm package name",
    ] {
        assert!(message.contains(reason), "{message}");
    }
    let site = AppSite::new(&[]);
    for (app, reason) in [
        ("site", "has no `dependencies` in its APP.md"),
        ("movie-booking", "comes with Gangway and cannot be changed"),
        ("nobody", "app nobody not found"),
        ("No/Where", "there is no APP.md in No/Where"),
    ] {
        let message = refused(&site, app);
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn without_npm_and_in_a_folder_that_leads_elsewhere_nothing_is_fetched() {
    let site = AppSite::with("dependencies: { tiny: ^1 }", &PAGE);
    let mut command = Gangway::command(&site.folder.path().join("data"));
    let nothing = tempfile::tempdir().unwrap();
    command
        .env("PATH", nothing.path())
        .args(["app", "vendor"])
        .arg(site.path());
    let message = said(&command.output().unwrap());
    assert!(
        message.contains("npm is not on PATH: install Node.js"),
        "{message}"
    );
    assert!(!site.path().join("vendor").exists());

    let outside = site.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, site.path().join("vendor")).unwrap();
    let output = vendor(&site, "http://127.0.0.1:1", &["site"]);
    let message = said(&output);
    assert!(!output.status.success(), "{message}");
    assert!(message.contains("vendor cannot be used"), "{message}");
    assert_eq!(files(&outside), Vec::<String>::new());
}

#[tokio::test]
async fn a_launch_says_which_packages_are_missing_and_how_to_fetch_them() {
    let site = AppSite::with("dependencies: { tiny: ^1, old: '*' }", &PAGE);
    site.write(&[
        ("node_modules/old/package.json", r#"{ "main": "x.js" }"#),
        ("node_modules/old/x.js", "module.exports = 1;"),
    ]);
    let apps = vec![site.path()];
    let server = TestServer::with(|config| config.apps = apps).await;
    let warnings = async || {
        let (status, launched) = server.post("/api/apps/site/launch", json!({})).await;
        assert!(status.is_success(), "{launched}");
        launched["warnings"].as_array().unwrap().clone()
    };
    let lines = warnings().await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    let missing = lines[0].as_str().unwrap();
    assert!(
        missing.contains(": tiny; download them with `gangway app vendor site`"),
        "{missing}"
    );
    let unusable = lines[1].as_str().unwrap();
    assert!(unusable.contains("(only CommonJS): old;"), "{unusable}");
    // A card says nothing of it: the app may do without.
    let (_, app) = server.get("/api/apps/site").await;
    assert_eq!(app["problems"], json!([]), "{app}");
    let path = site.path();
    let validate = Gangway::run(
        site.folder.path(),
        &["app", "validate", path.to_str().unwrap()],
    );
    assert!(validate.status.success());
    assert!(said(&validate).contains("gangway app vendor /"));

    site.write(&[
        ("vendor/tiny/index.js", "export const word = 1;"),
        ("vendor/old.js", "export default 1;"),
    ]);
    assert_eq!(warnings().await, Vec::<Value>::new());
    // A page with an import map of its own has its packages elsewhere.
    std::fs::remove_dir_all(site.path().join("vendor/tiny")).unwrap();
    assert_eq!(warnings().await.len(), 1);
    let own =
        r#"<script type="importmap">{"imports":{"tiny":"https://example.org/tiny.js"}}</script>"#;
    site.write(&[("index.html", own)]);
    assert_eq!(warnings().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_package_of_the_npm_registry_is_fetched_and_imported() {
    let site = AppSite::with(
        "dependencies: { escape-string-regexp: ^5.0.0 }",
        &[("app.js", "import escape from 'escape-string-regexp';")],
    );
    let mut command = Gangway::command(&site.folder.path().join("data"));
    command.args(["app", "vendor"]).arg(site.path());
    let output = tokio::task::block_in_place(|| command.output().unwrap());
    let message = said(&output);
    assert!(output.status.success(), "{message}");
    assert!(message.contains("escape-string-regexp 5."), "{message}");
    let script = site.get("/app.js").await;
    let address = "./vendor/escape-string-regexp/index.js";
    assert_eq!(script.text(), format!("import escape from \"{address}\";"));
    assert!(site.visit("/").await.text().contains(address));
    let module = site.get(&address[1..]).await;
    assert!(module.text().contains("export default function"));
}
