//! What MCP servers want from the person: answers, and a log-in.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use gangway_secrets::SecretName;
use gangway_testing::{eventually, server::bare_client};
use serde_json::{Value, json};

use crate::server::{TestServer, with_everything};

async fn open_question(server: &TestServer) -> Value {
    eventually(|| async {
        let (_, list) = server.get("/api/asks").await;
        list["asks"].get(0).cloned()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_a_real_server_is_shown_checked_and_answered() {
    let server = with_everything().await;
    let call = json!({ "tool": "everything/trigger-elicitation-request", "args": {} });
    let calling = async { server.post("/api/tools/call", call.clone()).await };
    let answering = async {
        let question = open_question(&server).await;
        assert_eq!(
            question["asker"],
            json!({ "kind": "server", "id": "everything" })
        );
        assert!(question["request"]["schema"]["properties"]["name"].is_object());
        let path = format!("/api/asks/{}", question["id"].as_str().unwrap());
        let wrong = json!({ "decision": "once", "content": { "name": 7 } });
        let (status, message) = server.post(&path, wrong).await;
        assert_eq!(status, 400);
        assert!(
            message["message"].as_str().unwrap().contains("/name"),
            "{message}"
        );
        let right = json!({ "decision": "once", "content": { "name": "Ada", "check": true } });
        assert_eq!(server.post(&path, right.clone()).await.0, 204);
        let (status, message) = server.post(&path, right).await;
        assert_eq!(
            (status.as_u16(), &message["error_code"]),
            (404, &json!("ask_not_found"))
        );
    };
    let ((status, answer), ()) = tokio::join!(calling, answering);
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"].to_string().contains("Ada"), "{answer}");

    let calling = async { server.post("/api/tools/call", call).await };
    let declining = async {
        let question = open_question(&server).await;
        let path = format!("/api/asks/{}", question["id"].as_str().unwrap());
        assert_eq!(
            server.post(&path, json!({ "decision": "deny" })).await.0,
            204
        );
    };
    let ((_, answer), ()) = tokio::join!(calling, declining);
    assert!(answer.to_string().contains("declined"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_goes_when_no_caller_waits_for_its_answer() {
    let server = with_everything().await;
    let name = "everything/trigger-elicitation-request".parse().unwrap();
    let call = server
        .service
        .tools
        .host
        .call("test", &name, json!({}), None);
    let asked = tokio::select! {
        _ = call => panic!("it did not ask"),
        asked = open_question(&server) => asked,
    };
    assert!(asked["request"]["message"].is_string());
    // The server of the tool goes, and its question with it.
    server.service.tools.host.shutdown().await;
    eventually(|| async {
        let (_, list) = server.get("/api/asks").await;
        list["asks"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
}

/// An MCP server that wants a log-in, and the place where one logs in, in one.
async fn guarded() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base: Arc<str> = format!("http://{}", listener.local_addr().unwrap()).into();
    let about = |State(base): State<Arc<str>>| async move {
        axum::Json(json!({ "resource": format!("{base}/mcp"), "authorization_servers": [&*base] }))
    };
    let places = |State(base): State<Arc<str>>| async move {
        axum::Json(json!({
            "issuer": &*base, "authorization_endpoint": format!("{base}/login"),
            "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        }))
    };
    let register = |axum::Json(request): axum::Json<Value>| async move {
        let client = json!({ "client_id": "us", "redirect_uris": request["redirect_uris"] });
        (StatusCode::CREATED, axum::Json(client))
    };
    let token = |request: String| async move {
        match request.split('&').any(|pair| pair == "code=good") {
            true => axum::Json(json!({
                "access_token": "sesame-token", "token_type": "Bearer", "expires_in": 3600,
            }))
            .into_response(),
            false => (
                StatusCode::BAD_REQUEST,
                axum::Json(json!({ "error": "invalid_grant" })),
            )
                .into_response(),
        }
    };
    let app = Router::new()
        .route("/about", get(about))
        .route("/.well-known/oauth-authorization-server", get(places))
        .route("/register", post(register))
        .route("/token", post(token))
        .route("/mcp", post(behind))
        .with_state(Arc::clone(&base));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    base.to_string()
}

async fn behind(
    State(base): State<Arc<str>>,
    headers: HeaderMap,
    axum::Json(request): axum::Json<Value>,
) -> Response {
    if headers
        .get(header::AUTHORIZATION)
        .is_none_or(|v| v != "Bearer sesame-token")
    {
        let wanted = format!("Bearer resource_metadata=\"{base}/about\"");
        return (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, wanted)],
        )
            .into_response();
    }
    let result = match request["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "guarded", "version": "1" },
        }),
        Some("tools/list") => {
            json!({ "tools": [{ "name": "open", "inputSchema": { "type": "object" } }] })
        }
        Some("server/discover") => {
            let error = json!({ "code": -32601, "message": "unknown" });
            return axum::Json(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
                .into_response();
        }
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    axum::Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).into_response()
}

async fn state(server: &TestServer) -> String {
    let (_, list) = server.get("/api/mcp/servers").await;
    list["servers"][0]["state"].as_str().unwrap().to_owned()
}

async fn becomes(server: &TestServer, wanted: &str) {
    eventually(|| async { (state(server).await == wanted).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_logs_in_at_a_server_comes_back_and_logs_out_again() {
    let base = guarded().await;
    let entry = serde_json::from_value(json!({ "url": format!("{base}/mcp") })).unwrap();
    let server = TestServer::with(|config| {
        config.mcp_servers.insert("guarded".into(), entry);
    })
    .await;
    becomes(&server, "unauthorized").await;
    let change = |path: &str| {
        let request = server
            .http
            .post(server.url(path))
            .bearer_auth("local-token");
        async move { request.send().await.unwrap() }
    };
    let begun: Value = change("/api/mcp/servers/guarded/login")
        .await
        .json()
        .await
        .unwrap();
    let page = reqwest::Url::parse(begun["url"].as_str().unwrap()).unwrap();
    assert!(page.as_str().starts_with(&format!("{base}/login?")));
    let message: std::collections::HashMap<_, _> = page.query_pairs().into_owned().collect();
    assert_eq!(message["redirect_uri"], server.url("/oauth/callback"));
    assert_eq!(message["code_challenge_method"], "S256");

    let back = |query: String| {
        let request = server
            .http
            .get(server.url(&format!("/oauth/callback?{query}")));
        // A browser comes from the page of another site.
        let request = request.header("sec-fetch-site", "cross-site");
        async move { request.send().await.unwrap() }
    };
    for wrong in ["code=good&state=other", "state=<script>", ""] {
        let response = back(wrong.to_owned()).await;
        assert_eq!(response.status(), 400);
        let text = response.text().await.unwrap();
        assert!(
            text.contains("Login failed") && !text.contains("<script>"),
            "{text}"
        );
    }
    assert_eq!(state(&server).await, "unauthorized");
    let (_, list) = server.get("/api/mcp/servers").await;
    assert_eq!(list["servers"][0]["loggedIn"], false);
    let response = back(format!("code=good&state={}", message["state"])).await;
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    becomes(&server, "ready").await;
    let (_, list) = server.get("/api/mcp/servers").await;
    let guarded = &list["servers"][0];
    assert_eq!(
        (&guarded["loggedIn"], &guarded["wantsMore"]),
        (&json!(true), &json!(false))
    );
    // What it gave is kept with the secrets, and works after a restart.
    let name = SecretName::parse("mcp-login-guarded").unwrap();
    assert!(server.service.secrets.get(&name).unwrap().is_some());
    let server = server.restart().await;
    becomes(&server, "ready").await;
    let out = server
        .http
        .post(server.url("/api/mcp/servers/guarded/logout"));
    let out = out.bearer_auth("local-token").send().await.unwrap();
    assert_eq!(out.status(), 204);
    becomes(&server, "unauthorized").await;
    let path = server.url("/api/mcp/servers/guarded/login");
    assert_eq!(bare_client().post(path).send().await.unwrap().status(), 401);
}
