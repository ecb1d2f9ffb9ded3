//! Apps where they meet other parts of the server: applets, MCP clients, models.

mod joined;
mod model;

use gangway::config::Config;
use gangway_testing::weblets_client::put_notes;
use serde_json::json;

use crate::{providers::fake::Fake, support::TestServer};

/// A server with the app `notes`.
pub async fn server() -> TestServer {
    server_with(|_| {}).await
}

pub async fn server_with(change: impl FnOnce(&mut Config)) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let apps = put_notes(folder.path());
    TestServer::in_folder(folder, |config| {
        config.apps = vec![apps];
        change(config);
    })
    .await
}

/// A server whose built-in agent has a model that says one word.
pub async fn with_model() -> (TestServer, Fake) {
    let says = json!({ "choices": [{ "delta": { "content": "Good." }, "finish_reason": "stop" }] });
    let model = Fake::streams(&[&format!("data: {says}\n\n")]);
    let base = model.start().await;
    let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
    let server = server_with(|config| {
        config.providers = Config::parse(&yaml).unwrap().providers;
        config.default_agent = "builtin".into();
    })
    .await;
    (server, model)
}
