//! Context windows, as servers report them.

use std::sync::Arc;

use axum::{
    Json, Router,
    routing::{get, post},
};
use gangway_models::{
    Provider,
    openai::OpenAi,
    registry::{Kind, Registry, Spec},
};
use serde_json::{Value, json};

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

fn says(value: Value) -> axum::routing::MethodRouter {
    get(async move || Json(value))
}

fn registry(kind: Kind, base: &str, model: &str) -> Registry {
    let mut spec = Spec::new("one", kind);
    spec.base_url = Some(base.to_owned());
    spec.model = Some(model.to_owned());
    let nobody = OpenAi::new("http://127.0.0.1:1", None, None);
    let registry = Registry::new(Arc::new(nobody), |_| {});
    registry.set_up(vec![spec], None);
    registry
}

#[tokio::test]
async fn ollama_reports_the_context_window_of_a_model_that_is_loaded_and_of_one_that_is_not() {
    let show = json!({ "model_info": { "llama.context_length": 131_072 } });
    let router = Router::new()
        .route(
            "/api/tags",
            says(json!({ "models": [{ "name": "a:1b" }, { "name": "b:1b" }] })),
        )
        .route("/api/version", says(json!({ "version": "0.12.0" })))
        .route(
            "/api/ps",
            says(json!({ "models": [{ "name": "a:1b", "context_length": 4096 }] })),
        )
        .route("/api/show", post(async move || Json(show)));
    let base = serve(router).await;
    let registry = registry(Kind::Ollama, &base, "a:1b");
    assert_eq!(registry.window(None).await, Some(4096));
    assert_eq!(registry.window(Some("b:1b")).await, Some(131_072));
}

#[tokio::test]
async fn servers_like_openai_report_the_context_size_in_their_list_beside_it_or_not_at_all() {
    let list = json!({ "data": [{ "id": "a", "max_model_len": 32_768 }, { "id": "b" }] });
    let props = json!({ "default_generation_settings": { "n_ctx": 2048 } });
    let router = Router::new().route("/v1/models", says(list.clone()));
    let bare = serve(router.clone()).await;
    let llama = serve(router.route("/props", says(props))).await;
    let ask = async |base: &str, model: &str| {
        let registry = registry(Kind::OpenAi, &format!("{base}/v1"), model);
        registry.window(None).await
    };
    assert_eq!(ask(&bare, "a").await, Some(32_768));
    assert_eq!(ask(&bare, "b").await, None);
    assert_eq!(ask(&llama, "b").await, Some(2048));
    assert_eq!(ask(&bare, "gpt-4o-mini").await, Some(128_000));
}
