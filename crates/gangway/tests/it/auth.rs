//! API keys, their scopes, and who may come in.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::support::TestServer;
use gangway::config::Authentication;

/// A server that is reached under a public name, so that keys are required; the key `key` works.
pub async fn guarded() -> (TestServer, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = gangway_core::Store::open(folder.path()).unwrap();
    let key = gangway_http::auth::Keys::load(store.clone())
        .await
        .unwrap()
        .create(
            &"test".parse().unwrap(),
            vec![gangway_http::auth::KeyScope::Admin],
            None,
        )
        .await
        .unwrap()
        .key;
    let config = gangway::config::Config {
        hosts: vec!["chat.example".into()],
        default_agent: "demo".into(),
        ..Default::default()
    };
    (
        TestServer::on(folder, config, Default::default(), store).await,
        key,
    )
}

pub async fn status(
    server: &TestServer,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
) -> (StatusCode, String) {
    let mut request = server.bare.request(method.clone(), server.url(path));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if method == Method::POST {
        request = request.json(&json!({}));
    }
    let response = request.send().await.unwrap();
    let status = response.status();
    let error: serde_json::Value =
        serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default();
    (
        status,
        error["error_code"]
            .as_str()
            .or(error["error"]["code"].as_str())
            .unwrap_or_default()
            .to_owned(),
    )
}

#[tokio::test]
async fn a_server_with_a_public_name_wants_a_key_for_everything_but_its_pages() {
    let (server, key) = guarded().await;
    assert_eq!(
        status(&server, Method::GET, "/api/sessions", &[]).await,
        (StatusCode::UNAUTHORIZED, "missing_key".into())
    );
    assert_eq!(status(&server, Method::GET, "/metrics", &[]).await.0, 401);
    let bearer = format!("Bearer {key}");
    assert_eq!(
        status(
            &server,
            Method::GET,
            "/api/sessions",
            &[("authorization", &bearer)]
        )
        .await
        .0,
        200
    );
    assert_eq!(
        status(
            &server,
            Method::POST,
            "/api/sessions",
            &[("authorization", &bearer)]
        )
        .await
        .0,
        201
    );
    for wrong in ["Bearer gw_wrong", "Bearer ", "Basic abc", &key] {
        assert_eq!(
            status(
                &server,
                Method::GET,
                "/api/sessions",
                &[("authorization", wrong)]
            )
            .await
            .1,
            "invalid_key",
            "{wrong}"
        );
    }
    for open in ["/", "/healthz", "/readyz", "/api/docs", "/api/openapi.json"] {
        assert_eq!(
            status(&server, Method::GET, open, &[]).await.0,
            200,
            "{open}"
        );
    }
}

#[tokio::test]
async fn a_revoked_key_stops_working_at_once() {
    let (server, key) = guarded().await;
    let bearer = format!("Bearer {key}");
    let auth = [("authorization", bearer.as_str())];
    let keys = server
        .http
        .get(server.url("/api/keys"))
        .header("authorization", &bearer)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(!keys.contains(&key), "a list never shows a key");
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    let id = keys["keys"][0]["id"].as_str().unwrap();
    assert_eq!(
        status(&server, Method::DELETE, &format!("/api/keys/{id}"), &auth)
            .await
            .0,
        204
    );
    assert_eq!(
        status(&server, Method::GET, "/api/sessions", &auth).await.1,
        "invalid_key"
    );
}

#[tokio::test]
async fn a_key_is_stored_only_as_a_hash() {
    let (server, key) = guarded().await;
    let secret = key.trim_start_matches("gw_").as_bytes();
    for entry in std::fs::read_dir(server.data()).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret),
            "{:?}",
            entry.path()
        );
    }
}

#[tokio::test]
async fn a_wrong_key_is_refused_even_where_authentication_is_off() {
    let open = Authentication::OpenToThisMachine;
    let server = TestServer::with(|config| config.authentication = open).await;
    assert_eq!(
        status(&server, Method::GET, "/api/sessions", &[]).await.0,
        200
    );
    assert_eq!(
        status(
            &server,
            Method::GET,
            "/api/sessions",
            &[("authorization", "Bearer x")]
        )
        .await
        .1,
        "invalid_key"
    );
}

#[tokio::test]
async fn an_allowed_origin_may_read_answers_and_no_other_may() {
    let server =
        TestServer::with(|config| config.allowed_origins = vec!["https://tools.example".into()])
            .await;
    let url = server.url("/api/sessions");
    let response = server
        .http
        .get(&url)
        .header("origin", "https://tools.example")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (
            response.status().as_u16(),
            response.headers()["access-control-allow-origin"]
                .to_str()
                .unwrap()
        ),
        (200, "https://tools.example")
    );
    let preflight = server
        .http
        .request(Method::OPTIONS, &url)
        .header("origin", "https://tools.example")
        .header("access-control-request-method", "POST")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    assert!(
        preflight.headers()["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("content-type")
    );
    let other = server
        .http
        .get(&url)
        .header("origin", "https://evil.example")
        .send()
        .await
        .unwrap();
    assert_eq!(other.status(), 403);
    assert!(other.headers().get("access-control-allow-origin").is_none());
}

#[tokio::test]
async fn a_revoked_key_ends_the_feeds_it_opened() {
    let (server, key) = guarded().await;
    let bearer = format!("Bearer {key}");
    let http = || server.http.post(server.url("/api/sessions"));
    let made = http()
        .header("authorization", &bearer)
        .json(&json!({}))
        .send()
        .await
        .unwrap();
    let made: serde_json::Value = made.json().await.unwrap();
    let path = format!(
        "/api/sessions/{}/events",
        made["sessionId"].as_str().unwrap()
    );
    let feed = server
        .http
        .get(server.url(&path))
        .header("authorization", &bearer);
    let feed = feed.send().await.unwrap();
    let socket = server.url(&path).replace("http:", "ws:");
    let mut request =
        tokio_tungstenite::tungstenite::client::IntoClientRequest::into_client_request(socket)
            .unwrap();
    request
        .headers_mut()
        .insert("authorization", bearer.parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let id = server.app.http.keys.list()[0].id.clone();
    assert!(server.app.http.keys.revoke(&id).await.unwrap());
    assert!(
        feed.text()
            .await
            .unwrap()
            .contains("\"reason\":\"revoked\"")
    );
    let mut closed = None;
    while let Some(Ok(message)) = futures_util::StreamExt::next(&mut socket).await {
        if let tokio_tungstenite::tungstenite::Message::Close(Some(frame)) = message {
            closed = Some(u16::from(frame.code));
        }
    }
    assert_eq!(closed, Some(4001));
}

#[tokio::test]
async fn unauthenticated_requests_have_a_small_limit() {
    let (server, _) = guarded().await;
    let body = json!({ "key": "x".repeat(5000) });
    let (status, error) = server.post("/api/login", body).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (413, &json!("body_too_large"))
    );
}
