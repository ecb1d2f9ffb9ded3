//! Logins at servers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use futures_util::future::BoxFuture;
use gangway_mcp::{Host, ServerId, ServerSpec, Settings, State, TokenStore, UrlPolicy};
use serde_json::{Value, json};

use crate::{
    remote::{mcp, page, web},
    support::*,
};

#[derive(Default)]
struct Tokens(Mutex<HashMap<ServerId, String>>);

impl TokenStore for Tokens {
    fn load(&self, server: ServerId) -> BoxFuture<'_, Result<Option<String>, String>> {
        let stored = self.0.lock().unwrap().get(&server).cloned();
        Box::pin(std::future::ready(Ok(stored)))
    }

    fn save(&self, server: ServerId, secret: Option<String>) -> BoxFuture<'_, Result<(), String>> {
        let mut stored = self.0.lock().unwrap();
        match secret {
            Some(secret) => stored.insert(server, secret),
            None => stored.remove(&server),
        };
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A server with its own authorization server. Issues a token only for the code `good`.
fn answer(request: &str) -> String {
    let mut lines = request.lines();
    let path = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap_or_default();
    let header = |name: &str| {
        let found = request
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with(name));
        found
            .and_then(|line| line.split_once(": "))
            .map(|(_, value)| value.trim())
    };
    let base = format!("http://{}", header("host:").unwrap());
    let message = |value: Value| page("200 OK", "application/json", &value.to_string());
    match path {
        "/mcp" if header("authorization:") == Some("Bearer sesame") => {
            mcp(request, "application/json", 9)
        }
        "/narrow" if header("authorization:") == Some("Bearer sesame") => {
            let is_call = request.contains("tools/call");
            let refusal = format!(
                "HTTP/1.1 403 Forbidden\r\nwww-authenticate: Bearer error=\"insufficient_scope\", scope=\"write\", \
                 resource_metadata=\"{base}/about-narrow\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            if is_call {
                refusal
            } else {
                mcp(request, "application/json", 9)
            }
        }
        "/narrow" => format!(
            "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer resource_metadata=\"{base}/about-narrow\", \
             scope=\"read\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ),
        "/about-narrow" => {
            message(json!({"resource": format!("{base}/narrow"), "authorization_servers": [base]}))
        }
        "/mcp" => format!(
            "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer resource_metadata=\"{base}/about\"\r\n\
             content-length: 0\r\nconnection: close\r\n\r\n"
        ),
        "/about" => {
            message(json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
        }
        "/.well-known/oauth-authorization-server" => message(json!({
            "issuer": base, "authorization_endpoint": format!("{base}/login"),
            "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]})),
        "/register" => page(
            "201 Created",
            "application/json",
            &json!({
            "client_id": "us", "redirect_uris": ["http://127.0.0.1:7/back"]})
            .to_string(),
        ),
        // A real server would verify the challenge; here the verifier must be present.
        "/token" if request.contains("code=good") && request.contains("code_verifier=") => {
            message(json!({"access_token": "sesame", "token_type": "Bearer", "expires_in": 3600}))
        }
        "/token" => page(
            "400 Bad Request",
            "application/json",
            &json!({"error": "invalid_grant"}).to_string(),
        ),
        _ => page("404 Not Found", "text/plain", "no"),
    }
}

fn query(url: &str, key: &str) -> String {
    let start = url.split_once(&format!("{key}=")).unwrap().1;
    start.split('&').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_user_logs_in_once_and_the_token_is_kept_for_that_url_alone() {
    let (url, _) = web(|request| (answer(&request), None)).await;
    let tokens = Arc::new(Tokens::default());
    let settings = || Settings {
        tokens: Some(tokens.clone()),
        ..brisk()
    };
    let remote = id("remote");
    let at = |url: &str| vec![ServerSpec::http(remote.clone(), url, UrlPolicy::Any)];
    let host = Host::new(settings(), None);
    host.set_up(at(&url)).await;
    until(&host, |state| *state == State::Unauthorized).await;

    let back = "http://127.0.0.1:7/back";
    let page = host.log_in(&remote, back).await.unwrap();
    assert!(
        page.contains("/login?") && query(&page, "code_challenge_method") == "S256",
        "{page}"
    );
    let state = query(&page, "state");
    for wrong in [
        format!("{back}?code=good&state=other"),
        format!("{back}?code=good"),
        format!("{back}?error=access_denied&state={state}"),
    ] {
        assert!(host.logged_in(&wrong).await.is_err(), "{wrong}");
    }
    let done = host
        .logged_in(&format!("{back}?code=good&state={state}"))
        .await;
    assert_eq!(done, Ok(remote.clone()));
    host.ready(&remote).await.unwrap();
    assert!(call(&host, "remote/big", Value::Null).await.is_ok());
    let again = host
        .logged_in(&format!("{back}?code=good&state={state}"))
        .await;
    assert!(again.is_err(), "a code is good once");

    let second = Host::new(settings(), None);
    set_up(&second, at(&url)).await;
    let (elsewhere, _) = web(|request| {
        assert!(!request.contains("sesame"));
        (answer(&request), None)
    })
    .await;
    second.set_up(at(&elsewhere)).await;
    until(&second, |state| *state == State::Unauthorized).await;
    host.log_out(&remote).await.unwrap();
    until(&host, |state| *state == State::Unauthorized).await;
    assert!(tokens.0.lock().unwrap().is_empty());
}

/// Opens the login page and agrees.
async fn agree(host: &Host, server: &ServerId) -> String {
    let page = host
        .log_in(server, "http://127.0.0.1:7/back")
        .await
        .unwrap();
    let state = query(&page, "state");
    let back = format!("http://127.0.0.1:7/back?code=good&state={state}");
    assert_eq!(host.logged_in(&back).await.as_ref(), Ok(server));
    page
}

#[tokio::test]
async fn a_call_that_needs_more_than_was_granted_asks_for_that_and_what_was_granted_before() {
    let (url, _) = web(|request| (answer(&request), None)).await;
    let settings = Settings {
        tokens: Some(Arc::new(Tokens::default())),
        ..brisk()
    };
    let remote = id("remote");
    let host = Host::new(settings, None);
    let url = url.replace("/mcp", "/narrow");
    host.set_up(vec![ServerSpec::http(remote.clone(), url, UrlPolicy::Any)])
        .await;
    until(&host, |state| *state == State::Unauthorized).await;
    let page = agree(&host, &remote).await;
    assert_eq!(query(&page, "scope"), "read");
    host.ready(&remote).await.unwrap();
    assert!(!status(&host).wants_more);

    let why = call(&host, "remote/big", Value::Null).await.unwrap_err();
    assert!(why.to_string().contains("new login"), "{why}");
    let now = status(&host);
    assert!(now.wants_more && now.state == State::Ready, "{now:?}");
    let page = agree(&host, &remote).await;
    assert_eq!(query(&page, "scope"), "read+write");
    host.ready(&remote).await.unwrap();
    assert!(!status(&host).wants_more);
}

#[tokio::test]
async fn a_token_that_is_no_longer_valid_leaves_the_server_wanting_a_login() {
    let good = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let still = good.clone();
    let (url, _) = web(move |request| {
        let request = match still.load(std::sync::atomic::Ordering::SeqCst) {
            true => request,
            false => request.replace("Bearer sesame", "Bearer withdrawn"),
        };
        (answer(&request), None)
    })
    .await;
    let settings = Settings {
        tokens: Some(Arc::new(Tokens::default())),
        ..brisk()
    };
    let remote = id("remote");
    let host = Host::new(settings, None);
    host.set_up(vec![ServerSpec::http(
        remote.clone(),
        &*url,
        UrlPolicy::Any,
    )])
    .await;
    until(&host, |state| *state == State::Unauthorized).await;
    agree(&host, &remote).await;
    host.ready(&remote).await.unwrap();
    good.store(false, std::sync::atomic::Ordering::SeqCst);
    let why = call(&host, "remote/big", Value::Null).await.unwrap_err();
    assert!(why.to_string().contains("needs a login"), "{why}");
    until(&host, |state| *state == State::Unauthorized).await;
}
