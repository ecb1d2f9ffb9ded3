//! Providers, models, keys, the default and weights, as pages and programs see them.

use std::time::Duration;

use gangway_testing::weights::mirror::{FileAnswer, Mirror};
use serde_json::{Value, json};

use crate::{providers::fake::Fake, support::TestServer};

fn config_of(yaml: &str) -> impl FnOnce(&mut gangway::config::Config) {
    let parsed = gangway::config::Config::parse(yaml).unwrap();
    move |config| {
        config.providers = parsed.providers;
        config.models.default = parsed.models.default;
    }
}

fn provider<'a>(list: &'a Value, id: &str) -> &'a Value {
    let all = list["providers"].as_array().unwrap();
    all.iter().find(|one| one["id"] == id).unwrap()
}

/// An ollama with these models.
fn ollama(names: &[&str]) -> Fake {
    let models: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    let body = json!({ "models": models, "version": "0.9.1", "message": { "content": "hi" }, "done": true });
    Fake::answers(200, &[], &body.to_string())
}

#[tokio::test]
async fn a_running_ollama_is_found_and_used_and_reported() {
    let url = ollama(&["llama3.2:1b"]).start().await;
    let yaml = format!("providers: {{ ollama: {{ type: ollama, base_url: '{url}' }} }}");
    let server = TestServer::with(config_of(&yaml)).await;
    let (_, list) = server.get("/api/providers").await;
    let found = provider(&list, "ollama");
    assert_eq!(
        (
            &found["available"],
            &found["isDefault"],
            &found["isTypeDefault"],
            &found["supportsTools"]
        ),
        (&json!(true), &json!(true), &json!(true), &json!(true))
    );
    assert_eq!(
        list["default"],
        json!({ "provider": "ollama", "model": "llama3.2:1b" })
    );
    let openai = provider(&list, "openai");
    assert_eq!(openai["available"], false);
    assert!(
        openai["problem"]
            .as_str()
            .unwrap()
            .contains("OPENAI_API_KEY")
    );
    let (_, models) = server.get("/api/models").await;
    assert_eq!(models["models"][0]["id"], "ollama/llama3.2:1b");
    assert_eq!(models["models"][0]["isDefault"], true);
}

#[tokio::test]
async fn an_old_ollama_is_known_to_have_no_tools() {
    let body = json!({ "models": [{ "name": "llama2" }], "version": "0.2.8" }).to_string();
    let url = Fake::answers(200, &[], &body).start().await;
    let yaml = format!("providers: {{ old: {{ type: ollama, base_url: '{url}' }} }}");
    let server = TestServer::with(config_of(&yaml)).await;
    let (_, list) = server.get("/api/providers").await;
    assert_eq!(provider(&list, "old")["supportsTools"], false);
}

#[tokio::test]
async fn what_starts_later_is_found_by_scanning_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let yaml = format!("providers: {{ late: {{ type: ollama, base_url: 'http://{address}' }} }}");
    let server = TestServer::with(config_of(&yaml)).await;
    let (_, list) = server.get("/api/providers").await;
    assert_eq!(provider(&list, "late")["available"], false);
    ollama(&["llama"]).start_at(address).await;
    let (status, list) = server.post("/api/providers/detect", json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(provider(&list, "late")["available"], true);
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing_does_not_hold_up_the_rest() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = silent.local_addr().unwrap();
    let url = ollama(&["quick"]).start().await;
    let yaml = format!(
        "providers: {{ mute: {{ type: openai, base_url: 'http://{at}' }}, quick: {{ type: ollama, base_url: '{url}' }} }}"
    );
    let server = TestServer::with(config_of(&yaml)).await;
    let began = std::time::Instant::now();
    let (_, list) = server.get("/api/providers").await;
    // Two seconds for the look, and a machine that is busy with other tests.
    assert!(began.elapsed().as_secs() < 8);
    assert_eq!(provider(&list, "quick")["available"], true);
    assert!(
        provider(&list, "mute")["problem"]
            .as_str()
            .unwrap()
            .contains("in time")
    );
}

#[tokio::test]
async fn the_users_choice_beats_the_order_and_outlives_a_restart() {
    let (a, b) = (ollama(&["a"]).start().await, ollama(&["b"]).start().await);
    let yaml = format!(
        "providers: {{ home: {{ type: ollama, base_url: '{a}' }}, nas: {{ type: ollama, base_url: '{b}' }} }}"
    );
    let server = TestServer::with(config_of(&yaml)).await;
    let put = |model: Value| {
        server.call(
            reqwest::Method::PUT,
            "/api/models/default",
            Some(json!({ "model": model })),
        )
    };
    let (status, list) = put(json!("nas/b")).await;
    assert_eq!(status, 200, "{list}");
    assert_eq!(list["choice"], "nas/b");
    for wrong in ["unheard/of", "", "/b"] {
        let (status, error) = put(json!(wrong)).await;
        assert_eq!(status, 400, "{error}");
        assert!(
            error["message"].as_str().unwrap().contains("home, nas"),
            "{error}"
        );
    }
    let server = server.restart().await;
    let (_, list) = server.get("/api/providers").await;
    assert_eq!(list["default"], json!({ "provider": "nas", "model": "b" }));
    let none = json!({ "model": null });
    let (_, list) = server
        .call(reqwest::Method::PUT, "/api/models/default", Some(none))
        .await;
    assert_eq!(list["default"]["provider"], "home");
    assert!(list.get("choice").is_none());
}

#[tokio::test]
async fn a_key_is_stored_used_and_never_shown_again() {
    let fake = Fake::streams(&["data: [DONE]\n\n"]);
    let yaml = format!(
        "providers: {{ work: {{ type: openai, base_url: '{}', key: WORK_KEY, model: m }} }}",
        fake.start().await
    );
    let server = TestServer::with(config_of(&yaml)).await;
    let key = "sk-planted-0123456789";
    let (status, info) = server
        .call(
            reqwest::Method::PUT,
            "/api/providers/work/key",
            Some(json!({ "key": key })),
        )
        .await;
    assert_eq!(status, 200, "{info}");
    assert_eq!(info["keySource"], "secrets");
    let request = json!({ "model": "work", "messages": [{ "role": "user", "content": "hi" }] });
    server.post("/v1/chat/completions", request).await;
    assert_eq!(fake.bearers().last().unwrap(), &format!("Bearer {key}"));
    for path in [
        "/api/providers",
        "/api/models",
        "/metrics",
        "/api/models/activity",
        "/api/weights",
    ] {
        let (_, answer) = server.get(path).await;
        assert!(!answer.to_string().contains(key), "{path}");
    }
    let (status, _) = server
        .call(reqwest::Method::DELETE, "/api/providers/work/key", None)
        .await;
    assert_eq!(status, 204);
    let (_, list) = server.get("/api/providers").await;
    assert!(provider(&list, "work").get("keySource").is_none());
}

#[tokio::test]
async fn a_key_that_cannot_be_stored_is_refused_with_a_reason() {
    let server = TestServer::with_model("http://127.0.0.1:9/v1", Some("sk-from-env")).await;
    for (id, key, status, code) in [
        ("none", "k", 404, "provider_not_found"),
        ("embedded", "k", 400, "invalid_request"),
        ("anthropic", "", 400, "invalid_request"),
        ("anthropic", "a\nb", 400, "invalid_request"),
        ("openai", "k", 409, "key_from_environment"),
    ] {
        let path = format!("/api/providers/{id}/key");
        let answer = server
            .call(reqwest::Method::PUT, &path, Some(json!({ "key": key })))
            .await;
        assert_eq!(
            (answer.0.as_u16(), answer.1["error_code"].as_str()),
            (status, Some(code)),
            "{id}"
        );
        assert!(!answer.1.to_string().contains("sk-from-env"));
    }
}

#[tokio::test]
async fn weights_are_listed_removed_and_only_fetched_by_known_names() {
    let server = TestServer::start().await;
    let store = server.data().join("models");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("mine.gguf"), "x").unwrap();
    let (status, list) = server.get("/api/weights").await;
    assert_eq!(status, 200);
    assert_eq!(list["weights"][0]["name"], "mine");
    assert_eq!(list["catalog"][0]["license"], "Apache-2.0");
    assert_eq!(list["catalog"][0]["installed"], false);
    for name in ["https://evil.example/x.gguf", "../../etc/passwd", "mine"] {
        let (status, error) = server.post("/api/weights", json!({ "name": name })).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (404, &json!("weights_not_found"))
        );
    }
    for name in ["..%2F..%2Fgangway.db", "none"] {
        let path = format!("/api/weights/{name}");
        assert_eq!(
            server.call(reqwest::Method::DELETE, &path, None).await.0,
            404
        );
    }
    let (status, _) = server
        .call(reqwest::Method::DELETE, "/api/weights/mine", None)
        .await;
    assert_eq!(status, 204);
    assert!(!store.join("mine.gguf").exists());
}

#[tokio::test]
async fn weights_of_a_url_are_fetched_for_the_owner_alone_and_a_failure_can_be_tried_again_or_forgotten()
 {
    let server = TestServer::start().await;
    let mirror = Mirror::serve(b"no model", &[FileAnswer::Held, FileAnswer::Held]).await;
    let url = mirror.file("Mine.gguf");
    let (_, key) = server
        .post(
            "/api/keys",
            json!({ "name": "apps", "scopes": ["models", "chat"] }),
        )
        .await;
    let answer = server.bare.post(server.url("/api/weights"));
    let answer = answer.bearer_auth(key["key"].as_str().unwrap());
    let answer = answer.json(&json!({ "url": url })).send().await.unwrap();
    assert_eq!(answer.status(), 403);
    for request in [
        json!({}),
        json!({ "name": "mine", "url": url }),
        json!({ "name": "mine", "sha256": "0".repeat(64) }),
        json!({ "url": "file:///etc/passwd" }),
        json!({ "url": "http://example.org/x.gguf" }),
        json!({ "url": url, "sha256": "12" }),
    ] {
        let (status, error) = server.post("/api/weights", request.clone()).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (400, &json!("invalid_request")),
            "{request} {error}"
        );
    }
    assert!(mirror.asked().is_empty());
    let failed = async || {
        mirror.arrived().await;
        mirror.release();
        loop {
            let (_, list) = server.get("/api/weights").await;
            if list["pulls"][0]["step"] == "failed" {
                return list["pulls"][0]["error"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (status, begun) = server.post("/api/weights", json!({ "url": url })).await;
    assert_eq!((status.as_u16(), &begun["name"]), (202, &json!("mine")));
    // The same again is the same pull; another file of that name has to wait.
    let (status, _) = server.post("/api/weights", json!({ "url": url })).await;
    assert_eq!(status, 202);
    let other = format!("{url}?other");
    let (status, error) = server.post("/api/weights", json!({ "url": other })).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (409, &json!("weights_busy"))
    );
    let error = failed().await;
    assert!(error.contains("Mine.gguf"), "{error}");
    // The page knows its name alone.
    let (status, _) = server.post("/api/weights", json!({ "name": "mine" })).await;
    assert_eq!(status, 202);
    failed().await;
    assert_eq!(mirror.asked().len(), 2);
    let delete = async || {
        let call = server.call(reqwest::Method::DELETE, "/api/weights/mine", None);
        call.await.0.as_u16()
    };
    assert_eq!((delete().await, delete().await), (204, 404));
    let (_, list) = server.get("/api/weights").await;
    assert_eq!(list["pulls"], json!([]));
}
