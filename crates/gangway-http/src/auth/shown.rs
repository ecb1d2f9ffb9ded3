//! What a request shows to say who sent it.

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
    /// Who a request says it is from: nobody, if it shows nothing.
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
                    unauthorized("login_ended", "this login has ended; run: gangway open")
                })?;
            // A key that was revoked takes its logins with it.
            let lasts = key.as_ref().is_none_or(|key| http.keys.has(key));
            lasts.then_some(Admitted::Login(login, key))
        } else if token.starts_with(panel::PREFIX) {
            http.panels.session(&token).map(Admitted::Panel)
        } else {
            self.find(http, &token)
        };
        let unknown = || unauthorized("invalid_key", "this API key is not known, or has expired");
        found.map(Some).ok_or_else(unknown)
    }

    /// Who sent a request to an app's host, where that shows.
    #[must_use]
    pub fn knows(&self, http: &Http, request_headers: &HeaderMap) -> Option<Admitted> {
        let bearer = request_headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = bearer.split_once(' ')?;
        let known = scheme.eq_ignore_ascii_case("bearer");
        known.then(|| self.find(http, token.trim())).flatten()
    }

    /// The key that this is, or the data folder's own token.
    fn find(&self, http: &Http, token: &str) -> Option<Admitted> {
        let local = self.local_token_hash.as_bytes();
        if bool::from(local.ct_eq(hash(token).as_bytes())) {
            return Some(Admitted::Owner);
        }
        http.keys.find(token).map(Admitted::Key)
    }
}

/// The key among the subprotocols of a WebSocket: the only place where a page can put one.
fn offered_key(headers: &HeaderMap) -> Option<&str> {
    let offered = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let mut names = offered.split(',').map(str::trim);
    names.find_map(|name| name.strip_prefix("gangway.key."))
}

/// The `token` of a URL's query, for clients that can be given nothing but a URL.
fn token_in_url(uri: &Uri) -> Option<String> {
    let Query(mut pairs) = Query::<HashMap<String, String>>::try_from_uri(uri).ok()?;
    pairs.remove("token")
}
