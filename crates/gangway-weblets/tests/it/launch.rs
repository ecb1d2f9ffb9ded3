//! Launching an app over REST.

use gangway_core::Command;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::weblets_client::launch;

#[tokio::test]
async fn a_launch_answers_where_the_app_is_and_until_when() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let url = launched["url"].as_str().unwrap();
    let port = server.address.port();
    assert!(
        url.starts_with(&format!("http://notes.localhost:{port}/?launch=l-")),
        "{url}"
    );
    let path = format!("/api/launches/{}", launched["launchId"].as_str().unwrap());
    let (status, shown) = server.call(Method::GET, &path, None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(shown["app"], "notes");
    assert_eq!(shown["agent"], "claude");
    assert_eq!(
        (&shown["open"], &shown["attached"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(shown["expiresAt"], launched["expiresAt"]);
}

#[tokio::test]
async fn a_chat_that_begins_with_a_launch_has_the_name_of_the_app() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let request = json!({ "session": session, "data": { "notes": [] } });
    let launch = async || {
        let request = Some(request.clone());
        let (status, message) = server
            .call(Method::POST, "/api/apps/notes/launch", request)
            .await;
        assert_eq!(status, StatusCode::CREATED, "{message}");
    };
    launch().await;
    let title = async || server.open(&session).await.profile().unwrap().title;
    assert_eq!(title().await.as_deref(), Some("My notes"));
    // A name that it has stays.
    let named = Command::Change {
        title: Some("Shopping".into()),
        model: None,
        agent: None,
    };
    server.open(&session).await.submit(named).await.unwrap();
    launch().await;
    assert_eq!(title().await.as_deref(), Some("Shopping"));
}

#[tokio::test]
async fn what_an_app_is_given_is_checked_and_all_that_is_wrong_is_listed() {
    let server = TestServer::start().await;
    let request = json!({ "data": { "day": "yesterday" }, "config": { "theme": "pink" } });
    let (status, error) = server
        .call(Method::POST, "/api/apps/notes/launch", Some(request))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error_code"], "invalid_context");
    let message = error["message"].as_str().unwrap();
    for place in ["data.notes", "data.day", "config.theme"] {
        assert!(message.contains(place), "{message}");
    }
    let large = json!({ "data": { "notes": ["x".repeat(1_100_000)] } });
    let (status, error) = server
        .call(Method::POST, "/api/apps/notes/launch", Some(large))
        .await;
    assert_eq!(
        (status, &error["error_code"]),
        (StatusCode::PAYLOAD_TOO_LARGE, &json!("context_too_large"))
    );
}

#[tokio::test]
async fn invalid_requests_get_specific_errors() {
    let server = TestServer::start().await;
    let good = json!({ "data": { "notes": [] } });
    let merged = |more: Value| {
        let mut request = good.clone();
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        request
    };
    for (path, request, status, code) in [
        (
            "/api/apps/nothing/launch",
            good.clone(),
            404,
            "app_not_found",
        ),
        ("/api/apps/..%2f/launch", good.clone(), 404, "app_not_found"),
        (
            "/api/apps/notes/launch",
            merged(json!({ "session": "x" })),
            404,
            "session_not_found",
        ),
        (
            "/api/apps/notes/launch",
            merged(json!({ "agent": { "name": "a", "version": "one" } })),
            400,
            "invalid_request",
        ),
        (
            "/api/apps/notes/launch",
            merged(json!({ "agent": "" })),
            400,
            "invalid_request",
        ),
        (
            "/api/apps/notes/launch",
            merged(json!({ "embedOrigin": "shop.example" })),
            400,
            "invalid_request",
        ),
        (
            "/api/apps/notes/launch",
            merged(json!({ "other": 1 })),
            400,
            "invalid_request",
        ),
    ] {
        let (found, error) = server.call(Method::POST, path, Some(request.clone())).await;
        assert_eq!(found.as_u16(), status, "{path} {request} {error}");
        assert_eq!(error["error_code"], code, "{path} {request} {error}");
    }
    for path in [
        "/api/launches/x",
        "/api/launches/l-00000000000000000000000000000000",
    ] {
        let (status, error) = server.call(Method::GET, path, None).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (404, &json!("launch_not_found"))
        );
    }
}

#[tokio::test]
async fn a_launch_goes_with_its_session() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    server.delete(launched["sessionId"].as_str().unwrap()).await;
    let path = format!("/api/launches/{}", launched["launchId"].as_str().unwrap());
    let (status, _) = server.call(Method::GET, &path, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn apps_are_listed_with_where_they_are_and_what_is_wrong_with_them() {
    let server = TestServer::start().await;
    let (_, list) = server.call(Method::GET, "/api/apps", None).await;
    let apps = list["apps"].as_array().unwrap();
    let notes = apps.iter().find(|app| app["name"] == "notes").unwrap();
    assert_eq!(
        notes["url"],
        format!("http://notes.localhost:{}/", server.address.port())
    );
    assert_eq!(notes["problems"], json!([]));
    let (_, found) = server
        .call(Method::GET, "/api/apps?query=keep%20a%20note", None)
        .await;
    assert_eq!(found["apps"][0]["name"], "notes");
    let (_, shown) = server.call(Method::GET, "/api/apps/notes", None).await;
    assert_eq!(shown["context"]["data"]["notes"]["required"], true);
    assert_eq!(shown["grants"], json!([]));
}

#[tokio::test]
async fn launching_needs_a_key_wherever_the_rest_of_the_api_does() {
    let folder_key =
        TestServer::with(|config| config.allowed_origins = vec!["https://a.example".into()]).await;
    let response = folder_key
        .http
        .post(folder_key.url("/api/apps/notes/launch"))
        .header("origin", "https://evil.example")
        .json(&json!({ "data": { "notes": [] } }))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 403);
}
