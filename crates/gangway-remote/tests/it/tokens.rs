//! An agent is used by its own tokens, and by nothing else.

use std::collections::HashSet;

use gangway_core::store::record;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use utoipa::OpenApi;

use super::{TestAgent, Yard, answered, in_address, model::Model};

/// Every endpoint of one agent, as the document has them: method, and what comes after its id.
fn endpoints() -> Vec<(Method, String)> {
    let document = serde_json::to_value(gangway_remote::routes::Documented::openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let own = paths.iter().filter_map(|(path, methods)| {
        let rest = path.strip_prefix("/api/remote_agents/{id}/")?;
        let methods = methods.as_object()?.keys();
        Some(methods.map(|method| (method.to_uppercase().parse().unwrap(), rest.to_owned())))
    });
    let found: Vec<_> = own.flatten().collect();
    assert!(found.len() >= 11, "{found:?}");
    found
}

async fn frame_of(remote: &Yard, made: &TestAgent) -> TestAgent {
    let (status, frame) = remote.post(made, "exchange", json!({})).await;
    assert_eq!(status, 200, "{frame}");
    TestAgent {
        token: frame["frame_token"].as_str().unwrap().to_owned(),
        ..made.clone()
    }
}

/// P13; scenarios: token validation, invalid session token.
#[tokio::test]
async fn no_endpoint_of_an_agent_takes_anything_but_its_own_tokens() {
    let remote = Yard::open().await;
    let (mine, other) = (remote.agent("Hi.").await, remote.agent("Hi.").await);
    let other_frame = frame_of(&remote, &other).await;
    let key = remote.server.key("admin").await;
    let wrong = [
        other.token.clone(),
        other_frame.token,
        key.key,
        "local-token".into(),
        "x".into(),
        mine.id.clone(),
        mine.token[..mine.token.len() - 1].to_owned(),
        format!("{}0", mine.token),
        mine.token.to_uppercase(),
        "x".repeat(5000),
    ];
    for (method, rest) in endpoints() {
        let path = format!("/{}/{rest}", mine.id);
        let send = async |query: Option<&str>, header: Option<String>| {
            let token = query.map(|token| format!("&token={}", in_address(token)));
            let path = format!("{path}?name=a.txt{}", token.unwrap_or_default());
            let mut request = remote.request(method.clone(), &path);
            if let Some(value) = header {
                request = request.header("authorization", value);
            }
            let (status, error) = answered(request.json(&json!({}))).await;
            let code = error["error_code"].as_str().unwrap_or_default().to_owned();
            (status, code)
        };
        let missing = (401, "missing_token".to_owned());
        let invalid = (401, "invalid_token".to_owned());
        assert_eq!(send(None, None).await, missing, "{method} {rest}");
        assert_eq!(send(Some(""), None).await, missing, "{method} {rest}");
        for token in &wrong {
            let seen = send(Some(token), None).await;
            assert_eq!(seen, invalid, "{method} {rest}?token={token}");
            let seen = send(None, Some(format!("Bearer {token}"))).await;
            assert_eq!(seen, invalid, "{method} {rest} {token}");
        }
        for scheme in ["Basic ", "", "Bearer", "Token "] {
            let seen = send(None, Some(format!("{scheme}{}", mine.token))).await;
            assert_eq!(seen, invalid, "{method} {rest} {scheme:?}");
        }
        // The header counts where both are.
        let both = send(Some(&mine.token), Some(format!("Bearer {}", other.token)));
        assert_eq!(both.await, invalid, "{method} {rest}");
    }
    for made in [&mine, &other] {
        assert_eq!(remote.alive(made).await["alive"], true);
    }
}

/// Scenario: agent is alive.
#[tokio::test]
async fn own_tokens_open_every_endpoint_and_a_frame_all_but_those_of_its_maker() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    let frame = frame_of(&remote, &made).await;
    for (method, rest) in endpoints() {
        let for_maker = ["shutdown", "token"].contains(&rest.as_str());
        let path = format!("/{}/{rest}", made.id);
        let ask = async |token: &str| {
            let request = remote.request(method.clone(), &format!("{path}?token={token}"));
            let response = request.json(&json!({})).send().await.unwrap();
            response.status().as_u16()
        };
        let status = ask(&frame.token).await;
        assert_eq!(status == 401, for_maker, "{method} {rest}: {status}");
        if !for_maker {
            assert_ne!(ask(&made.token).await, 401, "{method} {rest}");
        }
    }
    // A frame that is loaded again keeps its token, and makes no others.
    let (status, again) = remote.post(&frame, "exchange", json!({})).await;
    assert_eq!((status, &again["frame_token"]), (200, &json!(frame.token)));
    let (status, error) = remote.post(&frame, "shutdown", json!({})).await;
    assert_eq!(
        (status, &error["error_code"]),
        (401, &json!("invalid_token"))
    );
}

/// P13; scenario: token does not leak internal state.
#[tokio::test]
async fn tokens_are_256_bits_that_say_nothing_and_never_repeat() {
    let full = std::env::var_os("GANGWAY_FULL").is_some();
    let count = if full { 1_000_000 } else { 50_000 };
    let tokens: HashSet<_> = (0..count).map(|_| gangway_remote::new_token()).collect();
    assert_eq!(tokens.len(), count);
    let digits = |token: &String| token.strip_prefix("gwa_").unwrap().to_owned();
    let is_hex = |text: String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(tokens.iter().map(digits).all(is_hex));
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    for part in [
        &made.id,
        &made.session,
        &made.tmux,
        &made.id[..8].to_owned(),
    ] {
        assert!(!made.token.contains(part.as_str()), "{part}");
    }
    // On the disk there are only hashes.
    let key = format!("remote/{}", made.id);
    let store = remote.server.hub().store();
    let stored = store.get::<Value>(&key).await.unwrap();
    let stored = stored.unwrap().value.to_string();
    assert!(!stored.contains(&made.token) && !stored.contains(&digits(&made.token)));
}

#[tokio::test]
async fn a_rotation_ends_the_old_token_its_frames_and_their_streams_at_once() {
    let remote = Yard::open().await;
    let old = remote.agent("Hi.").await;
    let frame = frame_of(&remote, &old).await;
    let mut streams = Vec::new();
    for who in [&old, &frame] {
        let mut stream = remote.stream(who, None).await;
        stream.until("agent.state").await;
        streams.push(stream);
    }
    let (status, rotated) = remote.post(&old, "token", json!({})).await;
    assert_eq!(status, 200, "{rotated}");
    let token = rotated["session_token"].as_str().unwrap().to_owned();
    let address = format!("/embed/{}?token={token}", old.id);
    assert_eq!(rotated["embed_url"], remote.server.url(&address));
    for mut stream in streams {
        assert_eq!(stream.until("closing").await.data["reason"], "revoked");
        assert!(stream.next().await.is_none());
    }
    for who in [&old, &frame] {
        let (status, error) = remote.get(who, "alive").await;
        assert_eq!(
            (status, &error["error_code"]),
            (401, &json!("invalid_token"))
        );
        assert_eq!(remote.stream(who, None).await.status, 401);
    }
    let new = TestAgent { token, ..old };
    assert_eq!(remote.alive(&new).await["alive"], true);
    // And it outlives a restart, as the end of the old one does.
    let remote = remote.restart().await;
    assert_eq!(remote.alive(&new).await["alive"], true);
    assert_eq!(remote.get(&frame, "alive").await.0, 401);
}

#[tokio::test]
async fn a_token_ends_when_it_expires() {
    let hours = |config: &mut crate::server::Config| config.remote_agents.token_hours = 1;
    let remote = Yard::with(Model::says(&["Hi."]), hours).await;
    let made = remote.agent("Hi.").await;
    let frame = frame_of(&remote, &made).await;
    // Time is moved by moving what is kept: an hour ago it would have been made.
    let key = format!("remote/{}", made.id);
    let store = remote.server.hub().store().clone();
    let mut stored = store.get::<Value>(&key).await.unwrap().unwrap().value;
    let end: Timestamp = stored["tokens"]["until"].as_str().unwrap().parse().unwrap();
    assert!(end > Timestamp::now() && end <= Timestamp::now() + SignedDuration::from_hours(1));
    let past = json!((end - SignedDuration::from_hours(1)).to_string());
    stored["tokens"]["until"] = past.clone();
    assert_eq!(stored["tokens"]["frames"].as_array().unwrap().len(), 1);
    stored["tokens"]["frames"][0][1] = past;
    store
        .put(vec![record(key, &stored).unwrap()])
        .await
        .unwrap();
    drop(store);
    let remote = remote.restart().await;
    for who in [&made, &frame] {
        let (status, error) = remote.get(who, "alive").await;
        assert_eq!(
            (status, &error["error_code"]),
            (401, &json!("invalid_token"))
        );
    }
}
