//! Which pages may use agents, hold their chats in frames, and make them.

use reqwest::Method;
use serde_json::{Value, json};

use super::{TestAgent, Yard, answered, create_request, model::Model};

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

/// Scenarios: the iframe is able to load; embed view authenticates via token.
#[tokio::test]
async fn the_page_of_a_chat_names_who_may_hold_it_and_keeps_the_token_to_itself() {
    let remote = yard().await;
    let made = remote.agent("Hi.").await;
    let (id, token) = (&made.id, &made.token);
    for (path, status) in [
        (format!("/embed/{id}?token={token}"), 200),
        (
            format!("/embed/{id}?token={token}&theme=dark&parent=https://evil.example"),
            200,
        ),
        (format!("/embed/{id}?token=wrong"), 401),
        (format!("/embed/{id}"), 401),
        (
            format!("/embed/000000000000000000000000?token={token}"),
            404,
        ),
        ("/embed/..%2f..%2fetc".to_owned(), 404),
    ] {
        let request = remote.http.get(format!("{}{path}", remote.base));
        let response = request
            .header("sec-fetch-site", "cross-site")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), status, "{path}");
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        let ancestors = policy
            .split(';')
            .find(|rule| rule.contains("frame-ancestors"));
        let wanted = format!("frame-ancestors 'self' {SHOP} http://localhost:8");
        assert_eq!(ancestors.map(str::trim), Some(wanted.as_str()));
        assert_ne!(header("x-frame-options"), "DENY");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        let page = response.text().await.unwrap();
        assert!(!page.contains(token) && !page.contains("evil.example"));
    }
    // Everything else of ours is in no frame.
    let response = remote
        .http
        .get(format!("{}/", remote.base))
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["x-frame-options"], "DENY");
}

/// The status of creating an agent for an unknown project: 404 for authorized callers.
async fn may_create(remote: &Yard, origin: Option<&str>, key: Option<&str>) -> (u16, Value) {
    let mut body = create_request("Hi.");
    body["project_name"] = json!("nothing");
    let mut request = remote.nobody(Method::POST, "/create").json(&body);
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let (status, mut error) = answered(request).await;
    (status, error["error_code"].take())
}

#[tokio::test]
async fn a_key_is_needed_by_programs_and_by_pages_of_any_origin() {
    let remote = yard().await;
    let own = remote.base.clone();
    let made: TestAgent = remote.agent("Hi.").await;
    let (let_in, missing, wrong) = (
        (404, json!("project_not_found")),
        (401, json!("missing_token")),
        (401, json!("invalid_token")),
    );
    assert_eq!(
        may_create(&remote, Some("https://evil.example"), None)
            .await
            .0,
        403
    );
    let key = remote.server.key("admin").await;
    let key = key.key.as_str();
    for origin in [None, Some(own.as_str()), Some(SHOP), Some(GUEST)] {
        assert_eq!(
            may_create(&remote, origin, None).await,
            missing,
            "{origin:?}"
        );
        assert_eq!(
            may_create(&remote, origin, Some(key)).await,
            let_in,
            "{origin:?}"
        );
        assert_eq!(
            may_create(&remote, origin, Some("x")).await,
            wrong,
            "{origin:?}"
        );
        // The token of an agent cannot create another one.
        let by_agent = may_create(&remote, origin, Some(&made.token)).await;
        assert_eq!(by_agent, wrong, "{origin:?}");
    }
    let tools = remote.server.key("tools:files/*").await;
    let for_tools = may_create(&remote, None, Some(&tools.key)).await;
    assert_eq!(for_tools, (403, json!("scope_required")));
    // Neither is what there is shown without one.
    for path in [String::new(), format!("/{}", made.id)] {
        assert_eq!(answered(remote.nobody(Method::GET, &path)).await.0, 401);
        assert_eq!(
            answered(remote.request(Method::GET, &path).bearer_auth(key))
                .await
                .0,
            200
        );
    }
    let removed = remote.request(Method::DELETE, &format!("/{}", made.id));
    assert_eq!(answered(removed.bearer_auth(&made.token)).await.0, 401);
    assert_eq!(remote.alive(&made).await["alive"], true);
}

#[tokio::test]
async fn projects_and_personas_are_changed_by_those_who_show_who_they_are() {
    let remote = yard().await;
    let folder = remote.clerk();
    let (project, persona) = (json!({ "folder": folder }), json!({ "folder": folder }));
    for (path, body) in [
        ("/api/projects/two", project),
        ("/api/personas/two", persona),
    ] {
        let send = async |method: Method, key: Option<&str>| {
            let mut request = remote
                .http
                .request(method, format!("{}{path}", remote.base));
            if let Some(key) = key {
                request = request.bearer_auth(key);
            }
            answered(request.json(&body)).await
        };
        for method in [Method::PUT, Method::DELETE] {
            assert_eq!(send(method.clone(), None).await.0, 401, "{method} {path}");
            assert_eq!(
                send(method.clone(), Some("x")).await.0,
                401,
                "{method} {path}"
            );
        }
        assert_eq!(
            send(Method::PUT, Some("local-token")).await,
            (200, json!({}))
        );
        let mut params = create_request("Hi.");
        params["project_name"] = json!(if path.contains("projects") {
            "two"
        } else {
            "shop"
        });
        params["persona_slug"] = json!(if path.contains("personas") {
            "two"
        } else {
            "clerk"
        });
        let (status, made) = remote.create(params.clone()).await;
        assert_eq!(status, 201, "{made}");
        assert_eq!(send(Method::DELETE, Some("local-token")).await.0, 200);
        assert_eq!(send(Method::DELETE, Some("local-token")).await.0, 404);
        assert_eq!(remote.create(params).await.0, 404);
        // What stands in the settings is changed there.
        let shop = format!("{}/api/projects/shop", remote.base);
        let request = remote.http.delete(shop).bearer_auth("local-token");
        assert_eq!(answered(request).await.1["error_code"], "in_config");
    }
}
