//! Download URLs of weights: validation, redirects, redaction.

use std::{error::Error, path::Path, time::Duration};

use reqwest::{Client, Url, redirect};

use super::{ModelName, WeightsError, digest};

/// As in pip; more is a loop.
const MAX_REDIRECTS: usize = 5;

/// A URL without secrets: user name, password and signed query.
#[must_use]
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// The error without the URL, which may contain a secret.
pub(super) fn describe(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "did not answer in time".into();
    }
    if error.is_redirect() {
        return "has too many redirects, or redirects to a URL without https".into();
    }
    // The root cause says the most.
    let mut inner = error.source();
    while let Some(deeper) = inner.and_then(Error::source) {
        inner = Some(deeper);
    }
    let reason = inner.map_or("unknown reason".to_owned(), ToString::to_string);
    if error.is_connect() {
        format!("cannot be reached: {reason}")
    } else {
        format!("closed the connection: {reason}")
    }
}

/// Follows a few redirects, never from https to http.
pub(super) fn download_client() -> Result<Client, WeightsError> {
    // Fails when it is installed already.
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
        // A dead connection; a new one resumes.
        .read_timeout(Duration::from_secs(60))
        .redirect(policy)
        .build()
        .map_err(|error| {
            WeightsError::refused(
                &"the network",
                format!("cannot be used: {}", describe(&error)),
            )
        })
}

/// A URL of weights outside of the catalog, with their expected hash and their name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightsUrl {
    pub(super) url: Url,
    pub(super) sha256: Option<String>,
    pub(super) name: ModelName,
}

impl WeightsUrl {
    /// Without a hash, the URL must be https.
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
                "the download is not protected without https; use https, or give the expected hash with --sha256",
            ));
        }
        let name = ModelName::of_file(Path::new(url.path()))?;
        Ok(Self { url, sha256, name })
    }

    #[must_use]
    pub fn name(&self) -> &ModelName {
        &self.name
    }

    #[must_use]
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }
}

pub(super) fn web_url(text: &str) -> Result<Url, WeightsError> {
    let bad = |url: String, reason: String| WeightsError::BadUrl { url, reason };
    // An invalid URL is not repeated: it may contain a password.
    let url = Url::parse(text).map_err(|error| bad("the address".into(), error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(shown(&url), "the scheme must be https or http".into()));
    }
    Ok(url)
}
