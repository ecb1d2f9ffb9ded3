//! Who gets in: keys, tokens, hosts, headers, rates.

use axum::http::{Method, StatusCode};
use gangway_core::SessionId;
use jiff::Timestamp;

use super::{OWN, Server, Setup, server};
use crate::{
    LimitsConfig,
    access::{LOGINS, STARTS},
    auth::{Admitted, NewLogin},
};

#[tokio::test]
async fn a_route_with_a_scope_needs_a_key_that_has_it() {
    let server = server(Setup::default()).await;
    let (status, _, code) = server.send(Method::GET, "/chat", &[]).await;
    assert_eq!((status.as_u16(), code.as_str()), (401, "missing_key"));
    let key = server.new_key(&["chat"]).await;
    let admitted = format!("{:?}", Admitted::Key(key.id.clone()));
    assert_eq!(server.get_as(&key.key, "/chat", &[]).await, admitted);
    let lower = format!("bearer {}", key.key);
    let headers = [("authorization", lower.as_str())];
    assert_eq!(server.get("/chat", &headers).await, admitted);
    let unknown = ["Bearer gw_unknown", "Bearer ", "Basic abc", &key.key];
    for authorization in unknown {
        let headers = [("authorization", authorization)];
        let (status, _, code) = server.send(Method::GET, "/chat", &headers).await;
        assert_eq!((status.as_u16(), code.as_str()), (401, "invalid_key"));
    }
    let bearer = format!("Bearer {}", server.key(&["models"]).await);
    let headers = [("authorization", bearer.as_str())];
    let (status, _, code) = server.send(Method::GET, "/chat", &headers).await;
    assert_eq!((status.as_u16(), code.as_str()), (403, "scope_required"));
    assert_eq!(server.get_as("local-token", "/chat", &[]).await, "Owner");
}

#[tokio::test]
async fn public_routes_and_those_with_their_own_tokens_admit_anyone_and_know_who_came() {
    let server = server(Setup::default()).await;
    for path in ["/public", "/token"] {
        assert_eq!(server.get(path, &[]).await, "Anyone");
        assert_eq!(server.get_as("gw_unknown", path, &[]).await, "Anyone");
        assert_eq!(server.get_as("local-token", path, &[]).await, "Owner");
    }
}

#[tokio::test]
async fn a_page_sends_its_key_as_a_subprotocol_and_some_clients_in_the_url() {
    let server = server(Setup::default()).await;
    let key = server.key(&["chat"]).await;
    let offered = format!("gangway.v1, gangway.key.{key}");
    let headers = [("sec-websocket-protocol", offered.as_str())];
    assert!(server.get("/chat", &headers).await.starts_with("Key"));
    let (allowed, other) = (
        format!("/url?a=b&token={key}"),
        format!("/chat?token={key}"),
    );
    assert!(server.get(&allowed, &[]).await.starts_with("Key"));
    assert_eq!(server.get(&other, &[]).await, "missing_key");
}

#[tokio::test]
async fn a_login_is_valid_until_it_ends_or_its_key_is_revoked() {
    let server = server(Setup::default()).await;
    let key = server.new_key(&["chat"]).await;
    let login = async |key| {
        let new = NewLogin {
            origin: OWN,
            user_agent: "",
            address: String::new(),
            key,
        };
        let token = server.http.logins.start(new, Timestamp::now()).await;
        token.unwrap()
    };
    let (with_key, without) = (login(Some(key.id.clone())).await, login(None).await);
    for token in [&with_key, &without] {
        assert!(
            server
                .get_as(token, "/chat", &[])
                .await
                .starts_with("Login")
        );
    }
    assert_eq!(
        server.get_as(&with_key, "/embed", &[]).await,
        "scope_required"
    );
    assert!(
        server
            .get_as(&without, "/embed", &[])
            .await
            .starts_with("Login")
    );
    server.http.keys.revoke(&key.id).await.unwrap();
    assert_eq!(server.get_as(&with_key, "/chat", &[]).await, "invalid_key");
    server.http.logins.end(|_| true).await.unwrap();
    assert_eq!(server.get_as(&without, "/chat", &[]).await, "login_ended");
}

#[tokio::test]
async fn a_panel_token_opens_the_routes_for_panels_of_its_own_session() {
    let server = server(Setup::default()).await;
    let session = SessionId::new();
    let token = server.http.panels.issue(session);
    let (own, other) = (
        format!("/api/sessions/{session}"),
        format!("/api/sessions/{}", SessionId::new()),
    );
    for path in [own.clone(), format!("{own}/messages")] {
        let admitted = server.get_as(token.as_str(), &path, &[]).await;
        assert_eq!(admitted, format!("{:?}", Admitted::Panel(session)));
    }
    for path in [
        "/chat",
        &other,
        &format!("{own}0"),
        &format!("{other}/messages"),
    ] {
        let refused = server.get_as(token.as_str(), path, &[]).await;
        assert_eq!(refused, "scope_required", "{path}");
    }
    // A key without the scope is not a panel.
    let key = server.key(&["models"]).await;
    assert_eq!(server.get_as(&key, &own, &[]).await, "scope_required");
    drop(token);
    assert_eq!(server.get_as("gwp_closed", &own, &[]).await, "invalid_key");
}

#[tokio::test]
async fn routes_for_embedded_agents_answer_with_the_codes_of_remote_agents() {
    let server = server(Setup::default()).await;
    assert_eq!(server.get("/embed", &[]).await, "missing_token");
    assert_eq!(server.get_as("wrong", "/embed", &[]).await, "invalid_token");
    let key = server.key(&["chat"]).await;
    assert_eq!(server.get_as(&key, "/embed", &[]).await, "scope_required");
}

#[tokio::test]
async fn where_authentication_is_off_a_wrong_key_is_still_refused() {
    let off = Setup {
        required: false,
        ..Setup::default()
    };
    let server = server(off).await;
    assert!(!server.http.guard.required());
    for path in ["/chat", "/public"] {
        assert_eq!(server.get(path, &[("origin", OWN)]).await, "Owner");
        assert_eq!(server.get(path, &[]).await, "Owner");
    }
    assert_eq!(server.get_as("wrong", "/chat", &[]).await, "invalid_key");
    // Pages of others are not the owner.
    for origin in [super::GUEST, super::EMBEDDER] {
        assert_eq!(
            server.get("/embed", &[("origin", origin)]).await,
            "missing_token"
        );
    }
    let guest = [("origin", super::GUEST)];
    assert_eq!(server.get("/public", &guest).await, "Anyone");
}

#[tokio::test]
async fn a_request_names_one_host_that_is_ours() {
    let local = server(Setup::default()).await;
    for host in [
        "localhost:3000",
        "LOCALHOST",
        "127.0.0.1:3000",
        "[::1]:3000",
    ] {
        assert_eq!(
            local.get("/public", &[("host", host)]).await,
            "Anyone",
            "{host}"
        );
    }
    let refused = async |server: &Server, path: &str, headers: &[(&str, &str)]| {
        let (status, _, code) = server.send(Method::GET, path, headers).await;
        (status, code) == (StatusCode::MISDIRECTED_REQUEST, "host_not_allowed".into())
    };
    for host in [
        "evil.example",
        "localhost:x",
        "0.0.0.0:3000",
        "",
        "192.168.1.5",
    ] {
        assert!(
            refused(&local, "/public", &[("host", host)]).await,
            "{host}"
        );
    }
    let twice = [("host", "localhost"), ("host", "localhost")];
    assert!(refused(&local, "/public", &twice).await);
    assert!(refused(&local, "http://evil.example/public", &[]).await);
    let named = server(Setup::hosts(&["Chat.example"])).await;
    assert_eq!(
        named.get("/public", &[("host", "chat.Example:80")]).await,
        "Anyone"
    );
    for (address, own) in [
        ("192.168.1.5:3000", "192.168.1.5"),
        ("[2001:db8::1]:3000", "[2001:db8::1]:3000"),
    ] {
        let setup = Setup {
            address,
            ..Setup::default()
        };
        let server = server(setup).await;
        assert_eq!(server.get("/public", &[("host", own)]).await, "Anyone");
    }
    let everywhere = Setup {
        address: "0.0.0.0:3000",
        ..Setup::default()
    };
    let everywhere = server(everywhere).await;
    assert!(refused(&everywhere, "/public", &[("host", "0.0.0.0")]).await);
}

#[tokio::test]
async fn headers_have_a_limit_in_bytes_and_in_number_and_cookies_do_not_count() {
    let limits = LimitsConfig {
        header_bytes: 100,
        ..LimitsConfig::default()
    };
    let small = server(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    // Each header counts four bytes more, for `: ` and the line break: 22 for the host, 9 for the other.
    let (fits, more) = ("x".repeat(69), "x".repeat(70));
    let cookie = ("cookie", more.as_str());
    let sent = small.get("/public", &[("x-pad", &fits), cookie]).await;
    assert_eq!(sent, "Anyone");
    let (status, _, code) = small
        .send(Method::GET, "/public", &[("x-pad", &more)])
        .await;
    assert_eq!((status.as_u16(), code.as_str()), (431, "headers_too_large"));
    let server = server(Setup::default()).await;
    let many = vec![("x", "y"); 100];
    assert_eq!(server.get("/public", &many[1..]).await, "Anyone");
    assert_eq!(server.get("/public", &many).await, "headers_too_large");
}

#[tokio::test]
async fn each_address_has_its_own_rate_and_is_forgotten_when_it_was_quiet() {
    let limits = LimitsConfig {
        requests_per_second: 1,
        request_burst: 3,
        ..LimitsConfig::default()
    };
    let server_with = async |limits| {
        server(Setup {
            limits,
            ..Setup::default()
        })
        .await
    };
    let server = server_with(limits).await;
    for _ in 0..3 {
        assert_eq!(server.get("/public", &[]).await, "Anyone");
    }
    for host in ["localhost", "cinema.localhost"] {
        let headers = [("host", host)];
        let (status, headers, code) = server.send(Method::GET, "/public", &headers).await;
        assert_eq!((status.as_u16(), code.as_str()), (429, "rate_limited"));
        assert_eq!(headers["retry-after"], "1");
    }
    let other = server.send_from([127, 0, 0, 2], Method::GET, "/public", &[]);
    assert_eq!(other.await.2, "Anyone");
    server.http.guard.sweep();
    assert_eq!(server.http.guard.rates.len(), 2);
    let fast = LimitsConfig {
        requests_per_second: u32::MAX,
        request_burst: 1,
        ..LimitsConfig::default()
    };
    let server = server_with(fast).await;
    server.get("/public", &[]).await;
    server.http.guard.sweep();
    assert_eq!(server.http.guard.rates.len(), 0);
}

#[tokio::test]
async fn programs_are_started_at_a_limited_rate_and_only_those_who_may_start_them_count() {
    let server = server(Setup::default()).await;
    for _ in 0..STARTS.get() {
        assert_eq!(server.post_as("local-token", "/start", &[]).await, "Owner");
        assert_eq!(server.post_as("wrong", "/start", &[]).await, "invalid_key");
    }
    assert_eq!(
        server.post_as("local-token", "/start", &[]).await,
        "rate_limited"
    );
    assert_eq!(server.post_as("local-token", "/chat", &[]).await, "Owner");
}

#[tokio::test]
async fn failed_logins_of_one_address_are_limited() {
    let server = server(Setup::default()).await;
    let failed = |last: u8| server.http.guard.login_failed([127, 0, 0, last].into());
    for _ in 0..LOGINS.get() {
        assert_eq!(failed(1).error_code, "invalid_key");
    }
    let limited = failed(1);
    assert_eq!(limited.error_code, "rate_limited");
    assert_eq!(limited.retry_after_seconds, Some(60));
    assert_eq!(failed(2).error_code, "invalid_key");
}

#[tokio::test]
async fn a_route_without_a_rule_is_closed_and_what_is_no_route_is_an_asset() {
    let server = server(Setup::default()).await;
    let (status, _, code) = server.send(Method::GET, "/no-rule", &[]).await;
    assert_eq!((status.as_u16(), code.as_str()), (500, "server_error"));
    let foreign = [("origin", "https://evil.example")];
    assert_eq!(server.get("/elsewhere", &foreign).await, "Anyone");
}

#[tokio::test]
async fn a_route_reads_as_many_bytes_as_its_rule_says() {
    let limits = LimitsConfig {
        body_bytes: 1234,
        ..LimitsConfig::default()
    };
    let server = server(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    for (path, bytes) in [
        ("/limit/empty", 0),
        ("/limit/small", 4096),
        ("/limit/json", 1234),
        ("/limit/file", usize::MAX),
    ] {
        assert_eq!(server.get(path, &[]).await, bytes.to_string());
    }
}
