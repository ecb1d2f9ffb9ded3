//! Reads the credentials of a request.

use std::collections::HashMap;

use axum::{
    extract::{Query, Request},
    http::{HeaderMap, Uri, header},
};
use jiff::Timestamp;
use subtle::ConstantTimeEq;

use gangway_core::secret::hash;

use super::{
    admitted::Admitted,
    guard::{Guard, Refusal, unauthorized},
    login, panel,
};
use crate::{Http, access::Rule};

impl Guard {
    /// Authenticates a request; `Anyone` without credentials.
    pub(super) fn shown(
        &self,
        http: &Http,
        rule: &Rule,
        request: &Request,
        origins: &[String],
    ) -> Result<Option<Admitted>, Refusal> {
        let headers = request.headers();
        let bearer = headers.get(header::AUTHORIZATION).map(|value| {
            let value = value.to_str().unwrap_or_default();
            let bearer = value
                .split_once(' ')
                .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            bearer.map_or("", |(_, token)| token.trim()).to_owned()
        });
        let token = bearer
            .or_else(|| offered_key(headers).map(str::to_owned))
            .or_else(|| {
                rule.url_token
                    .then(|| token_in_url(request.uri()))
                    .flatten()
            });
        let Some(token) = token else {
            return Ok(None);
        };
        let found = if token.starts_with(login::PREFIX) {
            let (login, key) = http
                .logins
                .find(&token, origins, Timestamp::now())
                .ok_or_else(|| {
                    unauthorized(
                        "login_ended",
                        "this login has expired or was ended; log in again with: gangway open",
                    )
                })?;
            // Revoking a key ends its logins.
            let lasts = key.as_ref().is_none_or(|key| http.keys.has(key));
            lasts.then_some(Admitted::Login(login, key))
        } else if token.starts_with(panel::PREFIX) {
            http.panels.session(&token).map(Admitted::Panel)
        } else {
            self.find(http, &token)
        };
        let unknown = || unauthorized("invalid_key", "unknown or expired API key");
        found.map(Some).ok_or_else(unknown)
    }

    /// The caller of a request on an app's host, if it has credentials.
    #[must_use]
    pub fn knows(&self, http: &Http, request_headers: &HeaderMap) -> Option<Admitted> {
        let bearer = request_headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = bearer.split_once(' ')?;
        let known = scheme.eq_ignore_ascii_case("bearer");
        known.then(|| self.find(http, token.trim())).flatten()
    }

    /// Finds an API key, or the data folder's own token.
    fn find(&self, http: &Http, token: &str) -> Option<Admitted> {
        let local = self.local_token_hash.as_bytes();
        if bool::from(local.ct_eq(hash(token).as_bytes())) {
            return Some(Admitted::Owner);
        }
        http.keys.find(token).map(Admitted::Key)
    }
}

/// The key among the subprotocols of a WebSocket, the only place where a page can put one.
fn offered_key(headers: &HeaderMap) -> Option<&str> {
    let offered = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let mut names = offered.split(',').map(str::trim);
    names.find_map(|name| name.strip_prefix("gangway.key."))
}

/// The `token` in the query, for clients that only take a URL.
fn token_in_url(uri: &Uri) -> Option<String> {
    let Query(mut pairs) = Query::<HashMap<String, String>>::try_from_uri(uri).ok()?;
    pairs.remove("token")
}
