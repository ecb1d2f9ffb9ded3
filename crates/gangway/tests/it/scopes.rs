//! What needs which scope, on loopback too.

use gangway_http::access::{Access, Rate, STARTS};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::auth::status;
use crate::support::TestServer;

#[tokio::test]
async fn on_loopback_too_nothing_but_what_is_public_is_there_without_a_login_or_a_key() {
    let server = TestServer::start().await;
    let own = server.url("");
    let rules = gangway::server::rules();
    let mut checked = 0;
    for (path, method, rule) in rules.all() {
        let Access::Scope(_) = rule.access else {
            continue;
        };
        let path = path.replace("{*", "{").replace(['{', '}'], "");
        // A page of ours, a program, and another page of this machine.
        for origin in [Some(own.as_str()), None] {
            let headers: Vec<_> = origin
                .map(|origin| ("origin", origin))
                .into_iter()
                .collect();
            let (status, code) = status(&server, method.clone(), &path, &headers).await;
            let expected = match rule.embeds {
                true => "missing_token",
                false => "missing_key",
            };
            assert_eq!(
                (status.as_u16(), code.as_str()),
                (401, expected),
                "{method} {path}"
            );
        }
        checked += 1;
    }
    assert!(checked > 90, "{checked}");
    for door in ["/mcp", "/mcp/memory"] {
        assert_eq!(
            status(&server, Method::POST, door, &[]).await.0,
            401,
            "{door}"
        );
    }
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say_and_nothing_else() {
    let server = TestServer::start().await;
    let routes = [
        ("chat", "/api/sessions"),
        ("models", "/v1/models"),
        ("tools", "/api/tools"),
        ("agents", "/api/remote_agents"),
        ("relay", "/api/relay"),
        ("apps", "/api/apps"),
        ("metrics", "/metrics"),
        ("admin", "/api/keys"),
    ];
    for (scope, _) in routes {
        let request = json!({ "name": scope, "scopes": [scope] });
        let (_, key) = server.post("/api/keys", request).await;
        let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
        for (needed, path) in routes {
            let (status, code) =
                status(&server, Method::GET, path, &[("authorization", &bearer)]).await;
            if scope == needed || scope == "admin" {
                assert_eq!(status, 200, "{scope} {path} {code}");
            } else {
                assert_eq!((status.as_u16(), code.as_str()), (403, "scope_required"));
            }
        }
    }
    for wrong in [json!([]), json!(["root"]), json!(["tools:"]), json!("chat")] {
        let request = json!({ "name": "x", "scopes": wrong });
        assert_eq!(server.post("/api/keys", request).await.0, 400);
    }
}

#[tokio::test]
async fn a_key_expires_and_ends_what_it_opened() {
    let server = TestServer::start().await;
    let request = json!({ "name": "short", "scopes": ["chat"], "expiresIn": 1 });
    let (_, key) = server.post("/api/keys", request).await;
    let key = key["key"].as_str().unwrap();
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/events");
    let feed = server.bare.get(server.url(&path)).bearer_auth(key);
    let feed = feed.send().await.unwrap();
    assert_eq!(feed.status(), 200);
    let text = feed.text().await.unwrap();
    assert!(text.contains("\"reason\":\"revoked\""), "{text}");
    let bearer = format!("Bearer {key}");
    let late = status(
        &server,
        Method::GET,
        "/api/sessions",
        &[("authorization", &bearer)],
    )
    .await;
    assert_eq!(late, (StatusCode::UNAUTHORIZED, "invalid_key".into()));
}

#[tokio::test]
async fn a_session_in_a_folder_of_ones_choice_needs_admin_and_never_reaches_the_data_folder() {
    let server = TestServer::start().await;
    let body = json!({ "name": "chat", "scopes": ["chat"] });
    let (_, key) = server.post("/api/keys", body).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let body = json!({ "cwd": elsewhere.path() });
    let request = server.bare.post(server.url("/api/sessions")).json(&body);
    let request = request.bearer_auth(key["key"].as_str().unwrap());
    assert_eq!(request.send().await.unwrap().status(), 403);
    assert_eq!(server.post("/api/sessions", body).await.0, 201);
    let data = server.data();
    for folder in [
        data.as_path(),
        &data.join("workspaces"),
        data.parent().unwrap(),
    ] {
        let (status, error) = server.post("/api/sessions", json!({ "cwd": folder })).await;
        let code = &error["error_code"];
        assert!(
            status == 400 && *code != json!(null),
            "{} {error}",
            folder.display()
        );
    }
}

#[tokio::test]
async fn a_client_that_only_takes_a_url_puts_its_key_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let request = json!({ "name": "url", "scopes": ["chat"] });
    let (_, key) = server.post("/api/keys", request).await;
    let key = key["key"].as_str().unwrap();
    let open = async |token: &str| {
        let path = format!("/ws/applet?session={session}&token={token}");
        let url = server.url(&path).replacen("http", "ws", 1);
        tokio_tungstenite::connect_async(url).await.is_ok()
    };
    assert!(open(key).await);
    assert!(!open("").await && !open("gw_wrong").await);
    // Where a header can be sent, a URL is no place for a key.
    let path = format!("/api/sessions?token={key}");
    assert_eq!(status(&server, Method::GET, &path, &[]).await.0, 401);
}

#[test]
fn the_security_document_shows_who_may_use_each_route() {
    let rules = gangway::server::rules();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once("<!-- routes -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let right = format!(
        "{before}<!-- routes -->\n{}<!-- end -->{after}",
        rules.table()
    );
    if std::env::var_os("GANGWAY_BLESS").is_some() {
        std::fs::write(path, &right).unwrap();
    }
    assert!(
        text == right,
        "docs/security.md is not up to date; run: make schema"
    );
}

#[tokio::test]
async fn a_key_for_one_relay_session_reads_no_studies_and_no_lists() {
    let server = TestServer::start().await;
    for scope in ["relay:demo", "relay.agent", "relay.host:demo"] {
        let request = json!({ "name": "relay", "scopes": [scope] });
        let (_, key) = server.post("/api/keys", request).await;
        let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
        for path in ["/api/study", "/api/relay"] {
            let answer = status(&server, Method::GET, path, &[("authorization", &bearer)]).await;
            assert_eq!(answer.1, "scope_required", "{scope} {path}");
        }
    }
}

#[test]
fn every_websocket_declares_a_rate_of_messages() {
    let rules = gangway::server::rules();
    let mut sockets: Vec<_> = rules
        .all()
        .filter(|(_, _, rule)| rule.rate == Rate::Messages)
        .map(|(path, ..)| path)
        .collect();
    sockets.sort_unstable();
    let named = rules.all().map(|(path, ..)| path);
    let mut named: Vec<_> = named
        .filter(|path| path.starts_with("/ws") || path.ends_with("/ws"))
        .chain(["/api/sessions/{id}/events"])
        .collect();
    named.sort_unstable();
    assert_eq!(sockets, named);
}

#[tokio::test]
async fn programs_are_started_at_most_so_often_and_only_those_who_may_start_them_count() {
    let server = TestServer::start().await;
    let path = "/api/mcp/servers/none/start";
    let start =
        async |http: &reqwest::Client| http.post(server.url(path)).send().await.unwrap().status();
    let most = STARTS.get() as usize;
    let mut started = 0;
    let refused = loop {
        let status = start(&server.http).await;
        if status != 404 {
            break status;
        }
        assert_eq!(start(&server.bare).await, 401);
        started += 1;
        assert!(started < 2 * most, "nothing limits it");
    };
    assert!(started >= most, "{started}");
    assert_eq!(refused, 429);
    assert_eq!(server.get("/api/sessions").await.0, 200);
}
