//! Pages that log in, and what comes through a proxy.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::{
    auth::{guarded, status},
    support::TestServer,
};

/// Logs in from a page of this origin; the whole cookie.
async fn login(server: &TestServer, key: &str, origin: Option<&str>) -> String {
    let mut request = server
        .http
        .post(server.url("/api/login"))
        .json(&json!({ "key": key }));
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 204);
    response.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .to_owned()
}

/// What a page with this cookie gets.
async fn with_cookie(server: &TestServer, cookie: &str) -> (StatusCode, String) {
    let cookie = cookie.split(';').next().unwrap();
    status(server, Method::GET, "/api/sessions", &[("cookie", cookie)]).await
}

#[tokio::test]
async fn a_cookie_holds_no_key_and_is_bound_to_tls_where_the_page_was() {
    let (server, key) = guarded().await;
    let plain = login(&server, &key, None).await;
    assert!(!plain.contains(key.trim_start_matches("gw_")), "{plain}");
    assert!(!plain.contains("Secure"), "{plain}");
    let secure = login(&server, &key, Some("https://chat.example")).await;
    assert!(secure.ends_with("; Secure"), "{secure}");
    for cookie in [&plain, &secure] {
        assert_eq!(with_cookie(&server, cookie).await.0, 200);
    }
    let forged = format!("gangway_login={key}");
    let answer = with_cookie(&server, &forged).await;
    assert_eq!(answer, (StatusCode::UNAUTHORIZED, "login_ended".into()));
}

#[tokio::test]
async fn a_key_that_is_revoked_takes_its_logins_with_it() {
    let (server, key) = guarded().await;
    let cookie = login(&server, &key, None).await;
    let id = server.app.keys.list()[0].id.clone();
    assert!(server.app.keys.revoke(&id).await.unwrap());
    assert_eq!(with_cookie(&server, &cookie).await.1, "login_ended");
}

#[tokio::test]
async fn a_page_that_logs_out_needs_a_key_again_and_others_stay() {
    let (server, key) = guarded().await;
    let (one, other) = (
        login(&server, &key, None).await,
        login(&server, &key, None).await,
    );
    let out = server
        .http
        .post(server.url("/api/logout"))
        .header("cookie", one.split(';').next().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(out.status(), 204);
    assert_eq!(with_cookie(&server, &one).await.1, "login_ended");
    assert_eq!(with_cookie(&server, &other).await.0, 200);
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

#[tokio::test]
async fn a_code_of_a_command_logs_one_page_in_once_and_opens_what_needs_a_key_even_here() {
    let server = TestServer::start().await;
    let made = || {
        let request = server.http.post(server.url("/api/login/codes"));
        async {
            request
                .bearer_auth("local-token")
                .json(&())
                .send()
                .await
                .unwrap()
        }
    };
    let (answer, _) = server.post("/api/login/codes", json!({})).await;
    assert_eq!(
        answer, 401,
        "whoever asks for a code shows more than that it is near"
    );
    let code: serde_json::Value = made().await.json().await.unwrap();
    let (code, url) = (
        code["code"].as_str().unwrap(),
        code["url"].as_str().unwrap(),
    );
    assert_eq!(url, server.url(&format!("/#login={code}")));
    let origin = server.url("");
    let cookie = login(&server, code, Some(&origin)).await;
    let again = server.post("/api/login", json!({ "key": code })).await;
    assert_eq!(
        (again.0.as_u16(), &again.1["error_code"]),
        (401, &json!("invalid_key"))
    );
    let cookie = cookie.split(';').next().unwrap();
    let page = [("cookie", cookie), ("origin", origin.as_str())];
    let keys = status(&server, Method::GET, "/api/keys", &page).await;
    assert_eq!(keys.0, 200);
    let nobody = status(&server, Method::GET, "/api/keys", &[]).await;
    assert_eq!(nobody.0, 401);
    let stop = status(&server, Method::POST, "/api/mcp/servers/none/stop", &page).await;
    assert_eq!(stop, (StatusCode::NOT_FOUND, "server_not_found".into()));
    let bare = status(
        &server,
        Method::POST,
        "/api/mcp/servers/none/stop",
        &page[..1],
    )
    .await;
    assert_eq!(bare, (StatusCode::FORBIDDEN, "origin_required".into()));
}
