//! Which pages may use agents, and nothing beside them.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{Yard, answered, model::Model};

const SHOP: &str = "https://shop.example";

/// A page whose origin may use the rest of the API.
const GUEST: &str = "https://guest.example";

async fn yard() -> Yard {
    Yard::with(Model::says(&["Hi."]), |config| {
        config.remote_agents.allowed_origins =
            vec![format!("{SHOP}/"), "http://localhost:8".into()];
        config.allowed_origins = vec![GUEST.into()];
    })
    .await
}

/// Every endpoint of agents that pages may use, as the document has them.
fn endpoints(id: &str) -> Vec<(Method, String)> {
    let document = serde_json::to_value(gangway::openapi::openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let ours = paths.iter().filter_map(|(path, methods)| {
        let rest = path.strip_prefix("/api/remote_agents")?;
        // For the owner alone.
        if rest == "/adopt" {
            return None;
        }
        let rest = rest.replace("{id}", id);
        let methods = methods.as_object()?.keys();
        Some(methods.map(move |method| (method.to_uppercase().parse().unwrap(), rest.clone())))
    });
    let found: Vec<_> = ours.flatten().collect();
    assert!(found.len() >= 15, "{found:?}");
    found
}

fn shared_with(response: &Response) -> Option<&str> {
    let header = response.headers().get("access-control-allow-origin");
    header.map(|value| value.to_str().unwrap())
}

fn varies(response: &Response) -> bool {
    let mut names = response.headers().get_all("vary").iter();
    names.any(|value| value.to_str().unwrap().to_lowercase().contains("origin"))
}

/// P14; scenarios: request from allowed origin, request from disallowed origin.
#[tokio::test]
async fn pages_of_allowed_origins_and_no_others_may_read_the_answers() {
    let remote = yard().await;
    let made = remote.agent("Hi.").await;
    let others = [
        "https://evil.example",
        "http://shop.example",
        "https://shop.example:444",
        "https://shop.example.evil.example",
        "https://evilshop.example",
        "https://sub.shop.example",
        "http://localhost:80",
        "null",
        "",
    ];
    for (method, path) in endpoints(&made.id) {
        if path.ends_with("/shutdown") || path.ends_with("/token") || method == Method::DELETE {
            // Asked without a token below, so that there is something left to ask.
            continue;
        }
        let ask = async |origin: &str| {
            let request = remote
                .request(method.clone(), &path)
                .bearer_auth(&made.token);
            let request = request.header("origin", origin).json(&json!({}));
            request.send().await.unwrap()
        };
        for origin in [SHOP, "http://localhost:8", "HTTPS://Shop.Example"] {
            let response = ask(origin).await;
            assert_eq!(shared_with(&response), Some(origin), "{method} {path}");
            assert!(varies(&response), "{method} {path}");
            let credentials = "access-control-allow-credentials";
            assert!(!response.headers().contains_key(credentials));
            let answer: Value = match path.ends_with("/events") {
                true => Value::Null,
                false => response.json().await.unwrap(),
            };
            assert_ne!(
                answer["error_code"], "origin_not_allowed",
                "{method} {path}"
            );
        }
        for origin in others {
            let response = ask(origin).await;
            assert_eq!(response.status(), 403, "{method} {path} {origin}");
            assert_eq!(shared_with(&response), None, "{method} {path} {origin}");
            assert!(varies(&response), "{method} {path} {origin}");
        }
    }
    for (method, path) in endpoints(&made.id) {
        for (origin, status) in [(SHOP, 204), ("https://evil.example", 403)] {
            let request = remote
                .request(Method::OPTIONS, &path)
                .header("origin", origin);
            let request = request.header("access-control-request-method", method.as_str());
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{method} {path}");
            assert!(varies(&response));
            let allowed = response.headers().get("access-control-allow-methods");
            let allowed = allowed.map(|value| value.to_str().unwrap().contains(method.as_str()));
            assert_eq!(allowed, (status == 204).then_some(true), "{method} {path}");
            let named = response.headers().get("access-control-allow-headers");
            if let Some(named) = named.map(|value| value.to_str().unwrap()) {
                for name in [
                    "authorization",
                    "content-type",
                    "last-event-id",
                    "idempotency-key",
                ] {
                    assert!(named.contains(name), "{named}");
                }
            }
        }
        // A page of another origin without a token or key is let in nowhere.
        let request = remote.nobody(method.clone(), &path).header("origin", SHOP);
        let (status, error) = answered(request.json(&json!({}))).await;
        let code = error["error_code"].as_str().unwrap().to_owned();
        assert_eq!(
            (status, code.as_str()),
            (401, "missing_token"),
            "{method} {path}"
        );
    }
    assert_eq!(remote.alive(&made).await["alive"], true);
    // What is beside agents is not theirs.
    for path in [
        "/api/sessions",
        "/api/projects",
        "/api/personas",
        "/api/keys",
    ] {
        let request = remote
            .http
            .get(format!("{}{path}", remote.base))
            .header("origin", SHOP);
        let response = request.send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), shared_with(&response)),
            (403, None),
            "{path}"
        );
    }
}
