//! The page of an app in a replay: shown as it was launched, and unable to act.

use gangway_testing::weblets_client::{get, launch};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::server::TestServer;

const FRAME: [(&str, &str); 1] = [("sec-fetch-dest", "iframe")];

/// The path of the page of a launch in a replay.
async fn replayed(server: &TestServer, request: Value) -> String {
    let answer = server.call(Method::POST, "/api/apps/notes/replay", Some(request));
    let (status, answer) = answer.await;
    assert_eq!(status, 200, "{answer}");
    path_of(server, &answer)
}

fn path_of(server: &TestServer, answer: &Value) -> String {
    let url = answer["url"].as_str().unwrap();
    let host = format!("http://notes.localhost:{}", server.address.port());
    url.strip_prefix(&host).unwrap().to_owned()
}

fn policies(response: &Response) -> String {
    let all = response.headers().get_all("content-security-policy").iter();
    let all: Vec<_> = all.map(|value| value.to_str().unwrap()).collect();
    all.join(", ")
}

#[tokio::test]
async fn a_replayed_page_has_its_launch_and_its_files_but_no_origin_and_no_channel() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = replayed(&server, json!({ "launchId": launched["launchId"] })).await;

    let page = get(&server, &path, &FRAME).await;
    assert_eq!(page.status(), 200);
    assert!(page.headers().get("set-cookie").is_none());
    assert_eq!(page.headers()["referrer-policy"], "no-referrer");
    let policy = policies(&page);
    assert!(page.headers().contains_key("connection-allowlist"));
    let own = format!("http://notes.localhost:{}{path}", server.address.port());
    for part in [
        "sandbox allow-scripts".to_owned(),
        format!("connect-src {own} data: blob:;"),
        "frame-src 'none'".to_owned(),
        "form-action 'none'".to_owned(),
    ] {
        assert!(policy.contains(&part), "{part} in {policy}");
    }
    assert!(!policy.contains("allow-same-origin"), "{policy}");
    assert!(!policy.contains("frame-ancestors 'self'"), "{policy}");
    let text = page.text().await.unwrap();
    assert!(text.contains(r#"'{"notes":["a"]}')</script>"#), "{text}");
    assert!(text.contains(r#""name":"claude""#), "{text}");
    assert!(text.contains(r#""replay":true"#), "{text}");
    assert!(!text.contains("proof="), "it has no way to the channel");

    // Files of a page without an origin are loaded across origins, and without cookies.
    for file in ["app.js", "__gangway/agent.js"] {
        let response = get(&server, &format!("{path}{file}"), &[]).await;
        assert_eq!(response.status(), 200, "{file}");
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
    }
}

#[tokio::test]
async fn an_app_that_nobody_launched_is_replayed_without_data() {
    let server = TestServer::start().await;
    let path = replayed(&server, json!({})).await;
    let text = get(&server, &path, &FRAME).await.text().await.unwrap();
    assert!(text.contains("'{}')</script>"), "{text}");
}

#[tokio::test]
async fn below_a_replayed_page_there_are_files_alone() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = replayed(&server, json!({ "launchId": launched["launchId"] })).await;
    for route in ["ws", "data", "storage", "enter", "replay/x/"] {
        let response = get(&server, &format!("{path}__gangway/{route}"), &[]).await;
        assert_eq!(response.status(), 404, "{route}");
    }
    for file in ["../../ws", "%2e%2e/%2e%2e/APP.md", ".git/config"] {
        let response = get(&server, &format!("{path}{file}"), &[]).await;
        assert!(response.status().is_client_error(), "{file}");
    }
    let post = server.http.post(server.url(&path));
    let host = format!("notes.localhost:{}", server.address.port());
    let posted = post.header("host", host).send().await.unwrap();
    assert!(posted.status().is_client_error());
    // In a tab of its own it would be taken for the app.
    let tab = get(&server, &path, &[("sec-fetch-dest", "document")]).await;
    assert_eq!(tab.status(), 403);
}

#[tokio::test]
async fn the_address_of_a_replayed_page_cannot_be_made_up_and_ends_with_its_session() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = replayed(&server, json!({ "launchId": launched["launchId"] })).await;
    let (start, code) = path.trim_end_matches('/').rsplit_once('/').unwrap();
    let (what, signature) = code.rsplit_once('.').unwrap();
    let (launch, until) = what.rsplit_once('.').unwrap();
    let (subject, _) = launch.rsplit_once('.').unwrap();
    let later = until.parse::<i64>().unwrap() + 1;
    for wrong in [
        format!("{launch}.{later}.{signature}"),
        format!("{subject}.none.{until}.{signature}"),
        format!("{what}."),
        String::new(),
    ] {
        let response = get(&server, &format!("{start}/{wrong}/"), &FRAME).await;
        assert_eq!(response.status(), 410, "{wrong}");
    }
    server.delete(launched["sessionId"].as_str().unwrap()).await;
    let response = get(&server, &path, &FRAME).await;
    assert_eq!(response.status(), 410);
    let request = json!({ "launchId": launched["launchId"] });
    let (status, error) = server
        .call(Method::POST, "/api/apps/notes/replay", Some(request))
        .await;
    assert_eq!(status, 404, "{error}");
}

#[tokio::test]
async fn a_key_replays_a_launch_only_if_it_may_read_its_session() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    for (scopes, request, status) in [
        (&["apps"][..], json!({}), 200),
        (&["apps"], json!({ "launchId": launched["launchId"] }), 403),
        (
            &["apps", "chat"],
            json!({ "launchId": launched["launchId"] }),
            200,
        ),
        (&["chat"], json!({}), 403),
        (&["apps", "chat"], json!({ "launchId": "l-1" }), 404),
    ] {
        let key = server.key_for(scopes).await.key;
        let path = server.url("/api/apps/notes/replay");
        let post = server.http.post(path).bearer_auth(key).json(&request);
        let answer = post.send().await.unwrap();
        assert_eq!(answer.status(), status, "{scopes:?} {request}");
    }
}

#[tokio::test]
async fn the_address_of_a_replayed_page_ends_with_the_key_that_asked_for_it() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let key = server.key_for(&["apps", "chat"]).await;
    let url = server.url("/api/apps/notes/replay");
    let request = json!({ "launchId": launched["launchId"] });
    let post = server.http.post(url).bearer_auth(&key.key).json(&request);
    let answer: Value = post.send().await.unwrap().json().await.unwrap();
    let path = path_of(&server, &answer);
    assert_eq!(get(&server, &path, &FRAME).await.status(), 200);
    server.services.keys.revoke(&key.id).await.unwrap();
    assert_eq!(get(&server, &path, &FRAME).await.status(), 410);
}
