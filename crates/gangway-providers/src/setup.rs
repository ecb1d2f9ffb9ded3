//! The list of providers: configured ones, those of the environment, and the usual ones.

use std::{collections::BTreeMap, ffi::OsString, net::SocketAddr, path::PathBuf, time::Duration};

use gangway_models::registry::{Kind, Spec};
use serde::{Deserialize, Serialize};

use crate::config::{ProviderConfig, Settings, is_base_url};

/// Environment variables of models; empty is the same as absent.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ModelAccess {
    /// `OPENAI_BASE_URL`.
    pub openai_base_url: Option<String>,
    /// `OPENAI_MODEL`.
    pub openai_model: Option<String>,
    /// `OLLAMA_HOST`.
    pub ollama_host: Option<String>,
    /// API keys by variable name.
    pub keys: BTreeMap<String, String>,
    /// Gangway itself, to run subprocesses; each process knows its own best.
    #[serde(skip)]
    pub program: Option<OsString>,
    /// The program that runs local models.
    #[serde(skip)]
    pub engine: Option<PathBuf>,
}

impl ModelAccess {
    /// Reads the variables that these settings use.
    pub fn read(
        config: &Settings,
        variable: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Self> {
        let set = |name: &str| {
            let value = variable(name).map(|value| value.trim().to_owned());
            value.filter(|value| !value.is_empty())
        };
        let openai_base_url = set("OPENAI_BASE_URL");
        if let Some(url) = openai_base_url.as_deref().filter(|url| !is_base_url(url)) {
            let url = gangway_models::shown_url(url);
            anyhow::bail!(
                "OPENAI_BASE_URL must be a URL such as http://localhost:8080/v1, not {url:?}"
            );
        }
        let configured = config.providers.values().filter_map(|one| one.key.clone());
        let usual = Kind::ALL.into_iter().filter_map(Kind::usual_key);
        let names = configured.chain(usual.map(str::to_owned));
        let keys: BTreeMap<_, _> = names
            .filter_map(|name| Some((name.clone(), set(&name)?)))
            .collect();
        if let Some((name, _)) = keys.iter().find(|(_, key)| key.contains(char::is_control)) {
            anyhow::bail!(
                "the environment variable {name} is not a valid key: keys must not contain line breaks or control characters"
            );
        }
        Ok(Self {
            openai_base_url,
            openai_model: set("OPENAI_MODEL"),
            ollama_host: set("OLLAMA_HOST"),
            keys,
            program: None,
            engine: set("GANGWAY_ENGINE").map(PathBuf::from),
        })
    }
}

impl ModelAccess {
    /// The variables that may contain a key or a password.
    pub fn withheld(&self) -> impl Iterator<Item = &str> {
        let places = ["OPENAI_BASE_URL", "OLLAMA_HOST"];
        self.keys.keys().map(String::as_str).chain(places)
    }
}

/// All providers, the usual ones first; `secret` returns stored keys.
pub fn specs(
    config: &Settings,
    access: &ModelAccess,
    own: SocketAddr,
    mut secret: impl FnMut(&str) -> Option<String>,
) -> Vec<Spec> {
    let usual = Kind::ALL.into_iter().filter_map(|kind| {
        if config.providers.contains_key(kind.name()) {
            return None;
        }
        usual(kind, config, access, own)
    });
    let configured = config
        .providers
        .iter()
        .map(|(id, one)| configured(id, one, access));
    let mut specs: Vec<_> = usual.chain(configured).collect();
    for spec in &mut specs {
        spec.retries = config.models.retries;
        spec.silence = Duration::from_secs(config.models.silence_seconds);
        spec.key = spec
            .key_name
            .as_ref()
            .and_then(|name| access.keys.get(name).cloned().or_else(|| secret(name)));
    }
    specs
}

/// A provider without configuration, at its default address.
fn usual(kind: Kind, config: &Settings, access: &ModelAccess, own: SocketAddr) -> Option<Spec> {
    let mut spec = Spec::new(kind.name(), kind);
    match kind {
        Kind::Ollama => {
            spec.base_url = access.ollama_host.as_deref().map(ollama_url);
            let looked_for = config.models.detect || spec.base_url.is_some();
            looked_for.then_some(spec)
        }
        // A llamafile at Gangway's own address would be Gangway itself.
        Kind::Llamafile => (config.models.detect && own.port() != 8080).then_some(spec),
        Kind::OpenAi => {
            spec.base_url.clone_from(&access.openai_base_url);
            spec.model.clone_from(&access.openai_model);
            Some(spec)
        }
        Kind::Anthropic | Kind::Embedded => Some(spec),
    }
}

fn configured(id: &str, one: &ProviderConfig, access: &ModelAccess) -> Spec {
    let kind = Kind::from(one.kind);
    let mut spec = Spec::new(id, kind);
    spec.base_url.clone_from(&one.base_url);
    if kind == Kind::OpenAi && id == kind.name() {
        spec.base_url = spec.base_url.or_else(|| access.openai_base_url.clone());
        spec.model.clone_from(&access.openai_model);
    }
    if kind == Kind::Ollama && id == kind.name() {
        let host = access.ollama_host.as_deref();
        spec.base_url = spec.base_url.or_else(|| host.map(ollama_url));
    }
    spec.model = one.model.clone().or(spec.model);
    // A key for OpenAI or Anthropic must not be sent to other servers with their API.
    let elsewhere = one.base_url.is_some();
    spec.key_name = match &one.key {
        Some(name) => Some(name.clone()),
        None => spec.key_name.filter(|_| !elsewhere),
    };
    spec
}

/// The URL of ollama from its own variable: with or without scheme and port, `0.0.0.0` for this machine.
fn ollama_url(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/').replace("0.0.0.0", "127.0.0.1");
    let has_port = rest
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.contains(']'));
    if has_port || scheme == "https" {
        format!("{scheme}://{rest}")
    } else {
        format!("{scheme}://{rest}:11434")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ollama_is_found_by_its_variable_however_it_is_written() {
        for (host, url) in [
            ("localhost", "http://localhost:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000"),
            ("http://nas:11434/", "http://nas:11434"),
            ("https://ollama.example", "https://ollama.example"),
            ("[::1]", "http://[::1]:11434"),
        ] {
            assert_eq!(ollama_url(host), url);
        }
    }

    fn set_up(yaml: &str, variables: &[(&str, &str)]) -> Vec<Spec> {
        let config: Settings = serde_saphyr::from_str(yaml).unwrap();
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let access = ModelAccess::read(&config, variable).unwrap();
        let secret = |name: &str| (name == "STORED").then(|| "from-secrets".to_owned());
        specs(&config, &access, "127.0.0.1:3000".parse().unwrap(), secret)
    }

    fn key<'a>(specs: &'a [Spec], id: &str) -> Option<&'a str> {
        let spec = specs.iter().find(|spec| spec.id == id).unwrap();
        spec.key.as_deref()
    }

    #[test]
    fn several_instances_of_one_type_have_keys_of_their_own() {
        let yaml = "providers:
  work: { type: openai, base_url: 'https://a.example/v1', key: STORED }
  play: { type: openai, base_url: 'https://b.example/v1', key: PLAY }
  none: { type: openai, base_url: 'https://c.example/v1' }";
        let specs = set_up(yaml, &[("OPENAI_API_KEY", "sk-own"), ("PLAY", "sk-play")]);
        assert_eq!(key(&specs, "work"), Some("from-secrets"));
        assert_eq!(key(&specs, "play"), Some("sk-play"));
        assert_eq!(key(&specs, "openai"), Some("sk-own"));
        // A key for OpenAI is not sent to another server.
        assert_eq!(key(&specs, "none"), None);
    }

    #[test]
    fn nothing_is_looked_for_when_the_settings_say_so() {
        let ids = |yaml| -> Vec<String> { set_up(yaml, &[]).into_iter().map(|s| s.id).collect() };
        assert_eq!(
            ids("models: { detect: true }"),
            ["ollama", "llamafile", "openai", "anthropic", "embedded"]
        );
        assert_eq!(
            ids("models: { detect: false }"),
            ["openai", "anthropic", "embedded"]
        );
    }
}
