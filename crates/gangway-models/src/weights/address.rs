//! Addresses that weights are fetched from: how they are shown, and where they may lead.

use std::{error::Error, path::Path, time::Duration};

use reqwest::{Client, Url, redirect};

use super::{ModelName, WeightsError, digest};

/// As pip has it; more is a circle.
const MAX_REDIRECTS: usize = 5;

/// A URL without what may be secret in it: names and passwords, and the signatures in a query.
#[must_use]
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// What happened on the way, without the URL, which may hold a secret.
pub(super) fn told(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "did not answer in time".into();
    }
    if error.is_redirect() {
        return "leads elsewhere too often, or to a place without https".into();
    }
    // The innermost reason is the one that says something.
    let mut inner = error.source();
    while let Some(deeper) = inner.and_then(Error::source) {
        inner = Some(deeper);
    }
    let reason = inner.map_or("no reason is known".to_owned(), ToString::to_string);
    if error.is_connect() {
        format!("cannot be reached: {reason}")
    } else {
        format!("broke off: {reason}")
    }
}

/// A client that follows a few redirects, never from https to http.
pub(super) fn download_client() -> Result<Client, WeightsError> {
    // A second install fails, and means that it is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let policy = redirect::Policy::custom(|attempt| {
        let was_safe = attempt
            .previous()
            .last()
            .is_some_and(|url| url.scheme() == "https");
        let is_safe = attempt.url().scheme() == "https";
        if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("too many redirects")
        } else if was_safe && !is_safe {
            attempt.error("a redirect from https to http")
        } else {
            attempt.follow()
        }
    });
    Client::builder()
        .connect_timeout(Duration::from_secs(20))
        // A silence of this length is a dead connection, and a new one goes on where it ended.
        .read_timeout(Duration::from_secs(60))
        .redirect(policy)
        .build()
        .map_err(|error| {
            WeightsError::refused(&"the network", format!("cannot be used: {}", told(&error)))
        })
}

/// Where weights are that no catalog knows, the hash that they must have, and what they will be called here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightsUrl {
    pub(super) url: Url,
    pub(super) sha256: Option<String>,
    pub(super) name: ModelName,
}

impl WeightsUrl {
    /// Reads an address. Without a hash it must be one that nobody on the way can change.
    pub fn parse(url: &str, sha256: Option<&str>) -> Result<Self, WeightsError> {
        let url = web_url(url)?;
        let bad = |reason: &str| WeightsError::BadUrl {
            url: shown(&url),
            reason: reason.into(),
        };
        let sha256 = sha256.map(str::to_ascii_lowercase);
        if sha256
            .as_deref()
            .is_some_and(|hash| !digest::is_sha256(hash))
        {
            return Err(bad("the hash must be 64 hexadecimal digits"));
        }
        let own = ["127.0.0.1", "[::1]", "localhost"].map(Some);
        if url.scheme() == "http" && sha256.is_none() && !own.contains(&url.host_str()) {
            return Err(bad(
                "without https, anyone on the way could change it; use https, or say the hash it must have with --sha256",
            ));
        }
        let name = ModelName::of_file(Path::new(url.path()))?;
        Ok(Self { url, sha256, name })
    }

    /// What the model will be called.
    #[must_use]
    pub fn name(&self) -> &ModelName {
        &self.name
    }

    /// The hash that it must have.
    #[must_use]
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }
}

/// A URL of the web.
pub(super) fn web_url(text: &str) -> Result<Url, WeightsError> {
    let bad = |url: String, reason: String| WeightsError::BadUrl { url, reason };
    // What does not parse is not repeated: there may be a password in it.
    let url = Url::parse(text).map_err(|error| bad("the address".into(), error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(shown(&url), "only https and http are known".into()));
    }
    Ok(url)
}
