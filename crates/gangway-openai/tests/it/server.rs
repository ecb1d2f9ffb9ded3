//! OpenAI's API over one provider, on a server of its own.

use std::sync::Arc;

use axum::{Router, middleware};
use gangway_http::routes::Routes;
use gangway_models::registry::Registry;
use gangway_openai::{in_openai_form, routes};
use gangway_providers::{ModelAccess, Models, Settings};
use gangway_secrets::Secrets;
use gangway_testing::server::{Parts, Service, ServiceServer};

pub type TestServer = ServiceServer<OpenAiService>;

pub struct OpenAiService {
    pub registry: Arc<Registry>,
}

#[derive(Default)]
pub struct Config {
    pub base_url: Option<String>,
}

impl Service for OpenAiService {
    type Config = Config;

    async fn start(config: &Config, parts: Parts) -> (Self, Routes) {
        let mut settings = Settings::default();
        settings.models.detect = false;
        settings.models.retries = 0;
        let key = ("OPENAI_API_KEY".to_owned(), "sk-upstream".to_owned());
        let access = ModelAccess {
            openai_base_url: config.base_url.clone(),
            keys: config.base_url.iter().map(|_| key.clone()).collect(),
            ..ModelAccess::default()
        };
        let secrets = Secrets::open(&parts.data, settings.secrets);
        let (own, metrics) = (parts.address, &parts.http.metrics);
        let models = Models::new(&settings, &parts.data, secrets, access, own, metrics);
        let registry = Arc::clone(&models.registry);
        let routes = routes().with_state(Some(Arc::clone(&registry)));
        (Self { registry }, routes)
    }

    fn around(&self, router: Router) -> Router {
        router.layer(middleware::from_fn(in_openai_form))
    }
}
