//! P15: no other site can make a person's browser change anything.

use gangway_testing::webagent_client::{Broker, SHOP};
use serde_json::json;

use super::raw;
use crate::support::TestServer;

type Headers = Vec<(&'static str, String)>;

/// Every request that changes something, with a body that would work.
fn changes(Stage { session, ask, .. }: &Stage) -> Vec<(&'static str, String, String)> {
    let path = |rest: &str| format!("/api/sessions/{session}{rest}");
    let grant = json!({ "origin": SHOP, "scopes": { "mcp:tools.call": "granted-always" } });
    vec![
        ("PATCH", "/api/permissions".into(), grant.to_string()),
        (
            "DELETE",
            format!("/api/permissions?origin={SHOP}"),
            String::new(),
        ),
        ("DELETE", "/api/permissions".into(), String::new()),
        (
            "POST",
            format!("/api/asks/{ask}"),
            json!({ "decision": "always" }).to_string(),
        ),
        (
            "POST",
            "/api/panel".into(),
            json!({ "ticket": "forged" }).to_string(),
        ),
        ("DELETE", "/api/panel/none".into(), String::new()),
        (
            "POST",
            "/api/sessions".into(),
            json!({ "title": "forged" }).to_string(),
        ),
        ("PATCH", path(""), json!({ "title": "forged" }).to_string()),
        ("DELETE", path(""), String::new()),
        (
            "POST",
            path("/messages"),
            json!({ "prompt": "forged" }).to_string(),
        ),
        ("POST", path("/stop"), String::new()),
        (
            "POST",
            path("/answers"),
            json!({ "questionId": "q2-1", "answer": "forged" }).to_string(),
        ),
        (
            "POST",
            "/api/keys".into(),
            json!({ "name": "forged" }).to_string(),
        ),
        ("DELETE", "/api/keys/none".into(), String::new()),
        (
            "POST",
            "/api/login".into(),
            json!({ "key": "forged" }).to_string(),
        ),
        ("POST", "/api/logout".into(), String::new()),
    ]
}

/// A server with a session in the middle of a turn, and a page that may do a little and asks for more: everything that a
/// forged request could change.
struct Stage {
    server: TestServer,
    session: String,
    ask: String,
    _page: Broker,
}

async fn stage(hosts: &[&str]) -> Stage {
    let script = "turns: [{steps: [{ask: {question: 'on?'}}]}]";
    let folder_hosts: Vec<String> = hosts.iter().map(|h| (*h).to_owned()).collect();
    let server = if folder_hosts.is_empty() {
        TestServer::scripted(script).await
    } else {
        protected(script, folder_hosts).await
    };
    let session = with_key(&server, "POST", "/api/sessions", "{}").await;
    let session = session["sessionId"].as_str().unwrap().to_owned();
    let path = format!("/api/sessions/{session}/messages");
    with_key(&server, "POST", &path, r#"{"prompt":"go"}"#).await;
    // Events of the turn must not be mistaken for forged changes.
    let history = format!("/api/history?session={session}");
    while !with_key(&server, "GET", &history, "")
        .await
        .to_string()
        .contains("\"question\"")
    {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let grant = json!({ "origin": SHOP, "scopes": { "model:list": "granted-always" } });
    with_key(&server, "PATCH", "/api/permissions", &grant.to_string()).await;
    let mut page = Broker::of(&server, SHOP).await;
    let request = json!({ "scopes": ["model:prompt"] });
    page.begin("permissions.request", request).await;
    let ask = page.until("ask").await;
    Stage {
        ask: ask["ask"].as_str().unwrap().to_owned(),
        server,
        session,
        _page: page,
    }
}

async fn protected(script: &str, hosts: Vec<String>) -> TestServer {
    use gangway::config::{AgentConfig, Config};
    use gangway_core::Store;
    use gangway_http::auth::Keys;
    use gangway_providers::ModelAccess;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.yaml");
    std::fs::write(&file, script).unwrap();
    let mut config = Config {
        hosts,
        default_agent: "scripted".into(),
        ..Config::default()
    };
    config
        .agents
        .insert("scripted".into(), AgentConfig { script: file });
    let store = Store::open(folder.path()).unwrap();
    Keys::load(store.clone())
        .await
        .unwrap()
        .create(
            &"first".parse().unwrap(),
            vec![gangway_http::auth::KeyScope::Admin],
            None,
        )
        .await
        .unwrap();
    TestServer::on(folder, config, ModelAccess::default(), store).await
}

async fn with_key(server: &TestServer, method: &str, path: &str, body: &str) -> serde_json::Value {
    let host = server.address.to_string();
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", "Bearer local-token"),
        ("Content-Type", "application/json"),
    ];
    let request = raw::request(method, path, &headers, body.as_bytes());
    raw::send(server.address, &request).await.unwrap().json()
}

/// All that there is, to compare.
async fn state(
    Stage {
        server,
        session,
        ask,
        ..
    }: &Stage,
) -> Vec<serde_json::Value> {
    let permissions = with_key(server, "GET", "/api/permissions", "").await;
    let granted = &permissions["origins"][0]["scopes"]["model:list"];
    assert_eq!(granted, "granted-always", "{permissions}");
    let ask = format!("/api/asks/{ask}");
    vec![
        permissions,
        with_key(server, "GET", &ask, "").await,
        with_key(server, "GET", "/api/sessions", "").await,
        with_key(server, "GET", "/api/keys", "").await,
        with_key(
            server,
            "GET",
            &format!("/api/history?session={session}"),
            "",
        )
        .await,
    ]
}

async fn refuses_all(stage: &Stage, forged: &[(&str, Headers)]) {
    let server = &stage.server;
    let before = state(stage).await;
    for (name, headers) in forged {
        for (method, path, body) in changes(stage) {
            let host = server.address.to_string();
            // With what lets in, so that nothing but the forgery is what is refused.
            let mut all = vec![
                ("Host", host.as_str()),
                ("Authorization", "Bearer local-token"),
            ];
            all.extend(headers.iter().map(|(n, v)| (*n, v.as_str())));
            let request = raw::request(method, &path, &all, body.as_bytes());
            let answer = raw::send(server.address, &request).await.unwrap();
            assert!(
                matches!(answer.status, 403 | 415),
                "{name}: {method} {path} was answered {answer:?}"
            );
            assert!(answer.json()["error_code"].is_string(), "{answer:?}");
            assert!(
                !answer.head.to_lowercase().contains("set-cookie"),
                "{answer:?}"
            );
        }
    }
    assert_eq!(state(stage).await, before, "something changed");
}

/// P15
#[tokio::test]
async fn a_form_or_a_script_of_another_site_changes_nothing() {
    let stage = stage(&[]).await;
    let kind = |kind: &str| vec![("Content-Type", kind.to_owned())];
    let foreign = |name, value: &str| {
        vec![
            ("Content-Type", "application/json".to_owned()),
            (name, value.to_owned()),
        ]
    };
    let forged = [
        ("text", kind("text/plain")),
        (
            "text that claims to be JSON",
            kind("text/plain; application/json"),
        ),
        ("form", kind("application/x-www-form-urlencoded")),
        ("upload", kind("multipart/form-data; boundary=x")),
        ("almost JSON", kind("application/jsonp")),
        ("two types", kind("text/plain, application/json")),
        ("another site", foreign("Sec-Fetch-Site", "cross-site")),
        ("a sibling", foreign("Sec-Fetch-Site", "same-site")),
        ("another origin", foreign("Origin", "https://evil.example")),
        ("no origin at all", foreign("Origin", "null")),
    ];
    refuses_all(&stage, &forged).await;
}

/// P15
#[tokio::test]
async fn a_body_without_a_type_is_refused() {
    let stage = stage(&[]).await;
    let server = &stage.server;
    let before = state(&stage).await;
    let host = server.address.to_string();
    for (method, path, body) in changes(&stage).iter().filter(|(.., body)| !body.is_empty()) {
        // With a key, so that nothing else can be what is refused.
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", "Bearer local-token"),
        ];
        let request = raw::request(method, path, &headers, body.as_bytes());
        let answer = raw::send(server.address, &request).await.unwrap();
        answer.assert_error(415, "unsupported_media_type");
    }
    assert_eq!(state(&stage).await, before);
}

/// P15
#[tokio::test]
async fn a_forged_origin_or_a_cookie_changes_nothing() {
    let stage = stage(&[]).await;
    let server = &stage.server;
    let before = state(&stage).await;
    let host = server.address.to_string();
    let origin = format!("http://{host}");
    let json = ("Content-Type", "application/json");
    for (method, path, body) in changes(&stage) {
        let open = ["/api/login", "/api/logout"].contains(&path.as_str());
        if open || path.starts_with("/api/panel") {
            // Public, and worth nothing without a key or a ticket.
            continue;
        }
        for extra in [
            &[][..],
            &[("Origin", origin.as_str())],
            &[
                ("Origin", origin.as_str()),
                ("Sec-Fetch-Site", "same-origin"),
            ],
            &[("Origin", origin.as_str()), ("Cookie", "gangway_login=x")],
        ] {
            let headers = [&[("Host", host.as_str()), json], extra].concat();
            let request = raw::request(method, &path, &headers, body.as_bytes());
            let answer = raw::send(server.address, &request).await.unwrap();
            assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
        }
    }
    assert_eq!(state(&stage).await, before);
}
