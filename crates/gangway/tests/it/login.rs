//! Browsers that log in: bound to the origin of their pages, listed, and logged out at once.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::auth::{guarded, status};
use crate::support::{TestServer, socket};

/// Logs a page of this origin in.
async fn login(server: &TestServer, key: &str, origin: &str) -> (StatusCode, Value) {
    let request = server.bare.post(server.url("/api/login"));
    let request = request
        .header("origin", origin)
        .json(&json!({ "key": key }));
    let request = request.header(
        "user-agent",
        "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
    );
    let response = request.send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

async fn logged_in(server: &TestServer, key: &str) -> String {
    let (status, answer) = login(server, key, &server.url("")).await;
    assert_eq!(status, 200, "{answer}");
    answer["token"].as_str().unwrap().to_owned()
}

async fn code(server: &TestServer) -> String {
    let (status, code) = server.post("/api/login/codes", json!({})).await;
    assert_eq!(status, 201);
    let url = code["url"].as_str().unwrap();
    let code = code["code"].as_str().unwrap();
    assert_eq!(url, server.url(&format!("/#login={code}")));
    code.to_owned()
}

async fn sessions(server: &TestServer, token: &str, more: &[(&str, &str)]) -> (u16, String) {
    let bearer = format!("Bearer {token}");
    let headers = [&[("authorization", bearer.as_str())], more].concat();
    let (status, code) = status(server, Method::GET, "/api/sessions", &headers).await;
    (status.as_u16(), code)
}

#[tokio::test]
async fn a_code_logs_one_browser_in_once_for_everything() {
    let server = TestServer::start().await;
    let nobody = status(&server, Method::POST, "/api/login/codes", &[]).await;
    assert_eq!(nobody.0, 401);
    let code = code(&server).await;
    let token = logged_in(&server, &code).await;
    let (again, error) = login(&server, &code, &server.url("")).await;
    assert_eq!(
        (again.as_u16(), &error["error_code"]),
        (401, &json!("invalid_key"))
    );
    let bearer = format!("Bearer {token}");
    let keys = status(
        &server,
        Method::GET,
        "/api/keys",
        &[("authorization", &bearer)],
    )
    .await;
    assert_eq!(keys.0, 200);
}

#[tokio::test]
async fn no_cookie_is_set_and_a_page_of_another_port_cannot_use_the_login() {
    let server = TestServer::start().await;
    let request = server.bare.post(server.url("/api/login"));
    let body = json!({ "key": code(&server).await });
    let request = request.header("origin", server.url("")).json(&body);
    let response = request.send().await.unwrap();
    assert!(response.headers().get("set-cookie").is_none());
    let answer: Value = response.json().await.unwrap();
    let token = answer["token"].as_str().unwrap();
    assert_eq!(sessions(&server, token, &[]).await.0, 200);
    assert_eq!(
        sessions(&server, token, &[("origin", &server.url(""))])
            .await
            .0,
        200
    );
    let port = server.address.port();
    let same_server = format!("http://localhost:{port}");
    assert_eq!(
        sessions(&server, token, &[("origin", &same_server)]).await,
        (401, "login_ended".into())
    );
    let (status, _) = login(&server, &code(&server).await, "http://127.0.0.1:1").await;
    assert_eq!(status, 403, "pages of others do not log in here");
    let cookie = format!("gangway_login={token}");
    let (status, _) = status_with(&server, &cookie).await;
    assert_eq!(status, 401, "a cookie is worth nothing");
}

async fn status_with(server: &TestServer, cookie: &str) -> (StatusCode, String) {
    status(server, Method::GET, "/api/sessions", &[("cookie", cookie)]).await
}

#[tokio::test]
async fn sixty_cookies_of_another_port_lock_nobody_out() {
    let server = TestServer::start().await;
    let cookies: Vec<_> = (0..60)
        .map(|n| format!("c{n}={}", "x".repeat(1000)))
        .collect();
    let cookies = cookies.join("; ");
    let page = server.bare.get(server.url("/")).header("cookie", &cookies);
    assert_eq!(page.send().await.unwrap().status(), 200);
    let list = server.http.get(server.url("/api/sessions"));
    let list = list.header("cookie", &cookies).send().await.unwrap();
    assert_eq!(list.status(), 200);
}

#[tokio::test]
async fn a_logout_closes_what_the_browser_has_open_and_others_stay() {
    let server = TestServer::start().await;
    let one = logged_in(&server, &code(&server).await).await;
    let other = logged_in(&server, &code(&server).await).await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/events");
    let feed = server.bare.get(server.url(&path)).bearer_auth(&one);
    let feed = feed.send().await.unwrap();
    let request = socket(&server.url(&path), &one);
    let (mut open, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let out = server
        .bare
        .post(server.url("/api/logout"))
        .bearer_auth(&one);
    assert_eq!(out.send().await.unwrap().status(), 204);
    assert!(
        feed.text()
            .await
            .unwrap()
            .contains("\"reason\":\"revoked\"")
    );
    let mut closed = None;
    while let Some(Ok(message)) = futures_util::StreamExt::next(&mut open).await {
        if let tokio_tungstenite::tungstenite::Message::Close(Some(frame)) = message {
            closed = Some(u16::from(frame.code));
        }
    }
    assert_eq!(closed, Some(4001));
    assert_eq!(
        sessions(&server, &one, &[]).await,
        (401, "login_ended".into())
    );
    assert_eq!(sessions(&server, &other, &[]).await.0, 200);
}

#[tokio::test]
async fn logins_are_listed_and_ended_one_by_one_or_all_and_survive_a_restart() {
    let server = TestServer::start().await;
    let one = logged_in(&server, &code(&server).await).await;
    let other = logged_in(&server, &code(&server).await).await;
    let list = server.bare.get(server.url("/api/logins")).bearer_auth(&one);
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    let logins = list["logins"].as_array().unwrap();
    assert_eq!(logins.len(), 2);
    let mine = logins
        .iter()
        .find(|login| login["current"] == true)
        .unwrap();
    assert_eq!(mine["browser"], "Firefox on Linux");
    assert_eq!(mine["address"], "127.0.0.1");
    let theirs = logins
        .iter()
        .find(|login| login["current"] == false)
        .unwrap();
    let path = format!("/api/logins/{}", theirs["id"].as_str().unwrap());
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 404);
    assert_eq!(sessions(&server, &other, &[]).await.0, 401);
    let server = server.restart().await;
    assert_eq!(sessions(&server, &one, &[]).await.0, 200);
    assert_eq!(
        server.call(Method::DELETE, "/api/logins", None).await.0,
        204
    );
    assert_eq!(sessions(&server, &one, &[]).await.0, 401);
}

#[tokio::test]
async fn a_key_that_is_revoked_takes_its_logins_with_it_and_gives_no_more_than_it_has() {
    let server = TestServer::start().await;
    let request = json!({ "name": "chat", "scopes": ["chat"] });
    let (_, key) = server.post("/api/keys", request).await;
    let token = logged_in(&server, key["key"].as_str().unwrap()).await;
    assert_eq!(sessions(&server, &token, &[]).await.0, 200);
    let bearer = format!("Bearer {token}");
    let keys = status(
        &server,
        Method::GET,
        "/api/keys",
        &[("authorization", &bearer)],
    )
    .await;
    assert_eq!(keys, (StatusCode::FORBIDDEN, "scope_required".into()));
    let path = format!("/api/keys/{}", key["id"].as_str().unwrap());
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(sessions(&server, &token, &[]).await.0, 401);
}

#[tokio::test]
async fn logins_that_fail_are_slowed_down_and_do_not_lock_out_others() {
    let server = TestServer::start().await;
    let origin = server.url("");
    let mut codes = Vec::new();
    for _ in 0..20 {
        let (status, error) = login(&server, "gw_wrong", &origin).await;
        codes.push((
            status.as_u16(),
            error["error_code"].as_str().unwrap().to_owned(),
        ));
    }
    assert_eq!(codes[0], (401, "invalid_key".to_owned()));
    assert_eq!(codes[19], (429, "rate_limited".to_owned()));
    logged_in(&server, &code(&server).await).await;
}

#[tokio::test]
async fn programs_do_not_log_in() {
    let (server, key) = guarded().await;
    let request = server.bare.post(server.url("/api/login"));
    let response = request.json(&json!({ "key": key })).send().await.unwrap();
    assert_eq!(response.status(), 400);
}

#[tokio::test]
async fn what_came_through_a_proxy_is_refused_unless_its_host_is_named() {
    let near = TestServer::start().await;
    let (named, key) = guarded().await;
    let bearer = format!("Bearer {key}");
    for mark in ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host"] {
        for path in ["/api/sessions", "/metrics"] {
            assert_eq!(
                status(&near, Method::GET, path, &[(mark, "somewhere")]).await,
                (StatusCode::FORBIDDEN, "proxy_not_configured".into())
            );
        }
        let headers = [(mark, "somewhere"), ("authorization", bearer.as_str())];
        let answer = status(&named, Method::GET, "/api/sessions", &headers).await;
        assert_eq!(answer.0, 200);
    }
}
