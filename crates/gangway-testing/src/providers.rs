//! The person's models, with a provider whose address a test knows.

use std::sync::Arc;

use gangway_providers::{ModelAccess, Models, ProviderConfig, ProviderKind, Settings};
use gangway_secrets::Secrets;

use crate::server::Parts;

/// The model `m` of a provider `m` on OpenAI's wire, or none.
pub fn models(base_url: Option<&str>, parts: &Parts) -> Arc<Models> {
    let mut settings = Settings::default();
    settings.models.detect = false;
    settings.models.retries = 0;
    if let Some(base_url) = base_url {
        let provider = ProviderConfig {
            kind: ProviderKind::OpenAi,
            base_url: Some(base_url.to_owned()),
            key: None,
            model: Some("m".into()),
        };
        settings.providers.insert("m".into(), provider);
    }
    let secrets = Secrets::open(&parts.data, settings.secrets);
    let (access, metrics) = (ModelAccess::default(), &parts.http.metrics);
    Models::new(
        &settings,
        &parts.data,
        secrets,
        access,
        parts.address,
        metrics,
    )
}
