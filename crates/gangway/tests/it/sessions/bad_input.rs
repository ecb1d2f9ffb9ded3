//! What the door says to input that does not fit.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::TestServer;

/// Sends a body as it is and gives back status and error code, having checked the envelope.
async fn refused(
    server: &TestServer,
    method: Method,
    path: &str,
    body: impl Into<reqwest::Body>,
) -> (u16, String) {
    let request = server
        .http
        .request(method, server.url(path))
        .header(header::CONTENT_TYPE, "application/json")
        .body(body);
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let error: Value = response.json().await.unwrap();
    assert_eq!(error["status"], status, "{error}");
    assert!(
        error["message"].as_str().is_some_and(|m| !m.is_empty()) && error["retryable"].is_boolean(),
        "{error}"
    );
    (status, error["error_code"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_body_that_does_not_fit_is_refused_with_what_is_wrong() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let messages = format!("/api/sessions/{session}/messages");
    let cases: [(&str, Vec<u8>, u16, &str); 12] = [
        (&messages, b"{".to_vec(), 400, "malformed_json"),
        (&messages, b"".to_vec(), 400, "malformed_json"),
        (&messages, b"{} x".to_vec(), 400, "invalid_request"),
        (
            &messages,
            b"{\"prompt\": \"\xff\xfe\"}".to_vec(),
            400,
            "malformed_json",
        ),
        (&messages, b"[1]".to_vec(), 400, "invalid_request"),
        (
            &messages,
            b"{\"prompt\": 7}".to_vec(),
            400,
            "invalid_request",
        ),
        (&messages, b"{}".to_vec(), 400, "invalid_request"),
        (
            &messages,
            b"{\"prompt\": \"  \"}".to_vec(),
            400,
            "invalid_request",
        ),
        (
            &messages,
            b"{\"prompt\": \"x\", \"extra\": 1}".to_vec(),
            400,
            "invalid_request",
        ),
        (
            &messages,
            b"{\"prompt\": \"x\", \"whenBusy\": \"maybe\"}".to_vec(),
            400,
            "invalid_request",
        ),
        (
            "/api/sessions",
            b"{\"title\": \"a\\nb\"}".to_vec(),
            400,
            "invalid_request",
        ),
        (
            "/api/sessions",
            b"{\"agent\": \"nobody\"}".to_vec(),
            400,
            "agent_not_found",
        ),
    ];
    for (path, body, status, code) in cases {
        let shown = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(
            refused(&server, Method::POST, path, body).await,
            (status, code.to_owned()),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn an_unknown_field_is_named_with_its_place() {
    let server = TestServer::start().await;
    let (_, error) = server.post("/api/sessions", json!({ "tittle": "x" })).await;
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`tittle`") && message.contains("line 1"),
        "{message}"
    );
}

#[tokio::test]
async fn unknown_and_malformed_ids_are_not_found() {
    let server = TestServer::start().await;
    for id in [
        "01a1ddec-0d83-7088-92bb-e43a6be77561",
        "x",
        "..%2f..%2fetc",
        "%ff",
        "01A1DDEC0D83708892BBE43A6BE77561",
    ] {
        assert_eq!(
            server.get(&format!("/api/sessions/{id}")).await.0,
            404,
            "{id}"
        );
        assert_eq!(
            refused(
                &server,
                Method::POST,
                &format!("/api/sessions/{id}/messages"),
                r#"{"prompt":"x"}"#
            )
            .await
            .0,
            404,
            "{id}"
        );
    }
}

#[tokio::test]
async fn an_address_or_method_that_is_nothing_is_reported_in_the_error_envelope() {
    let server = TestServer::start().await;
    let (status, error) = server.get("/api/nothing").await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (404, &json!("not_found"))
    );
    let (status, error) = server.call(Method::PUT, "/api/sessions", None).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (405, &json!("method_not_allowed"))
    );
}

#[tokio::test]
async fn a_query_that_does_not_fit_is_refused() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for path in [
        "/api/sessions?limit=0".to_owned(),
        "/api/sessions?limit=many".into(),
        "/api/sessions?before=x".into(),
        "/api/history".into(),
        format!("/api/history?session={session}&limit=99999"),
        format!("/api/history?session={session}&before=-1"),
    ] {
        let (status, error) = server.get(&path).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (400, &json!("invalid_request")),
            "{path}"
        );
    }
}
