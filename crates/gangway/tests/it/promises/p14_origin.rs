//! P14: every door looks at `Host` and `Origin`.

use futures_util::StreamExt;
use serde_json::json;

use super::raw;
use crate::support::TestServer;

/// How a server would be reached, and whether it is us: name, allowed.
fn hosts(port: u16) -> Vec<(String, bool)> {
    vec![
        (format!("127.0.0.1:{port}"), true),
        (format!("LocalHost:{port}"), true),
        ("evil.example".into(), false),
        (format!("localhost.evil.example:{port}"), false),
    ]
}

/// Who asks, as the request itself says.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    /// No page: a program that says nothing of an origin.
    Program,
    /// A page of ours.
    Own,
    /// A page of an origin that the settings allow.
    Guest,
    /// Any other page.
    Foreign,
}

/// Where a page may come from, and whose it is.
fn origins(port: u16) -> Vec<(Option<String>, Who)> {
    use Who::{Foreign, Guest, Own, Program};
    let other = if port == 3000 { 3001 } else { 3000 };
    let message = |text: String| Some(text);
    vec![
        (None, Program),
        (message(format!("http://127.0.0.1:{port}")), Own),
        (message(format!("http://localhost:{port}")), Own),
        (message("https://guest.example".into()), Guest),
        (message("https://evil.example".into()), Foreign),
        (message("http://guest.example".into()), Foreign),
        (
            message("https://guest.example.evil.example".into()),
            Foreign,
        ),
        (message(format!("http://localhost:{other}")), Foreign),
        (message(format!("https://localhost:{port}")), Foreign),
        (message("null".into()), Foreign),
        (
            message(format!("http://localhost:{port}@evil.example")),
            Foreign,
        ),
        (message(String::new()), Foreign),
    ]
}

/// What must come of it; none means that the request passes.
fn rule(method: &str, path: &str, upgrade: bool, host: bool, who: Who) -> Option<u16> {
    let reads = matches!(method, "GET" | "HEAD");
    let api = ["/api/", "/v1/", "/ws/", "/agent/"]
        .iter()
        .any(|root| path.starts_with(root));
    // That something does not exist is no secret.
    let api = api && path != "/api/nothing";
    let guarded = api || path == "/metrics" || !reads || upgrade;
    let welcome = match path {
        // The origin of a page is trusted there, so only Gangway's own frame may connect.
        BROKER => who == Who::Own,
        _ => who != Who::Foreign,
    };
    match (host, welcome || !guarded) {
        (false, _) => Some(421),
        (true, false) => Some(403),
        (true, true) => None,
    }
}

/// Where the frame behind pages of others connects.
const BROKER: &str = "/ws/web-agent";

/// Every endpoint of the document, and what is beside it.
fn endpoints() -> Vec<(String, String)> {
    let document = serde_json::to_value(gangway::openapi::openapi()).unwrap();
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            found.push((method.to_uppercase(), path.clone()));
        }
    }
    assert!(found.len() > 15, "the document is empty: {found:?}");
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/sessions/x"),
        ("GET", "/replay/x"),
        ("GET", "/gangway.js"),
        ("GET", "/broker"),
        ("GET", "/broker.js"),
        ("GET", "/panel?for=https://shop.example"),
        ("GET", "/permit?ask=none"),
        ("GET", "/permissions"),
        ("GET", BROKER),
        ("GET", "/ws/asks"),
        ("GET", "/agent/ws"),
        ("GET", "/api/docs"),
        ("GET", "/api/docs.css"),
        ("GET", "/api/openapi.json"),
        ("GET", "/api/nothing"),
        ("POST", "/nothing"),
        ("OPTIONS", "/api/sessions"),
        ("PUT", "/api/sessions"),
        ("DELETE", "/"),
    ] {
        found.push((method.into(), path.into()));
    }
    found
}

/// P14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_endpoint_admits_authorized_callers_and_no_one_else() {
    let server = TestServer::with(|config| {
        config.default_agent = "demo".into();
        config.allowed_origins = vec!["https://guest.example".into()];
    })
    .await;
    let port = server.address.port();
    let session = server.session().await;
    let stream = server.send_message(&session, "hello").await;
    let mut cases = Vec::new();
    for (method, template) in endpoints() {
        // A session that is not there keeps deletes and stops without effect; feeds need one that is.
        let id = if template.ends_with("/events") {
            session.as_str()
        } else {
            "none"
        };
        let path = template.replace("{id}", id).replace("{streamId}", &stream);
        for upgrade in [false, true] {
            let sockets = ["/api/sessions", "/ws/", "/agent/"];
            let takes = method == "GET" && sockets.iter().any(|root| template.starts_with(root));
            if upgrade && !takes {
                continue;
            }
            for (host, good_host) in hosts(port) {
                for (origin, who) in origins(port) {
                    let expected = rule(&method, &template, upgrade, good_host, who);
                    let mut headers = vec![
                        ("Host", host.clone()),
                        ("Content-Type", "application/json".into()),
                    ];
                    headers.extend(origin.map(|origin| ("Origin", origin)));
                    if upgrade {
                        headers.push(("Connection", "Upgrade".into()));
                        headers.push(("Upgrade", "websocket".into()));
                        headers.push(("Sec-WebSocket-Version", "13".into()));
                        headers.push(("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==".into()));
                    }
                    cases.push((method.clone(), path.clone(), headers, expected));
                }
            }
        }
    }
    let count = cases.len();
    let address = server.address;
    let wrong: Vec<String> = futures_util::stream::iter(cases)
        .map(|(method, path, headers, expected)| async move {
            let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
            let answer = raw::send(address, &raw::request(&method, &path, &headers, b"")).await;
            let answer = answer.expect("an answer");
            let (json, ours) = (answer.json(), path.starts_with("/v1/"));
            let code = if ours {
                &json["error"]["code"]
            } else {
                &json["error_code"]
            };
            let code = code.as_str().map(str::to_owned);
            let right = match expected {
                Some(421) => answer.status == 421 && code.as_deref() == Some("host_not_allowed"),
                Some(_) => answer.status == 403 && code.as_deref() == Some("origin_not_allowed"),
                None => !matches!(answer.status, 421 | 403),
            };
            (!right).then(|| {
                format!(
                    "{method} {path} {headers:?}: {} instead of {expected:?}",
                    answer.status
                )
            })
        })
        .buffer_unordered(16)
        .filter_map(|wrong| async move { wrong })
        .collect()
        .await;
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    println!("{count} requests, 0 wrong");
}

/// P14
#[tokio::test]
async fn two_hosts_two_origins_or_a_host_in_the_request_line_are_refused() {
    let server = TestServer::start().await;
    let port = server.address.port();
    let own = format!("127.0.0.1:{port}");
    let body = json!({}).to_string();
    let mine = format!("http://{own}");
    let json = ("Content-Type", "application/json");
    for (path, headers, status) in [
        (
            "/api/sessions".to_owned(),
            vec![("Host", own.as_str()), ("Host", "evil.example"), json],
            421,
        ),
        (
            "http://evil.example/api/sessions".into(),
            vec![("Host", own.as_str()), json],
            421,
        ),
        ("/api/sessions".into(), vec![json], 421),
        (
            "/api/sessions".into(),
            vec![
                ("Host", own.as_str()),
                ("Origin", mine.as_str()),
                ("Origin", "https://evil.example"),
                json,
            ],
            403,
        ),
    ] {
        let request = raw::request("POST", &path, &headers, body.as_bytes());
        let answer = raw::send(server.address, &request).await.unwrap();
        // Two of a header that may be there once can be refused by the parser too.
        assert!(
            [status, 400].contains(&answer.status),
            "{headers:?}: {answer:?}"
        );
    }
    let (_, list) = server.get("/api/sessions").await;
    assert_eq!(list["sessions"], json!([]));
}
