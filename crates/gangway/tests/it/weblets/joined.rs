//! Apps beside applets, MCP clients, and everything else on the server.

use gangway_testing::weblets_client::{WebletSocket, app_host, get, opened, token};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{server, server_with};
use crate::{
    mcp::client::{Client, Era},
    support::eventually,
};

#[tokio::test]
async fn an_app_speaks_to_the_agent_once_the_user_consents() {
    let server = server().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "").await;
    page.request("r1", "prompt", json!({ "text": "hello" }))
        .await;
    let session = launched["sessionId"].as_str().unwrap();
    let path = format!("/api/sessions/{session}/applets");
    eventually(async || {
        let (_, speakers) = server.call(Method::GET, &path, None).await;
        let speaker = &speakers["applets"][0];
        assert!(
            speaker.is_null() || speaker["name"] == "My notes",
            "{speaker}"
        );
        (speaker["asking"]["prompt"] == "hello").then_some(())
    })
    .await;
    let decided = server
        .call(
            Method::PUT,
            &format!("{path}/notes"),
            Some(json!({ "speak": "allow" })),
        )
        .await;
    assert!(decided.0.is_success(), "{}", decided.1);
    let received = page.receive().await;
    assert_eq!(received["success"], true, "{received}");
    assert!(!received["result"]["text"].as_str().unwrap().is_empty());
    // An event that asks for a turn makes one now.
    page.emit("e1", "help-wanted", json!({ "with": "taxes" }))
        .await;
    assert_eq!(page.receive().await["type"], "weblet-ack");
    let history = format!("/api/history?session={session}");
    eventually(async || {
        let (_, message) = server.call(Method::GET, &history, None).await;
        let text = "event help-wanted {\"with\":\"taxes\"}";
        let entries = message["entries"].as_array().unwrap();
        let mut from = entries.iter().filter(|entry| entry["role"] == "user");
        from.any(|entry| entry["content"] == text).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_app_is_no_applet_and_an_applet_no_app_in_a_folder_that_holds_both() {
    let server = server().await;
    let folder = server.data().join("my-apps/parrot");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("meta.json"), r#"{ "name": "Parrot" }"#).unwrap();
    std::fs::write(folder.join("content.html"), "<p>Hello</p>").unwrap();
    let (_, applets) = server.call(Method::GET, "/api/applets", None).await;
    let slugs = names(&applets["applets"], "slug");
    let (_, apps) = server.call(Method::GET, "/api/apps", None).await;
    let apps = names(&apps["apps"], "name");
    for applet in ["parrot", "calculator"] {
        assert!(slugs.contains(&applet.to_owned()), "{slugs:?}");
        assert!(!apps.contains(&applet.to_owned()), "{apps:?}");
    }
    for app in ["notes", "card-game", "budget-dashboard", "form-builder"] {
        assert!(apps.contains(&app.to_owned()), "{apps:?}");
        assert!(!slugs.contains(&app.to_owned()), "{slugs:?}");
    }
    let path = "/api/apps/parrot/launch";
    let (status, message) = server.call(Method::POST, path, Some(json!({}))).await;
    assert_eq!(
        (status, &message["error_code"]),
        (StatusCode::NOT_FOUND, &json!("app_not_found"))
    );
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let all = list.as_array().unwrap().iter();
    all.map(|one| one[key].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn the_name_and_version_of_an_mcp_client_reach_the_context() {
    let server = server().await;
    for era in [Era::Older, Era::Current] {
        let client = Client::new(&server, "/mcp", era).await;
        let request = json!({ "app": "notes", "data": { "notes": [] } });
        let launched = client.call("launch_app", request).await.unwrap();
        let page = get(&server, &format!("/?launch={}", token(&launched)), &[]).await;
        let page = page.text().await.unwrap();
        assert!(
            page.contains(r#""name":"tester","version":"1.0.0""#),
            "{page}"
        );
    }
}

#[tokio::test]
async fn with_an_app_installed_the_agent_of_a_chat_can_always_list_and_launch_apps() {
    let says = json!({ "choices": [{ "delta": { "content": "Hi." }, "finish_reason": "stop" }] });
    let model = crate::providers::fake::Fake::streams(&[&format!("data: {says}\n\n")]);
    let base = model.start().await;
    let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
    let parsed = gangway::config::Config::parse(&yaml).unwrap();
    let server = server_with(|config| {
        config.providers = parsed.providers;
        config.default_agent = "builtin".into();
    })
    .await;
    let session = server.session().await;
    // Not a word of it is in the app's manifest.
    server.ask(&session, "Bonjour tout le monde").await;
    let asked = model.asked();
    let tools = asked[0]["tools"].as_array().unwrap().iter();
    let names: Vec<_> = tools.map(|tool| &tool["function"]["name"]).collect();
    for tool in ["list_apps", "launch_app"] {
        let has = names
            .iter()
            .any(|name| name.as_str().unwrap().ends_with(tool));
        assert!(has, "{tool} is not in {names:?}");
    }
}

#[tokio::test]
async fn the_host_of_an_app_has_nothing_but_the_app() {
    let server = server().await;
    for path in [
        "/api/sessions",
        "/mcp",
        "/ws/applet",
        "/metrics",
        "/applet.js",
        "/api/keys",
        "/v1/models",
    ] {
        let response = get(&server, path, &[]).await;
        assert_eq!(response.status(), 404, "{path}");
    }
    let posted = server
        .http
        .post(server.url("/api/sessions"))
        .header("host", app_host(&server))
        .json(&json!({}))
        .send()
        .await
        .unwrap();
    assert_eq!(posted.status(), 403);
    // And an app's page reaches nothing on the main host.
    let crossed = server
        .http
        .get(server.url("/api/sessions"))
        .header("origin", format!("http://{}", app_host(&server)))
        .send()
        .await
        .unwrap();
    assert_eq!(crossed.status(), 403);
    for host in ["evil.localhost.example", "a.b.localhost", "-x.localhost"] {
        let response = server
            .http
            .get(server.url("/"))
            .header("host", host)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 421, "{host}");
    }
    let nobody = server
        .http
        .get(server.url("/"))
        .header("host", "nobody.localhost")
        .send()
        .await
        .unwrap();
    assert_eq!(nobody.status(), 404);
}

#[tokio::test]
async fn apps_never_stand_where_gangway_itself_is() {
    for url in [
        "https://{app}.example.org",
        "https://gangway.example.org/{app}",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let config = gangway::config::Config {
            hosts: vec!["gangway.example.org".into()],
            apps_url: Some(url.into()),
            ..gangway::config::Config::default()
        };
        let store = gangway_core::Store::open(folder.path()).unwrap();
        let address = "127.0.0.1:1".parse().unwrap();
        let access = gangway_providers::ModelAccess::default();
        let made = gangway::server::Server::new(config, folder.path(), store, access, address, "x");
        let error = made.await.err().unwrap().to_string();
        assert!(error.contains("gangway.example.org"), "{error}");
    }
}
