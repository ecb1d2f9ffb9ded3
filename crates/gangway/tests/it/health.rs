//! Health, metrics, the API document and the pages.

use crate::support::TestServer;

#[tokio::test]
async fn a_running_server_is_alive_and_ready() {
    let server = TestServer::start().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.get(path).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn metrics_count_answers_by_route_and_never_name_a_session() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "code").await;
    let (_, text) = server.get("/metrics").await;
    let text = text.as_str().unwrap();
    assert!(
        text.contains(
            "gangway_http_requests_total{method=\"POST\",route=\"/api/sessions\",status=\"201\"} 1"
        ),
        "{text}"
    );
    assert!(
        text.contains("gangway_sessions_awake 1") && text.ends_with("# EOF\n"),
        "{text}"
    );
    assert!(!text.contains(&session), "{text}");
}

#[tokio::test]
async fn methods_that_a_client_makes_up_are_counted_as_one() {
    let server = TestServer::start().await;
    for n in 0..5 {
        let method = reqwest::Method::from_bytes(format!("FOO{n}").as_bytes()).unwrap();
        server.call(method, "/api/sessions", None).await;
    }
    let (_, text) = server.get("/metrics").await;
    let text = text.as_str().unwrap();
    assert!(
        text.contains(
            "gangway_http_requests_total{method=\"other\",route=\"/api/sessions\",status=\"405\"} 5"
        ) && !text.contains("FOO"),
        "{text}"
    );
}

#[tokio::test]
async fn the_api_document_and_its_page_are_served() {
    let server = TestServer::start().await;
    let (status, document) = server.get("/api/openapi.json").await;
    assert_eq!(status, 200);
    assert!(document["paths"]["/api/sessions/{id}/messages"]["post"].is_object());
    let (_, page) = server.get("/api/docs").await;
    assert!(
        page.as_str()
            .unwrap()
            .contains("/api/sessions/{id}/messages")
    );
}

#[tokio::test]
async fn every_page_comes_with_a_strict_policy() {
    let server = TestServer::start().await;
    for path in [
        "/",
        "/sessions/x",
        "/replay/x",
        "/api/docs",
        "/api/sessions",
        "/nothing",
    ] {
        let response = server.http.get(server.url(path)).send().await.unwrap();
        let headers = response.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'none'")
                && policy.contains("frame-ancestors 'none'")
                && !policy.contains("unsafe"),
            "{path}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_take_connections_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = gangway_core::Store::open(folder.path()).unwrap();
    let mut config = gangway::config::Config::default();
    // More than a semaphore can count: the task that takes connections panics.
    config.limits.connections = usize::MAX;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let model = gangway_providers::ModelAccess::default();
    let server = gangway::server::Server::new(config, folder.path(), store, model, address, "t")
        .await
        .unwrap();
    let ended = server.listen(listener, std::future::pending()).await;
    assert!(ended.unwrap_err().to_string().contains("accept loop"));
}
