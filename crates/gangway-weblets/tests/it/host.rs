//! The origins of apps: their files, their context for one browser, and nothing else.

use gangway_core::{Command, Launch, LaunchId};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::json;

use crate::server::TestServer;
use gangway_testing::weblets_client::{WebletSocket, app_host, get, launch, opened, token};

#[tokio::test]
async fn the_context_stands_before_every_script_of_the_page_fr_ctx_001_fr_ctx_002() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!({ "name": "claude", "version": "1.0.0" })).await;
    let response = get(&server, &format!("/?launch={}", token(&launched)), &[]).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["cache-control"], "no-store");
    let policy = response.headers().get_all("content-security-policy").iter();
    let policy: Vec<_> = policy
        .map(|value| value.to_str().unwrap().to_owned())
        .collect();
    assert!(
        policy
            .iter()
            .any(|one| one.contains("frame-ancestors 'self'")),
        "{policy:?}"
    );
    let page = response.text().await.unwrap();
    let ours = page.find("launchId").unwrap();
    assert!(ours < page.find("app.js").unwrap());
    assert!(page.contains(r#""name":"claude""#), "{page}");
    assert!(
        page.contains(r#""theme":"light""#),
        "the default is filled in"
    );
    assert!(page.contains(r#"'{"notes":["a"]}')</script>"#), "{page}");
}

#[tokio::test]
async fn a_page_without_a_launch_is_the_file_as_it_is_fr_degrade_001() {
    let server = TestServer::start().await;
    let response = get(&server, "/", &[]).await;
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    let page = response.text().await.unwrap();
    assert!(!page.contains("launchId"), "{page}");
    assert!(page.starts_with("<!doctype html><html><head><title>Notes</title>"));
    let again = get(&server, "/", &[("if-none-match", &tag)]).await;
    assert_eq!(again.status(), 304);
}

#[tokio::test]
async fn an_address_is_valid_for_the_browser_that_opened_it_first() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = format!("/?launch={}", token(&launched));
    let first = get(&server, &path, &[]).await;
    let cookie = first.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let pair = cookie.split(';').next().unwrap().to_owned();
    // It is available again after a reload or in a second tab.
    let again = get(&server, &path, &[("cookie", &pair)]).await;
    assert_eq!(again.status(), 200);
    assert!(again.headers().get("set-cookie").is_none());
    let other = get(&server, &path, &[]).await;
    assert_eq!(other.status(), 410);
    let message = other.text().await.unwrap();
    assert!(
        message.contains("another browser") && !message.contains("launchId"),
        "{message}"
    );
}

#[tokio::test]
async fn a_browser_has_one_cookie_for_all_launches_of_an_app() {
    let server = TestServer::start().await;
    let path = async || {
        let launched = launch(&server, json!("claude")).await;
        format!("/?launch={}", token(&launched))
    };
    let pair = |response: &reqwest::Response| {
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    };
    let first = path().await;
    let own = pair(&get(&server, &first, &[]).await);
    let mut all = vec![first];
    for _ in 0..5 {
        let next = path().await;
        let opened = get(&server, &next, &[("cookie", &own)]).await;
        assert_eq!(opened.status(), 200);
        assert_eq!(pair(&opened), own, "it is kept for longer, not changed");
        all.push(next);
    }
    let other = path().await;
    let stranger = pair(&get(&server, &other, &[]).await);
    assert_ne!(stranger, own);
    for one in &all {
        assert_eq!(get(&server, one, &[("cookie", &own)]).await.status(), 200);
        // In a frame the browser may show a second one.
        let both = format!("{stranger}; {own}");
        assert_eq!(get(&server, one, &[("cookie", &both)]).await.status(), 200);
        let refused = get(&server, one, &[("cookie", &stranger)]).await;
        assert_eq!(refused.status(), 410);
        assert_eq!(get(&server, one, &[]).await.status(), 410);
    }
    // What is no secret of ours is not taken for one.
    let weak = get(&server, &path().await, &[("cookie", "gangway_browser=1")]).await;
    assert!(pair(&weak).len() > own.len() / 2 && pair(&weak) != "gangway_browser=1");
}

#[tokio::test]
async fn an_address_that_was_opened_a_moment_ago_ends_with_its_session() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = format!("/?launch={}", token(&launched));
    let first = get(&server, &path, &[]).await;
    let cookie = first.headers()["set-cookie"].to_str().unwrap();
    let pair = cookie.split(';').next().unwrap().to_owned();
    for _ in 0..2 {
        let again = get(&server, &path, &[("cookie", &pair)]).await;
        assert_eq!(again.status(), 200);
        // The cache opens it for no other browser.
        assert_eq!(get(&server, &path, &[]).await.status(), 410);
    }
    server.delete(launched["sessionId"].as_str().unwrap()).await;
    let after = get(&server, &path, &[("cookie", &pair)]).await;
    assert_eq!(after.status(), 404);
    assert!(!after.text().await.unwrap().contains("launchId"));
}

#[tokio::test]
async fn addresses_that_are_wrong_or_over_say_so_and_give_no_context() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let token = token(&launched);
    let (id, secret) = token.split_once('.').unwrap();
    for wrong in [
        String::new(),
        "x".to_owned(),
        format!("{id}."),
        format!("{id}.{}", "0".repeat(64)),
        format!("l-{}.{secret}", "0".repeat(32)),
    ] {
        let response = get(&server, &format!("/?launch={wrong}"), &[]).await;
        assert_eq!(response.status(), 404, "{wrong}");
        assert!(!response.text().await.unwrap().contains("launchId"));
    }
}

#[tokio::test]
async fn the_host_of_another_app_gets_no_context_and_uses_no_address_up() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = format!("/?launch={}", token(&launched));
    let elsewhere = async |cookie: &str| {
        let host = format!("budget-dashboard.localhost:{}", server.address.port());
        let request = server.http.get(server.url(&path)).header("host", host);
        let response = request.header("cookie", cookie).send().await.unwrap();
        assert_eq!(response.status(), 404);
        assert!(response.headers().get("set-cookie").is_none());
        let message = response.text().await.unwrap();
        assert!(message.contains("Launch not found"), "{message}");
        assert!(!message.contains("launchId"), "{message}");
    };
    elsewhere("").await;
    let first = get(&server, &path, &[]).await;
    assert_eq!(first.status(), 200);
    let cookie = first.headers()["set-cookie"].to_str().unwrap();
    let pair = cookie.split(';').next().unwrap().to_owned();
    // Now it is remembered.
    assert_eq!(
        get(&server, &path, &[("cookie", &pair)]).await.status(),
        200
    );
    elsewhere(&pair).await;
    assert_eq!(
        get(&server, &path, &[("cookie", &pair)]).await.status(),
        200
    );
}

#[tokio::test]
async fn a_launch_that_has_expired_opens_nothing_and_its_channel_neither() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let hub = server.hub();
    let id: LaunchId = launched["launchId"].as_str().unwrap().parse().unwrap();
    let launch = Launch {
        id: LaunchId::new(),
        expires_at: Timestamp::now() - SignedDuration::from_secs(1),
        ..hub.launch(id).await.unwrap()
    };
    let session = hub.open(launch.session).await.unwrap();
    session
        .submit(Command::Launch(Box::new(launch.clone())))
        .await
        .unwrap();
    let url = server
        .service
        .weblets
        .launches
        .new_address(&launch, None)
        .await
        .unwrap();
    let over = json!({ "url": url });
    let response = get(&server, &format!("/?launch={}", token(&over)), &[]).await;
    assert_eq!(response.status(), 410);
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert!(response.headers().get("set-cookie").is_none());
    let message = response.text().await.unwrap();
    assert!(message.contains("This launch has ended"), "{message}");
    assert!(message.contains(&format!("href=\"http://{}/\"", app_host(&server))));
    assert!(!message.contains("launchId"), "{message}");
    let mut refused = WebletSocket::try_page(&server, &over, "").await.unwrap();
    assert_eq!(refused.closed().await.0, 4404, "no page of it was shown");
    let path = format!("/api/launches/{}/open", launch.id);
    let (status, reported) = server.call(Method::POST, &path, Some(json!({}))).await;
    assert_eq!(status, 410, "{reported}");
    assert_eq!(reported["error_code"], "launch_ended");
}

#[tokio::test]
async fn large_data_is_fetched_when_it_is_first_used() {
    let server = TestServer::start().await;
    let notes: Vec<_> = (0..9000)
        .map(|n| format!("note {n} </script><script>"))
        .collect();
    let request = json!({ "agent": "claude", "data": { "notes": notes } });
    let (_, launched) = server
        .call(
            reqwest::Method::POST,
            "/api/apps/notes/launch",
            Some(request),
        )
        .await;
    let page = get(&server, &format!("/?launch={}", token(&launched)), &[]).await;
    let page = page.text().await.unwrap();
    assert!(
        page.contains("dataUrl") && page.len() < 64 << 10,
        "{}",
        page.len()
    );
    let (_, rest) = page.split_once("proof=").unwrap();
    let proof: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    let path = format!("/__gangway/data?launch={}", token(&launched));
    // The URL alone does not suffice.
    assert_eq!(get(&server, &path, &[]).await.status(), 410);
    let data = get(&server, &format!("{path}&proof={proof}"), &[]).await;
    let data: serde_json::Value = data.json().await.unwrap();
    assert_eq!(data["notes"][8999], "note 8999 </script><script>");
}

#[tokio::test]
async fn what_opens_no_page_does_not_use_an_address_up() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let path = format!("/?launch={}", token(&launched));
    let head = server
        .http
        .head(server.url(&path))
        .header("host", app_host(&server))
        .send()
        .await
        .unwrap();
    assert_eq!(head.status(), 200);
    let other = format!("card-game.localhost:{}", server.address.port());
    server
        .http
        .get(server.url(&path))
        .header("host", other)
        .send()
        .await
        .unwrap();
    get(
        &server,
        &format!("/missing.png?launch={}", token(&launched)),
        &[],
    )
    .await;
    let page = get(&server, &path, &[]).await;
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("launchId"));
}
