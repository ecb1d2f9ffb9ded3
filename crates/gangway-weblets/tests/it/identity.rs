//! An app is a name and a folder: the app of another folder has another origin, and inherits nothing.

use reqwest::{Method, redirect};
use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::server::bare_client;
use gangway_testing::weblets_client::{app_host, get, launch, token};

#[tokio::test]
async fn an_app_that_takes_the_place_of_another_inherits_neither_origin_nor_grants_nor_launches() {
    let server = TestServer::start().await;
    let (_, before) = server.get("/api/apps/notes").await;
    assert_eq!(before["name"], "notes");
    let notes = "notes".parse().unwrap();
    let hub = server.hub();
    hub.grant_app(&notes, "save-file", true).await.unwrap();
    let launched = launch(&server, json!("claude")).await;

    let apps = server.data().join("my-apps");
    std::fs::rename(apps.join("notes"), apps.join("old")).unwrap();
    std::fs::remove_file(apps.join("old/APP.md")).unwrap();
    let other = server.data().join("elsewhere");
    std::fs::create_dir(&other).unwrap();
    let manifest = "---\nname: notes\ndescription: Another one.\n---\n";
    std::fs::write(other.join("APP.md"), manifest).unwrap();
    std::fs::write(other.join("index.html"), "<p>Another").unwrap();
    std::os::unix::fs::symlink(&other, apps.join("notes")).unwrap();
    server.service.apps.forget();

    let (status, after) = server.get("/api/apps/notes").await;
    assert_eq!(status, 200);
    let name = after["name"].as_str().unwrap();
    assert!(name.starts_with("notes-"), "{after}");
    assert_eq!(after["grants"], json!([]));
    assert_ne!(after["url"], before["url"]);

    let client = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .build()
        .unwrap();
    let page = client
        .get(server.url(&format!("/a?launch={}", token(&launched))))
        .header("host", app_host(&server))
        .header("sec-fetch-dest", "document");
    let page = page.send().await.unwrap();
    assert_eq!(page.status(), 307);
    let location = page.headers()["location"].to_str().unwrap();
    assert_eq!(location, format!("{}a", after["url"].as_str().unwrap()));
    // Nothing of the new app is served on the old one's host.
    for path in ["/index.html", "/__gangway/agent.js"] {
        let file = get(&server, path, &[("sec-fetch-dest", "script")]).await;
        assert_eq!(file.status(), 404, "{path}");
    }
    // A launch of the old app does not open the new one.
    let opened = client
        .get(server.url(&format!("/?launch={}", token(&launched))))
        .header(
            "host",
            format!("{name}.localhost:{}", server.address.port()),
        );
    assert_eq!(opened.send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_service_worker_needs_the_manifests_word() {
    let server = TestServer::start().await;
    let asked = async || get(&server, "/app.js", &[("service-worker", "script")]).await;
    let refused = asked().await;
    assert_eq!(refused.status(), 403);
    let message = refused.text().await.unwrap();
    assert!(message.contains("service_worker: true"), "{message}");

    let file = server.data().join("my-apps/notes/APP.md");
    let manifest = std::fs::read_to_string(&file).unwrap();
    let manifest = manifest.replacen("name: notes\n", "name: notes\nservice_worker: true\n", 1);
    std::fs::write(&file, manifest).unwrap();
    server.service.apps.forget();
    assert_eq!(asked().await.status(), 200);
}

#[tokio::test]
async fn only_the_owner_trusts_a_folder_and_only_one_that_is_there() {
    let server = TestServer::start().await;
    let folder = server.data().join("project");
    std::fs::create_dir(&folder).unwrap();
    let request = |folder: &str| Some(json!({ "folder": folder, "trusted": true }));
    let put = async |folder: &str| {
        let answer = server.call(Method::PUT, "/api/app-folders", request(folder));
        answer.await.0
    };
    assert_eq!(put(folder.to_str().unwrap()).await, 204);
    assert_eq!(put("weblets").await, 400);
    assert_eq!(put("/no/such/folder").await, 400);
    let stored = std::fs::read_to_string(server.data().join("apps.json")).unwrap();
    assert!(stored.contains("project"), "{stored}");
    let bare = bare_client().put(server.url("/api/app-folders"));
    let bare = bare.json(&request("/").unwrap()).send().await.unwrap();
    assert_eq!(bare.status(), 401);
}

#[tokio::test]
async fn a_browser_that_opened_an_app_by_a_key_loses_it_with_the_key() {
    let server = TestServer::start().await;
    let key = server.key("apps").await;
    let entry = bare_client().post(server.url("/api/apps/notes/entry"));
    let entry = entry.bearer_auth(&key.key).json(&json!({ "path": "/" }));
    let entry: Value = entry.send().await.unwrap().json().await.unwrap();
    let (_, path) = entry["url"]
        .as_str()
        .unwrap()
        .split_once("/__gangway")
        .unwrap();
    let none = reqwest::redirect::Policy::none();
    let browser = reqwest::Client::builder().redirect(none).build().unwrap();
    let ask = |path: String, cookie: String| {
        let request = browser
            .get(server.url(&path))
            .header("host", app_host(&server));
        request.header("cookie", cookie).send()
    };
    let entered = ask(format!("/__gangway{path}"), String::new())
        .await
        .unwrap();
    assert_eq!(entered.status(), 303);
    let cookie = entered.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert_eq!(
        ask("/app.js".into(), cookie.clone())
            .await
            .unwrap()
            .status(),
        200
    );
    assert!(server.services.keys.revoke(&key.id).await.unwrap());
    assert_eq!(ask("/app.js".into(), cookie).await.unwrap().status(), 401);
}
